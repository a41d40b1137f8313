// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/transaction.hpp>

/// The records of the state that are about tasks, as stored and as proven to auditors.
namespace assay::contracts {

/// The life of a task (TASK-1):
///   kOpen -> kDrawn -> kTraining -> kCompleted -> kVerifying -> kChallenge -> kDisclosure -> kSettled
/// with a second kChallenge before the end when a verdict was forced to be wrong (VER-15), and kJudged while an ancestor
/// is not over (LIN-3);
/// with the exits kCancelled, kExpired (nobody's fraud) and kConvicted (the solver's). In tolerance mode kProfiling comes
/// before, and its exit kRefused: the threshold would say nothing.
enum class TaskState : std::uint8_t {
    kOpen = 1,        ///< waiting for a solver to be drawn, for `draw_blocks` at most (TASK-17)
    kDrawn = 2,       ///< a solver was drawn and has yet to accept
    kTraining = 3,
    /// Waiting for verifiers, or for a committee, to be drawn: by the beacon's next round, if there are enough (VER-7);
    /// or for what the committee says (AVL-3).
    kCompleted = 4,
    kVerifying = 5,   ///< verdicts are committed and published
    kChallenge = 6,   ///< anyone may still dispute
    kDisclosure = 7,  ///< verdicts are disclosed
    kJudged = 8,      ///< nothing can convict it any more; it is paid when its ancestors are over (LIN-3)
    kSettled = 9,
    kConvicted = 10,
    kCancelled = 11,
    kExpired = 12,
    kProfiling = 13,  ///< before kOpen: hardware drift is measured (PRF-1)
    kRefused = 14,    ///< the end of a task that cannot be judged by distance (PRF-7)
};
constexpr bool is_valid(TaskState s) { return s >= TaskState::kOpen && s <= TaskState::kRefused; }
constexpr bool is_terminal(TaskState s) { return s >= TaskState::kSettled && s != TaskState::kProfiling; }
const char* to_string(TaskState state) noexcept;

struct Checkpoint {
    Hash256 state_root;
    ArtifactRef artifact;
    Height height;
    static constexpr auto fields() {
        return Fields<&Checkpoint::state_root, &Checkpoint::artifact, &Checkpoint::height>{};
    }
};

enum class VerdictStatus : std::uint8_t {
    kDue = 1,
    kCommitted = 2,
    kAccepted = 3,  ///< published: the segment's end is as the solver says
    kRejected = 4,  ///< published: it is not
    kMissed = 5,    ///< not committed, published or disclosed in time; with a bond: a committee will say whose fault it is (AVL-8)
    kBroken = 6,    ///< published otherwise than committed (VER-14)
    kRefuted = 7,   ///< challenged, and lost (DSP-43)
    kContradicted = 8,  ///< another verdict on the segment says something else, and nobody disputed either (VER-20)
};
constexpr bool is_valid(VerdictStatus s) { return s >= VerdictStatus::kDue && s <= VerdictStatus::kContradicted; }
const char* to_string(VerdictStatus status) noexcept;

struct Assignment {
    std::uint32_t segment = 0;
    AccountId verifier;
    VerdictStatus status = VerdictStatus::kDue;
    Hash256 commitment;
    Hash256 end_root;  ///< published; zero before
    Amount bond;       ///< still locked
    std::uint32_t offset = 0;           ///< VER-9: of the marks
    std::uint32_t probe = 0;            ///< VER-10: the mark that the lottery drew, a number of steps; 0: none
    std::optional<Hash256> probe_root;  ///< as published; the true one once disclosed
    std::optional<bool> forced;         ///< VER-11: whether it was forced to be wrong; nullopt until disclosed
    std::vector<AccountId> watchers;    ///< VER-12
    std::optional<dispute::Measurement> measurement;   ///< VER-17; as published
    std::optional<std::uint32_t> diverged_after;
    Amount reserve;  ///< DSP-46: still locked besides the bond, for its verifier's disputes
    static constexpr auto fields() {
        return Fields<
            &Assignment::segment, &Assignment::verifier, &Assignment::status, &Assignment::commitment,
            &Assignment::end_root, &Assignment::bond, &Assignment::offset, &Assignment::probe, &Assignment::probe_root, &Assignment::forced,
            &Assignment::watchers, &Assignment::measurement, &Assignment::diverged_after, &Assignment::reserve>{};
    }
};
constexpr bool is_published(const Assignment& assignment) {
    return assignment.status == VerdictStatus::kAccepted || assignment.status == VerdictStatus::kRejected;
}
/// VER-22: published, and its windows are over: its bond is returned.
constexpr bool is_released(const Assignment& assignment) { return is_published(assignment) && assignment.bond.grains == 0; }
/// Published, and what it was committed to is still secret.
constexpr bool is_secret(const Assignment& assignment) { return is_published(assignment) && !assignment.forced; }

/// Where a committee stands (AVL-2).
enum class CommitteeState : std::uint8_t {
    kSitting = 1,    ///< its members fetch, until the task's deadline
    kAvailable = 2,  ///< members with more than half of the seats have attested
    kWithheld = 3,   ///< its time is over
};
constexpr bool is_valid(CommitteeState s) { return s >= CommitteeState::kSitting && s <= CommitteeState::kWithheld; }
const char* to_string(CommitteeState state) noexcept;

struct CommitteeMember {
    AccountId account;
    std::uint32_t seats = 1;
    bool has_attested = false;
    static constexpr auto fields() {
        return Fields<&CommitteeMember::account, &CommitteeMember::seats, &CommitteeMember::has_attested>{};
    }
};

/// Who was drawn to say whether segments without a verdict could have been replayed (AVL rules).
struct Committee {
    std::vector<std::uint32_t> segments;  ///< in ascending order
    std::vector<CommitteeMember> members;  ///< in the order in which they were drawn first
    CommitteeState state = CommitteeState::kSitting;
    std::uint32_t sitting = 1;  ///< AVL-5: how many committees in a row, with this one
    Hash256 seed;               ///< AVL-3: of the round that drew it
    static constexpr auto fields() {
        return Fields<
            &Committee::segments, &Committee::members, &Committee::state, &Committee::sitting, &Committee::seed>{};
    }
};

/// Where profiling stands (PRF-1).
enum class ProfilingPhase : std::uint8_t { kDraw = 1, kCommit = 2, kPublish = 3, kChallenge = 4, kOver = 5 };
constexpr bool is_valid(ProfilingPhase p) { return p >= ProfilingPhase::kDraw && p <= ProfilingPhase::kOver; }
const char* to_string(ProfilingPhase phase) noexcept;

enum class ProfileStatus : std::uint8_t {
    kDue = 1,
    kCommitted = 2,
    kStanding = 3,  ///< published, and not refuted
    kMissed = 4,
    kRefuted = 5,
};
constexpr bool is_valid(ProfileStatus s) { return s >= ProfileStatus::kDue && s <= ProfileStatus::kRefuted; }
const char* to_string(ProfileStatus status) noexcept;

/// A profiler's duty; its report has a slot of its own.
struct Profile {
    AccountId profiler;
    ProfileStatus status = ProfileStatus::kDue;
    Hash256 commitment;
    Amount bond;  ///< still locked
    static constexpr auto fields() {
        return Fields<&Profile::profiler, &Profile::status, &Profile::commitment, &Profile::bond>{};
    }
};

/// A length for each row of a measurement, in billionths of the update (TOL-6).
struct Distances {
    dispute::Relative parameters = 0;
    dispute::Relative other = 0;
    bool operator==(const Distances&) const = default;
    static constexpr auto fields() { return Fields<&Distances::parameters, &Distances::other>{}; }
};

/// What a task has in tolerance mode.
struct Tolerance {
    ProfilingPhase phase = ProfilingPhase::kDraw;
    std::vector<Profile> profiles;
    std::uint64_t reference_seed = 0;  ///< PRF-2: the other seed, of d_ref
    std::uint64_t profile_seed = 0;    ///< of the profiles' measurements
    std::optional<Distances> threshold;
    std::optional<Distances> reference;  ///< d_ref
    std::uint64_t sketch_seed = 0;     ///< VER-17: of the verdicts' measurements; drawn with the verifiers
    static constexpr auto fields() {
        return Fields<
            &Tolerance::phase, &Tolerance::profiles, &Tolerance::reference_seed, &Tolerance::profile_seed,
            &Tolerance::threshold, &Tolerance::reference, &Tolerance::sketch_seed>{};
    }
};

struct Task {
    TaskId id;
    AccountId submitter;
    TaskSpec spec;
    TaskState state = TaskState::kOpen;
    Height submitted_at;
    Height deadline;  ///< of the present state; 0 when it has none
    std::optional<AccountId> solver;
    Amount escrow;       ///< reward and verification fee not yet paid out
    Amount solver_bond;  ///< the solver's stake locked here
    std::uint32_t checkpoints = 0;  ///< how many are posted
    /// TASK-13: the step that diverged, if one did; the last checkpoint is the state after it.
    std::optional<std::uint64_t> diverged_at;
    std::vector<Assignment> assignments;
    std::uint32_t open_disputes = 0;
    std::uint32_t history_count = 0;
    Hash256 history_root;  ///< HIS-2: chain of "assay/history" over the task's history records
    Hash256 lottery;       ///< VER-10: what decides, with each verifier's salt, whose verdict is forced; zero before
    bool second_window = false;  ///< VER-15: the challenge window is, or was, that of forced verdicts' true results
    std::uint32_t depth = 0;           ///< how many ancestors it has (LIN-1)
    std::optional<TaskId> tainted_by;  ///< LIN-4: the convicted ancestor whose state it was built upon
    std::optional<Tolerance> tolerance;  ///< exactly in tolerance mode
    std::optional<Evaluation> evaluation;  ///< EVL-4; of a completed task that asks for one and did not diverge
    Amount room;  ///< TASK-17: what is left of the deposit that pays for waiting
    std::uint32_t redraws = 0;  ///< AVL-7: how often verifiers were drawn anew
    std::optional<Committee> committee;  ///< AVL-1: the last one
    std::uint64_t lane = 0;  ///< DTY-5: what is kept of the lane of duties for its answers, in units of gas
    static constexpr auto fields() {
        return Fields<
            &Task::id, &Task::submitter, &Task::spec, &Task::state, &Task::submitted_at, &Task::deadline, &Task::solver,
            &Task::escrow, &Task::solver_bond, &Task::checkpoints, &Task::diverged_at, &Task::assignments,
            &Task::open_disputes, &Task::history_count, &Task::history_root, &Task::lottery,
            &Task::second_window, &Task::depth, &Task::tainted_by, &Task::tolerance, &Task::evaluation, &Task::room,
            &Task::redraws, &Task::committee, &Task::lane>{};
    }
};

/// AVL-2: whether the task waits for what its committee says.
inline bool is_sitting(const Task& task) {
    return task.state == TaskState::kCompleted && task.committee &&
           task.committee->state == CommitteeState::kSitting;
}
/// The first segment that somebody executes: 0, the initialisation, or 1 where a parent gives the state (LIN-2).
std::uint32_t first_segment(const TaskSpec& spec) noexcept;
/// Segments of a task: 0 (initialisation) .. segment_count; as many as checkpoints when complete, minus one.
std::uint32_t segment_count(const TaskSpec& spec) noexcept;  ///< without segment 0
/// Those that there are to verify: of a task that diverged, up to the one that did.
std::uint32_t segment_count(const Task& task) noexcept;
/// EVL-5: the number under which the evaluation is verified and disputed; nullopt of a task without a score.
std::optional<std::uint32_t> evaluation_segment(const Task& task) noexcept;
/// The last segment that there is to verify: the evaluation's, or the last that was trained.
std::uint32_t last_segment(const Task& task) noexcept;
/// The first step of segment `segment`, and how many it has when nothing diverges; the initialisation is step 0.
std::uint64_t first_step(const TaskSpec& spec, std::uint32_t segment) noexcept;
std::uint32_t step_count(const TaskSpec& spec, std::uint32_t segment) noexcept;
/// How many of it were executed: of the one that diverged, up to the step that did. The evaluation is one step.
std::uint32_t step_count(const Task& task, std::uint32_t segment) noexcept;
/// SET-7: what the solver has earned of the reward once the task settles: all of it, or of a task that diverged the
/// share of the steps that were executed.
Amount earned_reward(const Task& task) noexcept;
/// VER-17: whether a verdict on the segment is judged by equality: in exact mode every segment, in tolerance mode the
/// initialisation, the evaluation and one that diverged.
bool is_exact(const Task& task, std::uint32_t segment) noexcept;
/// PAR-2: what bonds and checks follow: reward plus verification fee, which a task that was submitted can add.
Amount task_value(const TaskSpec& spec) noexcept;

// --- history -------------------------------------------------------------------------------------------------

/// Why money moved out of an escrow or a bond (SET rules).
enum class Reason : std::uint8_t {
    kReward = 1,             ///< escrow to the solver
    kVerificationFee = 2,    ///< escrow to a verifier
    kRefund = 3,             ///< escrow back to the submitter
    kWonDispute = 4,         ///< the winner's share of a slashed bond
    kLostDispute = 5,        ///< slashed: the responder's claim was refuted by the referee
    kFalseAccusation = 6,    ///< slashed: the challenger's accusation was refuted by the referee
    kDisputeTimeout = 7,     ///< slashed: a clock ran out
    kUnavailable = 8,        ///< slashed: three committees in a row could not fetch what a replay needs
    kMissedDeadline = 9,     ///< slashed: a drawn solver did not complete
    kMissedVerdict = 10,     ///< slashed: a verifier did not commit, publish or disclose
    kWrongVerdict = 11,      ///< slashed: a verifier accepted a segment that was refuted
    kAttestation = 12,       ///< a part of a solver's slashed bond, to a committee's member that attested
    kMoot = 13,              ///< nothing moved but the bond, back: the task ended while this was open
    kTax = 14,               ///< escrow to the treasury; paid to nobody (zero)
    kJackpot = 15,           ///< treasury to a watcher that challenged a forced verdict
    kForcedError = 16,       ///< nothing moved but the bond, back: the verdict was wrong because it had to be
    kBrokenCommitment = 17,  ///< slashed: a verdict was published otherwise than committed
    kUndisclosed = 18,       ///< slashed: a challenged verdict was not disclosed
    kContradiction = 19,     ///< slashed: verdicts on one segment contradict each other, and nobody disputed them
    kBeyondTolerance = 20,   ///< slashed: a solver whose checkpoint is further from the replay than the threshold
    kBeyondBudget = 21,      ///< slashed: a solver whose drifts add up over the run (TOL-7)
    kProfilingFee = 22,      ///< escrow to a profiler
    kWithheldSecret = 23,    ///< slashed: a contributor to the beacon kept the secret that it owed
    kRoom = 24,              ///< a task's deposit for waiting: back to the submitter; burned where paid to nobody (zero)
    kUnserved = 25,          ///< slashed: a solver, of whose segments some verifiers gave no verdict though others could
};
constexpr bool is_valid(Reason r) { return r >= Reason::kReward && r <= Reason::kUnserved; }
const char* to_string(Reason reason) noexcept;

/// How profiling ended (PRF-6, PRF-7).
enum class ProfilingOutcome : std::uint8_t { kBounded = 1, kTooFew = 2, kNotSeparated = 3 };
constexpr bool is_valid(ProfilingOutcome o) {
    return o >= ProfilingOutcome::kBounded && o <= ProfilingOutcome::kNotSeparated;
}
const char* to_string(ProfilingOutcome outcome) noexcept;

namespace history {
struct Submitted {
    Amount escrow;
    Amount room;  ///< TASK-17
    static constexpr auto fields() { return Fields<&Submitted::escrow, &Submitted::room>{}; }
};
struct SolverDrawn { AccountId solver; static constexpr auto fields() { return Fields<&SolverDrawn::solver>{}; } };
struct Accepted { Amount bond; static constexpr auto fields() { return Fields<&Accepted::bond>{}; } };
struct CheckpointPosted {
    std::uint32_t index = 0;
    Hash256 state_root;
    Hash256 artifact;
    static constexpr auto fields() {
        return Fields<&CheckpointPosted::index, &CheckpointPosted::state_root, &CheckpointPosted::artifact>{};
    }
};
struct Completed { static constexpr auto fields() { return Fields<>{}; } };
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
    std::vector<AccountId> seats;  ///< whose each is
    static constexpr auto fields() {
        return Fields<&CommitteeDrawn::sitting, &CommitteeDrawn::segments, &CommitteeDrawn::seats>{};
    }
};
struct CommitteeEnded {
    bool is_available = false;
    static constexpr auto fields() { return Fields<&CommitteeEnded::is_available>{}; }
};
struct Attested { static constexpr auto fields() { return Fields<>{}; } };
struct Paid {
    AccountId to;
    Amount amount;
    Reason reason = Reason::kReward;
    static constexpr auto fields() { return Fields<&Paid::to, &Paid::amount, &Paid::reason>{}; }
};
struct Slashed {
    AccountId from;
    Amount amount;  ///< the whole bond lost
    Amount burned;  ///< the part of it that ceased to exist
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() {
        return Fields<&Slashed::from, &Slashed::amount, &Slashed::burned, &Slashed::reason>{};
    }
};
struct Diverged {  // instead of checkpoint_posted
    std::uint32_t index = 0;
    std::uint64_t step = 0;
    Hash256 state_root;
    Hash256 artifact;
    static constexpr auto fields() {
        return Fields<&Diverged::index, &Diverged::step, &Diverged::state_root, &Diverged::artifact>{};
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
struct VerdictChallenged {  // instead of dispute_opened
    DisputeId dispute;
    std::uint32_t segment = 0;
    AccountId verifier;
    static constexpr auto fields() {
        return Fields<&VerdictChallenged::dispute, &VerdictChallenged::segment, &VerdictChallenged::verifier>{};
    }
};
struct Tainted {
    TaskId ancestor;  ///< that was convicted
    static constexpr auto fields() { return Fields<&Tainted::ancestor>{}; }
};
struct ProfilerDrawn {
    AccountId profiler;
    static constexpr auto fields() { return Fields<&ProfilerDrawn::profiler>{}; }
};
struct ProfileCommitted { static constexpr auto fields() { return Fields<>{}; } };
struct ProfilePublished {
    ProfileReport report;
    static constexpr auto fields() { return Fields<&ProfilePublished::report>{}; }
};
struct ProfileChallenged {  // instead of dispute_opened
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
    Distances threshold;  ///< zeros unless bounded
    Distances reference;
    static constexpr auto fields() {
        return Fields<&ProfilingEnded::outcome, &ProfilingEnded::threshold, &ProfilingEnded::reference>{};
    }
};
struct Scored {  // at settlement: what the final state is worth on the hold-out set
    std::uint32_t score = 0;  ///< bits of an f32
    static constexpr auto fields() { return Fields<&Scored::score>{}; }
};
struct Withheld {  // a contributor that lost its seat (BCN-8)
    AccountId contributor;
    Amount burned;
    static constexpr auto fields() { return Fields<&Withheld::contributor, &Withheld::burned>{}; }
};
struct RoundClosed {  // the round of the beacon that what follows is drawn by (BCN-12)
    std::uint64_t round = 0;
    Hash256 seed;
    std::uint32_t contributors = 0;  ///< how many secrets are in the seed
    std::vector<Withheld> withheld;
    static constexpr auto fields() {
        return Fields<
            &RoundClosed::round, &RoundClosed::seed, &RoundClosed::contributors, &RoundClosed::withheld>{};
    }
};
struct StateChanged {
    TaskState state = TaskState::kOpen;
    static constexpr auto fields() { return Fields<&StateChanged::state>{}; }
};
}  // namespace history

using HistoryEvent = std::variant<
    history::Submitted, history::SolverDrawn, history::Accepted, history::CheckpointPosted, history::Completed,
    history::VerifierDrawn, history::VerdictCommitted, history::VerdictPublished, history::DisputeOpened,
    history::DisputeMoved, history::DisputeEnded, history::CommitteeDrawn, history::CommitteeEnded,
    history::Paid, history::Slashed, history::StateChanged, history::Diverged, history::LotteryDrawn,
    history::WatcherDrawn, history::VerdictDisclosed, history::VerdictChallenged,
    history::Tainted, history::ProfilerDrawn,
    history::ProfileCommitted, history::ProfilePublished, history::ProfileChallenged, history::ProfilingEnded,
    history::Scored, history::RoundClosed, history::Attested>;
const char* event_name(const HistoryEvent& event) noexcept;

/// HIS-1: one transition of a task. `tx` and `actor` are zero when a deadline did it.
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
/// HIS-2: the next history root: "assay/history" over the previous root and Borsh(record). The first previous is zero.
Hash256 extend_history(const Hash256& previous, const HistoryRecord& record);

/// AVL-1: segments that were drawn and have no accepting verdict, in ascending order.
std::vector<std::uint32_t> open_segments(const Task& task);

/// AVL-1: whether the task, which waits for a draw, needs a committee before it gets other verifiers.
bool needs_committee(const Task& task);

}  // namespace assay::contracts
