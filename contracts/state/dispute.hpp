// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/verdict.hpp>
#include <contracts/state/task.hpp>
#include <core/dispute/narrowing.hpp>

namespace assay::contracts {

enum class DisputeState : std::uint8_t {
    kActive = 1,
    kRefuted = 2,   ///< the responder was wrong
    kUpheld = 3,    ///< the challenger was wrong
    kMoot = 4,      ///< the task or verdict ended for another reason; the challenger's bond is returned
    kAwaiting = 5,  ///< waiting for the challenged verdict to be disclosed (DSP-42)
    kForced = 6,    ///< the verdict was a forced error: the challenger was right, and nobody is slashed
};
constexpr bool is_valid(DisputeState s) { return s >= DisputeState::kActive && s <= DisputeState::kForced; }
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
    DisputeState state = DisputeState::kActive;
    std::optional<Reason> reason;  ///< why it ended
    dispute::Claim claim;
    dispute::Position position;
    Height opened_at;
    Height ended_at;
    std::uint32_t responder_clock = 0;  ///< blocks left
    std::uint32_t challenger_clock = 0;
    Height last_move_at;
    Height deadline;                  ///< when the clock of the party to move runs out
    std::uint64_t onchain_bytes = 0;  ///< total size of all transactions of this dispute so far
    Amount slashed;                   ///< taken from the loser; `paid` of it went to the winners, `burned` was burned
    Amount paid;
    Amount burned;
    /// At most one of `verdict` and `profile` is set; if neither is, the solver's segment is disputed.
    std::optional<DisputedVerdict> verdict;
    std::optional<DisputedProfile> profile;
    Hash256 seal;  ///< commitment to what the challenger of a verdict found (DSP-41)
    /// DTY-5: capacity that the open dispute takes in the lane of duties; 0 if its task reserved a place for it.
    std::uint64_t lane = 0;
    static constexpr auto fields() {
        return Fields<
            &Dispute::id, &Dispute::task, &Dispute::segment, &Dispute::responder, &Dispute::challenger,
            &Dispute::challenger_role, &Dispute::challenger_bond, &Dispute::state, &Dispute::reason, &Dispute::claim,
            &Dispute::position, &Dispute::opened_at, &Dispute::ended_at, &Dispute::responder_clock,
            &Dispute::challenger_clock, &Dispute::last_move_at, &Dispute::deadline, &Dispute::onchain_bytes,
            &Dispute::slashed, &Dispute::paid, &Dispute::burned, &Dispute::verdict, &Dispute::profile, &Dispute::seal,
            &Dispute::lane>{};
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

/// DSP-41: "assay/seal" over the dispute and the probe root that its challenger computed.
Hash256 challenge_seal(const DisputeId& dispute, const Hash256& found) noexcept;

}  // namespace assay::contracts
