// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>

/// A task's history: one record for each event, as hashed into the task's history root (HIS rules) and as auditors
/// read it.
namespace assay::contracts {

/// Why money left an escrow, a bond or the treasury (SET rules).
enum class Reason : std::uint8_t {
    kReward = 1,           ///< from escrow to the solver
    kVerificationFee = 2,  ///< from escrow to a verifier
    kRefund = 3,           ///< from escrow back to the submitter
    kWonDispute = 4,       ///< share of a slashed bond, to a winner of the dispute
    kLostDispute = 5,      ///< slashed from the responder: a proof refuted its claim
    kFalseAccusation = 6,  ///< slashed from the challenger: a proof confirmed the disputed claim
    kDisputeTimeout = 7,   ///< slashed: the party's clock ran out
    kUnavailable = 8,      ///< slashed from the solver: three committees in a row could not fetch the data for a replay
    kMissedDeadline = 9,   ///< slashed from the solver: training was not completed by the deadline
    kMissedVerdict = 10,   ///< slashed from a verifier or profiler that missed a phase (commit, publish or disclose)
    kWrongVerdict = 11,    ///< slashed from a verifier: it accepted a segment that was refuted
    kAttestation = 12,     ///< share of a solver's slashed bond, to a committee member that attested
    kMoot = 13,            ///< only the bond was returned: the task ended while the dispute was open
    kTax = 14,             ///< from escrow to the treasury; the recorded recipient is zero
    kJackpot = 15,         ///< from the treasury to a watcher that challenged a forced verdict
    kForcedError = 16,     ///< only the bond was returned: the disputed verdict was a forced error
    kBrokenCommitment = 17,  ///< slashed from a verifier: its verdict does not match its commitment
    kUndisclosed = 18,       ///< slashed from a verifier: it did not disclose a challenged verdict in time
    kContradiction = 19,  ///< slashed from verifiers: contradicting verdicts on one segment, and nobody disputed them
    kBeyondTolerance =
        20,                ///< slashed from the solver: the checkpoint's distance from the replay exceeds the threshold
    kBeyondBudget = 21,    ///< slashed from the solver: the drift accumulated over the run is too large (TOL-7)
    kProfilingFee = 22,    ///< from escrow to a profiler
    kWithheldSecret = 23,  ///< slashed from a beacon contributor: it did not reveal its secret
    /// Deposit for waiting: refunded to the submitter, or burned (recipient zero). As a slash: what a solver that was
    /// drawn and did not accept pays into the deposit (TASK-15).
    kRoom = 24,
    /// Slashed from the solver: a verifier gave no verdict although the data was available to others.
    kUnserved = 25,
    kFalseStatement = 26,  ///< slashed from a member of a group: it stated something wrong, or two things
    kDemand = 27,          ///< slashed from two members of a group: one says that the other has not sent what it had to
    kRetention = 28,       ///< from escrow to the solver that has shown that it keeps the result (RET-5)
    kNotShown = 29,        ///< slashed from a solver that did not show a tile of the result that it keeps (RET-6)
    kKeysWithheld = 30,    ///< slashed from the solver: it did not share a private task's keys in time (PRV-4)
    kWrongKeys = 31,       ///< slashed from the solver: what it shared are other keys (PRV-5)
    kWrongChunk = 32,      ///< slashed from the solver: a sealed file is not its checkpoint (PRV-7)
};
constexpr bool is_valid(Reason r) { return r >= Reason::kReward && r <= Reason::kWrongChunk; }
const char* to_string(Reason reason) noexcept;

/// Result of profiling (PRF-6, PRF-7).
enum class ProfilingOutcome : std::uint8_t { kBounded = 1, kTooFew = 2, kNotSeparated = 3 };
constexpr bool is_valid(ProfilingOutcome o) {
    return o >= ProfilingOutcome::kBounded && o <= ProfilingOutcome::kNotSeparated;
}
const char* to_string(ProfilingOutcome outcome) noexcept;

namespace history {
struct Submitted {
    Amount escrow;
    Amount room;  ///< TASK-17: the deposit for waiting
    static constexpr auto fields() { return Fields<&Submitted::escrow, &Submitted::room>{}; }
};
struct SolverDrawn {
    AccountId solver;
    static constexpr auto fields() { return Fields<&SolverDrawn::solver>{}; }
};
struct Accepted {
    Amount bond;                                  ///< of each member
    std::vector<AccountId> seats = {};            ///< GRP-2: of a group; empty if the solver trains alone
    std::optional<Environment> environment = {};  ///< ENV-4: what the solver claims
    static constexpr auto fields() { return Fields<&Accepted::bond, &Accepted::seats, &Accepted::environment>{}; }
};
struct CheckpointPosted {
    std::uint32_t index = 0;
    Hash256 state_root;
    std::optional<Environment> environment = {};  ///< ENV-5: what its poster claims
    std::optional<SealedFile> sealed = {};        ///< PRV-6
    static constexpr auto fields() {
        return Fields<
            &CheckpointPosted::index, &CheckpointPosted::state_root, &CheckpointPosted::environment,
            &CheckpointPosted::sealed>{};
    }
};
struct Completed {
    static constexpr auto fields() { return Fields<>{}; }
};
struct VerifierDrawn {
    std::uint32_t segment = 0;
    AccountId verifier;
    static constexpr auto fields() { return Fields<&VerifierDrawn::segment, &VerifierDrawn::verifier>{}; }
};
struct VerdictCommitted {
    std::uint32_t segment = 0;
    static constexpr auto fields() { return Fields<&VerdictCommitted::segment>{}; }
};
struct VerdictPublished {
    std::uint32_t segment = 0;
    Verdict verdict;
    bool accepts = false;
    static constexpr auto fields() {
        return Fields<&VerdictPublished::segment, &VerdictPublished::verdict, &VerdictPublished::accepts>{};
    }
};
struct DisputeOpened {
    DisputeId dispute;
    std::uint32_t segment = 0;
    static constexpr auto fields() { return Fields<&DisputeOpened::dispute, &DisputeOpened::segment>{}; }
};
struct DisputeMoved {
    DisputeId dispute;
    std::uint32_t round = 0;
    dispute::Level level = dispute::Level::kSteps;
    bool by_responder = false;
    static constexpr auto fields() {
        return Fields<
            &DisputeMoved::dispute, &DisputeMoved::round, &DisputeMoved::level, &DisputeMoved::by_responder>{};
    }
};
struct DisputeEnded {
    DisputeId dispute;
    bool claim_refuted = false;
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() {
        return Fields<&DisputeEnded::dispute, &DisputeEnded::claim_refuted, &DisputeEnded::reason>{};
    }
};
struct CommitteeDrawn {
    std::uint32_t sitting = 1;
    std::vector<std::uint32_t> segments;
    std::vector<AccountId> seats;  ///< the account that holds each seat
    static constexpr auto fields() {
        return Fields<&CommitteeDrawn::sitting, &CommitteeDrawn::segments, &CommitteeDrawn::seats>{};
    }
};
struct CommitteeEnded {
    bool is_available = false;
    static constexpr auto fields() { return Fields<&CommitteeEnded::is_available>{}; }
};
struct Attested {
    static constexpr auto fields() { return Fields<>{}; }
};
struct Paid {
    AccountId to;
    Amount amount;
    Reason reason = Reason::kReward;
    static constexpr auto fields() { return Fields<&Paid::to, &Paid::amount, &Paid::reason>{}; }
};
struct Slashed {
    AccountId from;
    Amount amount;  ///< the amount taken
    Amount burned;  ///< the part of it that was burned
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() {
        return Fields<&Slashed::from, &Slashed::amount, &Slashed::burned, &Slashed::reason>{};
    }
};
struct Diverged {  // recorded instead of checkpoint_posted
    std::uint32_t index = 0;
    std::uint64_t step = 0;
    Hash256 state_root;
    std::optional<SealedFile> sealed = {};  ///< PRV-6
    static constexpr auto fields() {
        return Fields<&Diverged::index, &Diverged::step, &Diverged::state_root, &Diverged::sealed>{};
    }
};
struct LotteryDrawn {
    Hash256 lottery;
    static constexpr auto fields() { return Fields<&LotteryDrawn::lottery>{}; }
};
struct WatcherDrawn {
    std::uint32_t segment = 0;
    AccountId verifier;
    AccountId watcher;
    static constexpr auto fields() {
        return Fields<&WatcherDrawn::segment, &WatcherDrawn::verifier, &WatcherDrawn::watcher>{};
    }
};
struct VerdictDisclosed {
    std::uint32_t segment = 0;
    AccountId verifier;
    Verdict verdict;  ///< the true one
    bool forced = false;
    static constexpr auto fields() {
        return Fields<
            &VerdictDisclosed::segment, &VerdictDisclosed::verifier, &VerdictDisclosed::verdict,
            &VerdictDisclosed::forced>{};
    }
};
struct VerdictChallenged {  // recorded instead of dispute_opened
    DisputeId dispute;
    std::uint32_t segment = 0;
    AccountId verifier;
    static constexpr auto fields() {
        return Fields<&VerdictChallenged::dispute, &VerdictChallenged::segment, &VerdictChallenged::verifier>{};
    }
};
struct Tainted {
    TaskId ancestor;  ///< the convicted ancestor
    static constexpr auto fields() { return Fields<&Tainted::ancestor>{}; }
};
struct ProfilerDrawn {
    AccountId profiler;
    static constexpr auto fields() { return Fields<&ProfilerDrawn::profiler>{}; }
};
struct ProfileCommitted {
    static constexpr auto fields() { return Fields<>{}; }
};
struct ProfilePublished {
    ProfileReport report;
    static constexpr auto fields() { return Fields<&ProfilePublished::report>{}; }
};
struct ProfileChallenged {  // recorded instead of dispute_opened
    DisputeId dispute;
    AccountId profiler;
    ProfilePart part = ProfilePart::kStart;
    std::uint32_t segment = 0;
    static constexpr auto fields() {
        return Fields<
            &ProfileChallenged::dispute, &ProfileChallenged::profiler, &ProfileChallenged::part,
            &ProfileChallenged::segment>{};
    }
};
struct ProfilingEnded {
    ProfilingOutcome outcome = ProfilingOutcome::kBounded;
    Distances threshold;  ///< zeros unless the outcome is kBounded
    Distances reference;
    static constexpr auto fields() {
        return Fields<&ProfilingEnded::outcome, &ProfilingEnded::threshold, &ProfilingEnded::reference>{};
    }
};
struct Scored {               // at settlement: the final state's score on the hold-out set
    std::uint32_t score = 0;  ///< bits of an f32
    static constexpr auto fields() { return Fields<&Scored::score>{}; }
};
struct Withheld {  // a contributor that lost its seat (BCN-8)
    AccountId contributor;
    Amount burned;
    static constexpr auto fields() { return Fields<&Withheld::contributor, &Withheld::burned>{}; }
};
struct RoundClosed {  // the beacon round that provides the seed of the draws that follow (BCN-12)
    std::uint64_t round = 0;
    Hash256 seed;
    std::uint32_t contributors = 0;  ///< number of secrets in the seed
    std::vector<Withheld> withheld;
    static constexpr auto fields() {
        return Fields<&RoundClosed::round, &RoundClosed::seed, &RoundClosed::contributors, &RoundClosed::withheld>{};
    }
};
struct StateChanged {
    TaskState state = TaskState::kOpen;
    static constexpr auto fields() { return Fields<&StateChanged::state>{}; }
};
struct Cut {  // a member of a group was convicted, and the others' segments before it still count (GRP-7)
    std::uint32_t first = 0;  ///< the first segment that does not count any more
    AccountId member;
    static constexpr auto fields() { return Fields<&Cut::first, &Cut::member>{}; }
};
struct Accused {  // a member of a group that trains together stated something wrong, another one says (STM-8)
    DisputeId dispute;
    std::uint32_t segment = 0;
    AccountId accuser;
    AccountId member;
    std::optional<DisputeId> answers;
    static constexpr auto fields() {
        return Fields<&Accused::dispute, &Accused::segment, &Accused::accuser, &Accused::member, &Accused::answers>{};
    }
};
struct MemberConvicted {  // by what it stated; the task goes on (STM-8, STM-11)
    AccountId member;
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() { return Fields<&MemberConvicted::member, &MemberConvicted::reason>{}; }
};
struct Reseated {            // the seats of a group were given anew (GRP-13)
    std::uint32_t from = 0;  ///< the first segment for which they count
    std::vector<AccountId> seats;
    static constexpr auto fields() { return Fields<&Reseated::from, &Reseated::seats>{}; }
};
struct Demanded {  // a member has not sent what it had to, another one says (GRP-14)
    AccountId accuser;
    AccountId member;
    bool is_out = false;  ///< it has no seat any more
    static constexpr auto fields() { return Fields<&Demanded::accuser, &Demanded::member, &Demanded::is_out>{}; }
};
struct KeepingBegun {         // everybody is paid, and the solver keeps the result (RET-2)
    Amount fee;               ///< what it can earn
    Amount bond;              ///< what stays locked of its stake
    std::uint32_t shows = 0;  ///< how many tiles it has to show
    static constexpr auto fields() { return Fields<&KeepingBegun::fee, &KeepingBegun::bond, &KeepingBegun::shows>{}; }
};
struct ShowDrawn {           // a tile of the result was drawn, which the solver has to show (RET-4)
    std::uint32_t show = 0;  ///< number of the show, from 0
    Height due;
    static constexpr auto fields() { return Fields<&ShowDrawn::show, &ShowDrawn::due>{}; }
};
struct ResultShown {
    std::uint32_t show = 0;
    static constexpr auto fields() { return Fields<&ResultShown::show>{}; }
};
struct KeepingEnded {
    bool is_whole = false;  ///< every tile that was drawn was shown in time
    static constexpr auto fields() { return Fields<&KeepingEnded::is_whole>{}; }
};
struct KeysShared {                      // of a private task (PRV-3)
    std::optional<sealed::TaskKey> key;  ///< of the checkpoints, if it was chosen now
    std::vector<KeyShare> shares;
    static constexpr auto fields() { return Fields<&KeysShared::key, &KeysShared::shares>{}; }
};
struct KeysRefused {  // what the submitter had shared are other keys, whoever was drawn showed (PRV-5)
    static constexpr auto fields() { return Fields<>{}; }
};
}  // namespace history

using HistoryEvent = std::variant<
    history::Submitted, history::SolverDrawn, history::Accepted, history::CheckpointPosted, history::Completed,
    history::VerifierDrawn, history::VerdictCommitted, history::VerdictPublished, history::DisputeOpened,
    history::DisputeMoved, history::DisputeEnded, history::CommitteeDrawn, history::CommitteeEnded, history::Paid,
    history::Slashed, history::StateChanged, history::Diverged, history::LotteryDrawn, history::WatcherDrawn,
    history::VerdictDisclosed, history::VerdictChallenged, history::Tainted, history::ProfilerDrawn,
    history::ProfileCommitted, history::ProfilePublished, history::ProfileChallenged, history::ProfilingEnded,
    history::Scored, history::RoundClosed, history::Attested, history::Cut, history::Accused, history::MemberConvicted,
    history::Reseated, history::Demanded, history::KeepingBegun, history::ShowDrawn, history::ResultShown,
    history::KeepingEnded, history::KeysShared, history::KeysRefused>;
const char* event_name(const HistoryEvent& event) noexcept;

/// HIS-1: one event in a task's history. `tx` and `actor` are zero if a deadline or a draw caused it.
struct HistoryRecord {
    TaskId task;
    std::uint32_t index = 0;
    Height height;
    Hash256 tx;
    AccountId actor;
    HistoryEvent event;
    static constexpr auto fields() {
        return Fields<
            &HistoryRecord::task, &HistoryRecord::index, &HistoryRecord::height, &HistoryRecord::tx,
            &HistoryRecord::actor, &HistoryRecord::event>{};
    }
};
/// HIS-2: returns the next history root: "assay/history" over the previous root and Borsh(record). The first previous
/// root is zero.
Hash256 extend_history(const Hash256& previous, const HistoryRecord& record);
/// The same for a record that is encoded already.
Hash256 extend_history(const Hash256& previous, ByteView encoded_record);

}  // namespace assay::contracts
