// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/verdict.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/statement.hpp>

namespace assay::contracts {

/// A dispute's phase and outcome, as RPC and clients name them.
enum class DisputeState : std::uint8_t {
    kActive = 1,
    kRefuted = 2,   ///< the responder was wrong
    kUpheld = 3,    ///< the challenger was wrong
    kMoot = 4,      ///< the task or verdict ended for another reason; the challenger's bond is returned
    kAwaiting = 5,  ///< waiting for the challenged verdict to be disclosed (DSP-42)
    kForced = 6,    ///< the verdict was a forced error: the challenger was right, and nobody is slashed
};
constexpr bool is_open(DisputeState s) { return s == DisputeState::kActive || s == DisputeState::kAwaiting; }
const char* to_string(DisputeState state) noexcept;

/// A verdict as the subject of a dispute.
struct DisputedVerdict {
    AccountId verifier;
    bool is_second = false;  ///< the true result that replaced a forced one (VER-15) is disputed
    VerdictPart part = VerdictPart::kProbe;
    bool operator==(const DisputedVerdict&) const = default;
    static constexpr auto fields() {
        return Fields<&DisputedVerdict::verifier, &DisputedVerdict::is_second, &DisputedVerdict::part>{};
    }
};

/// A part of a profile as the subject of a dispute (PRF-5).
struct DisputedProfile {
    AccountId profiler;
    ProfilePart part = ProfilePart::kStart;
    bool operator==(const DisputedProfile&) const = default;
    static constexpr auto fields() { return Fields<&DisputedProfile::profiler, &DisputedProfile::part>{}; }
};

/// What a member of a group stated as the subject (STM-8): the accuser is the responder, since it claims to have
/// executed what contradicts the statement; the accused is the challenger.
struct Accusation {
    std::uint64_t step = 0;
    dispute::Piece piece;
    std::optional<DisputeId> answers;  ///< the dispute that the accuser answers by it (STM-9)
    static constexpr auto fields() { return Fields<&Accusation::step, &Accusation::piece, &Accusation::answers>{}; }
};

/// The solver's claim about the dispute's segment as the subject.
struct SolverClaim {
    static constexpr auto fields() { return Fields<>{}; }
};

/// A part of a verdict as the subject, with what its challenger sealed.
struct ChallengedVerdict {
    DisputedVerdict verdict;
    Hash256 seal;  ///< commitment to what the challenger found (DSP-41)
    static constexpr auto fields() { return Fields<&ChallengedVerdict::verdict, &ChallengedVerdict::seal>{}; }
};

/// DSP-42: the game begins when the challenged verdict is disclosed.
struct AwaitingDisclosure {
    Height deadline;  ///< when the verdict has to be disclosed
    static constexpr auto fields() { return Fields<&AwaitingDisclosure::deadline>{}; }
};

/// The parties move in turn.
struct DisputeGame {
    std::uint32_t responder_clock = 0;  ///< blocks left
    std::uint32_t challenger_clock = 0;
    Height last_move_at;
    Height deadline;  ///< when the clock of the party to move runs out
    static constexpr auto fields() {
        return Fields<
            &DisputeGame::responder_clock, &DisputeGame::challenger_clock, &DisputeGame::last_move_at,
            &DisputeGame::deadline>{};
    }
};

enum class DisputeOutcome : std::uint8_t { kRefuted = 1, kUpheld = 2, kMoot = 3, kForced = 4 };
constexpr bool is_valid(DisputeOutcome o) { return o >= DisputeOutcome::kRefuted && o <= DisputeOutcome::kForced; }

struct DisputeEnd {
    DisputeOutcome outcome = DisputeOutcome::kMoot;
    Reason reason = Reason::kMoot;
    Height at;
    Amount slashed;  ///< taken from the loser; `paid` of it went to the winners, `burned` was burned
    Amount paid;
    Amount burned;
    static constexpr auto fields() {
        return Fields<
            &DisputeEnd::outcome, &DisputeEnd::reason, &DisputeEnd::at, &DisputeEnd::slashed, &DisputeEnd::paid,
            &DisputeEnd::burned>{};
    }
};

/// A dispute between a responder and a challenger about one segment: about the solver's claim, a verifier's verdict, or
/// a part of a profile (DSP rules).
struct Dispute {
    DisputeId id;
    TaskId task;
    std::uint32_t segment = 0;
    AccountId responder;
    AccountId challenger;
    Role challenger_role = Role::kVerifier;
    Amount challenger_bond;  ///< locked
    std::variant<SolverClaim, ChallengedVerdict, DisputedProfile, Accusation> subject;
    dispute::Claim claim;
    dispute::Position position;  ///< at first the whole claim; after the end, what was last in question
    Height opened_at;
    std::uint64_t onchain_bytes = 0;  ///< total size of all transactions of this dispute so far
    /// DTY-5: capacity that the open dispute takes in the lane of duties; 0 if its task reserved a place for it.
    std::uint64_t lane = 0;
    std::variant<AwaitingDisclosure, DisputeGame, DisputeEnd> phase = DisputeGame{};

    DisputeState state() const noexcept;
    /// When something is due of a party; 0 after the end.
    Height deadline() const noexcept;
    /// What is disputed, if it is a verdict, a profile, or a statement; nullptr otherwise. They live as long as the
    /// dispute.
    const ChallengedVerdict* challenged() const noexcept { return std::get_if<ChallengedVerdict>(&subject); }
    const DisputedVerdict* verdict() const noexcept { return challenged() ? &challenged()->verdict : nullptr; }
    const DisputedProfile* profile() const noexcept { return std::get_if<DisputedProfile>(&subject); }
    const Accusation* accusation() const noexcept { return std::get_if<Accusation>(&subject); }
    /// The clocks, while the parties move; how it ended, once it has. nullptr otherwise.
    const DisputeGame* game() const noexcept { return std::get_if<DisputeGame>(&phase); }
    const DisputeEnd* end() const noexcept { return std::get_if<DisputeEnd>(&phase); }

    static constexpr auto fields() {
        return Fields<
            &Dispute::id, &Dispute::task, &Dispute::segment, &Dispute::responder, &Dispute::challenger,
            &Dispute::challenger_role, &Dispute::challenger_bond, &Dispute::subject, &Dispute::claim,
            &Dispute::position, &Dispute::opened_at, &Dispute::onchain_bytes, &Dispute::lane, &Dispute::phase>{};
    }
};

/// DSP-30: "assay/dispute" over task, segment (u32), challenger and subject. A challenger can dispute each subject only
/// once.
DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger,
    const std::optional<DisputedVerdict>& verdict = std::nullopt
) noexcept;

/// The same for a part of a profile; the segment is 0 if the part does not belong to a segment.
DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger, const DisputedProfile& profile
) noexcept;

/// The same for an accusation of `accused` by `accuser`, which may answer a dispute (STM-9).
DisputeId accusation_id(
    const TaskId& task, std::uint32_t segment, const AccountId& accused, const AccountId& accuser,
    const std::optional<DisputeId>& answers = std::nullopt
) noexcept;

/// DSP-32: "assay/claim" over the disputed claim. Whoever plays several disputes of one claim replays it once.
Hash256 claim_hash(const dispute::Claim& claim) noexcept;

/// DSP-41: "assay/seal" over the dispute and the probe root that its challenger computed.
Hash256 challenge_seal(const DisputeId& dispute, const Hash256& found) noexcept;

}  // namespace assay::contracts
