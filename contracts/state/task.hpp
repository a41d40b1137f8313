// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/group.hpp>
#include <contracts/state/privacy.hpp>
#include <contracts/state/profile.hpp>
#include <contracts/state/spec.hpp>
#include <contracts/state/verdict.hpp>

/// Task records, as stored in the chain state and as proven to auditors.
namespace assay::contracts {

/// Lifecycle of a task (TASK-1):
///   kOpen -> kDrawn -> kTraining -> kCompleted -> kVerifying -> kChallenge -> kDisclosure -> kSettled
/// A second kChallenge follows kDisclosure if a verdict was a forced error (VER-15). kJudged precedes kSettled while an
/// ancestor has not ended (LIN-3).
/// Other end states: kCancelled, kExpired (no fraud) and kConvicted (the solver was found at fault).
/// If the submitter pays for it, kKept precedes kSettled: everybody is paid, and the solver keeps the result (RET-2).
/// A tolerance-mode task starts in kProfiling; it ends in kRefused if no usable threshold can be derived.
enum class TaskState : std::uint8_t {
    kOpen = 1,   ///< waiting for a solver to be drawn, for at most `draw_blocks` blocks (TASK-17)
    kDrawn = 2,  ///< a solver was drawn and has not accepted yet
    kTraining = 3,
    /// Training is finished. The task waits for the next beacon round to draw verifiers or a committee, if enough are
    /// eligible (VER-7), or for the result of a sitting committee (AVL-3).
    kCompleted = 4,
    kVerifying = 5,   ///< verifiers commit and publish their verdicts
    kChallenge = 6,   ///< challenge window: anyone can open a dispute
    kDisclosure = 7,  ///< verifiers disclose (open) their verdict commitments
    kJudged = 8,      ///< can no longer be convicted; paid once all its ancestors have ended (LIN-3)
    kSettled = 9,
    kConvicted = 10,
    kCancelled = 11,
    kExpired = 12,
    kProfiling = 13,  ///< before kOpen: profilers measure the hardware drift (PRF-1)
    kRefused = 14,    ///< profiling showed that the task cannot be judged by distance (PRF-7)
    kKept = 15,       ///< before kSettled: paid, and the solver keeps the result for the submitter (RET-2)
};
constexpr bool is_valid(TaskState s) { return s >= TaskState::kOpen && s <= TaskState::kKept; }
constexpr bool is_terminal(TaskState s) {
    return s >= TaskState::kSettled && s != TaskState::kProfiling && s != TaskState::kKept;
}
/// Whether the task is judged and paid for, or has ended otherwise. Its result may be kept still (RET-2).
constexpr bool is_concluded(TaskState s) { return is_terminal(s) || s == TaskState::kKept; }
const char* to_string(TaskState state) noexcept;

struct Checkpoint {
    Hash256 state_root;
    std::string location;  ///< of the server that has the state's file (ART-10)
    Height height;
    std::optional<SealedFile> sealed;  ///< PRV-6: present if and only if the task is private
    static constexpr auto fields() {
        return Fields<&Checkpoint::state_root, &Checkpoint::location, &Checkpoint::height, &Checkpoint::sealed>{};
    }
};

enum class VerdictStatus : std::uint8_t {
    kDue = 1,
    kCommitted = 2,
    kAccepted = 3,  ///< published: the verifier's end root equals the solver's, or the distance is within the threshold
    kRejected = 4,  ///< published: the verifier rejects the segment
    /// Not committed, published or disclosed in time. If the bond is still locked, a committee decides whose fault it
    /// was (AVL-8).
    kMissed = 5,
    kBroken = 6,        ///< what was published or disclosed does not match the commitment (VER-14)
    kRefuted = 7,       ///< challenged, and the dispute was lost (DSP-43)
    kContradicted = 8,  ///< conflicts with another verdict on the segment, and nobody disputed either (VER-20)
    kDropped = 9,       ///< published before the task was cut; earns its share of the fee (GRP-7)
};
constexpr bool is_valid(VerdictStatus s) { return s >= VerdictStatus::kDue && s <= VerdictStatus::kDropped; }
const char* to_string(VerdictStatus status) noexcept;

struct Assignment {
    std::uint32_t segment = 0;
    AccountId verifier;
    VerdictStatus status = VerdictStatus::kDue;
    Hash256 commitment;
    Hash256 end_root;          ///< as published; zero before publication
    Amount bond;               ///< still locked
    std::uint32_t offset = 0;  ///< VER-9: offset of the marks, in steps
    std::uint32_t probe = 0;   ///< VER-10: the mark chosen by the lottery, as a number of steps; 0 if there is none
    std::optional<Hash256> probe_root;  ///< as published; replaced by the true root after disclosure
    std::optional<bool> forced;         ///< VER-11: whether the verdict is a forced error; nullopt until disclosed
    std::vector<AccountId> watchers;    ///< VER-12: whistleblowers drawn to check this verdict
    std::optional<dispute::Measurement> measurement;  ///< VER-17: as published
    std::optional<std::uint32_t> diverged_after;
    Amount reserve;  ///< DSP-46: stake locked in addition to the bond; pays for the disputes that the verifier opens
    std::optional<std::uint32_t> failed_checks = {};  ///< CHK-3: as published
    static constexpr auto fields() {
        return Fields<
            &Assignment::segment, &Assignment::verifier, &Assignment::status, &Assignment::commitment,
            &Assignment::end_root, &Assignment::bond, &Assignment::offset, &Assignment::probe, &Assignment::probe_root,
            &Assignment::forced, &Assignment::watchers, &Assignment::measurement, &Assignment::diverged_after,
            &Assignment::reserve, &Assignment::failed_checks>{};
    }
};
constexpr bool is_published(const Assignment& assignment) {
    return assignment.status == VerdictStatus::kAccepted || assignment.status == VerdictStatus::kRejected;
}
/// VER-22: whether the verdict is published, its windows have ended and its bond was returned.
constexpr bool is_released(const Assignment& assignment) {
    return is_published(assignment) && assignment.bond.grains == 0;
}
/// Whether the verdict is published but its commitment is not opened yet.
constexpr bool is_secret(const Assignment& assignment) { return is_published(assignment) && !assignment.forced; }

/// State of a committee (AVL-2).
enum class CommitteeState : std::uint8_t {
    kSitting = 1,    ///< members are fetching the data, until the task's deadline
    kAvailable = 2,  ///< members holding more than half of the seats have attested
    kWithheld = 3,   ///< time ran out without such a majority
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

/// Verifiers drawn to decide whether the data for replaying the segments without a verdict was available (AVL rules).
struct Committee {
    std::vector<std::uint32_t> segments;   ///< in ascending order
    std::vector<CommitteeMember> members;  ///< in the order in which each member was first drawn
    CommitteeState state = CommitteeState::kSitting;
    std::uint32_t sitting = 1;  ///< AVL-5: number of committees in a row so far, including this one
    Hash256 seed;               ///< AVL-3: seed of the beacon round that drew the committee
    static constexpr auto fields() {
        return Fields<
            &Committee::segments, &Committee::members, &Committee::state, &Committee::sitting, &Committee::seed>{};
    }
};

/// AVL-7: segments that a committee found available, and who attested that it has what a replay of them needs.
struct Available {
    std::vector<std::uint32_t> segments;  ///< in ascending order
    std::vector<AccountId> attesters;     ///< in the order of the committee's members
    static constexpr auto fields() { return Fields<&Available::segments, &Available::attesters>{}; }
};

/// Phase of profiling (PRF-1).
enum class ProfilingPhase : std::uint8_t { kDraw = 1, kCommit = 2, kPublish = 3, kChallenge = 4, kOver = 5 };
constexpr bool is_valid(ProfilingPhase p) { return p >= ProfilingPhase::kDraw && p <= ProfilingPhase::kOver; }
const char* to_string(ProfilingPhase phase) noexcept;

enum class ProfileStatus : std::uint8_t {
    kDue = 1,
    kCommitted = 2,
    kStanding = 3,  ///< published and not refuted
    kMissed = 4,
    kRefuted = 5,
};
constexpr bool is_valid(ProfileStatus s) { return s >= ProfileStatus::kDue && s <= ProfileStatus::kRefuted; }
const char* to_string(ProfileStatus status) noexcept;

/// A profiler's assignment. The published report is stored in its own slot.
struct Profile {
    AccountId profiler;
    ProfileStatus status = ProfileStatus::kDue;
    Hash256 commitment;
    Amount bond;  ///< still locked
    static constexpr auto fields() {
        return Fields<&Profile::profiler, &Profile::status, &Profile::commitment, &Profile::bond>{};
    }
};

/// One relative distance for each row of a measurement, in billionths of the length of the update (TOL-6).
struct Distances {
    dispute::Relative parameters = 0;
    dispute::Relative other = 0;
    bool operator==(const Distances&) const = default;
    static constexpr auto fields() { return Fields<&Distances::parameters, &Distances::other>{}; }
};

/// The tolerance-mode part of a task record.
struct Tolerance {
    ProfilingPhase phase = ProfilingPhase::kDraw;
    std::vector<Profile> profiles;
    std::uint64_t reference_seed = 0;  ///< PRF-2: the second seed, used to measure d_ref
    std::uint64_t profile_seed = 0;    ///< seed of the sketches in the profilers' measurements
    std::optional<Distances> threshold;
    std::optional<Distances> reference;  ///< d_ref: the distance between runs with different seeds
    std::uint64_t sketch_seed =
        0;  ///< VER-17: seed of the sketches in the verdicts' measurements; drawn with the verifiers
    static constexpr auto fields() {
        return Fields<
            &Tolerance::phase, &Tolerance::profiles, &Tolerance::reference_seed, &Tolerance::profile_seed,
            &Tolerance::threshold, &Tolerance::reference, &Tolerance::sketch_seed>{};
    }
};

/// The solver's progress in keeping the task's result (RET-4). The task's escrow is what it can still earn.
struct Keeping {
    Height begun_at;
    std::uint32_t shows = 0;      ///< tiles shown so far
    std::uint32_t shows_due = 0;  ///< tiles to show in all
    bool is_waiting = false;      ///< the task waits for the beacon round that draws the next tile
    /// Seed of the round that drew the tile which the solver has to show before the task's deadline; nullopt if none is
    /// drawn now.
    std::optional<Hash256> seed;
    static constexpr auto fields() {
        return Fields<&Keeping::begun_at, &Keeping::shows, &Keeping::shows_due, &Keeping::is_waiting, &Keeping::seed>{};
    }
};

struct Task {
    TaskId id;
    AccountId submitter;
    TaskSpec spec;
    TaskState state = TaskState::kOpen;
    Height submitted_at;
    Height deadline;                  ///< of the current state; 0 if there is none
    std::optional<AccountId> solver;  ///< the lead, if a group trains the task (GRP-2)
    Amount escrow;                    ///< of the reward and the fees what is not paid out yet
    Amount solver_bond;               ///< the solver's stake that is locked for this task
    std::uint32_t checkpoints = 0;    ///< number of checkpoints posted
    /// TASK-13: the step that diverged, if any. The last checkpoint is then the state after that step.
    std::optional<std::uint64_t> diverged_at;
    std::vector<Assignment> assignments;
    std::uint32_t open_disputes = 0;
    std::uint32_t history_count = 0;
    Hash256 history_root;  ///< HIS-2: "assay/history" hash chain over the task's history records
    /// VER-10: seed that decides, with each verifier's salt, which verdicts are forced errors; zero before.
    Hash256 lottery;
    /// VER-15: whether the challenge window is, or was, the second one, for the true results of forced verdicts.
    bool second_window = false;
    std::uint32_t depth = 0;             ///< number of ancestors (LIN-1)
    std::optional<TaskId> tainted_by;    ///< LIN-4: a convicted ancestor from whose state this task descends
    std::optional<Tolerance> tolerance;  ///< present only in tolerance mode
    /// EVL-4; present if the task is completed, asks for an evaluation and did not diverge.
    std::optional<Evaluation> evaluation;
    Amount room;                         ///< TASK-17: remainder of the deposit that pays for waiting and draws
    std::uint32_t redraws = 0;           ///< AVL-7: how many times replacement verifiers were drawn
    std::optional<Committee> committee;  ///< AVL-1: the latest committee
    std::vector<Available> available;    ///< AVL-7: each segment once, by the latest committee that found it available
    std::uint64_t lane = 0;      ///< DTY-5: gas reserved in the lane of duties for the answers that the task may need
    std::optional<Group> group;  ///< GRP-2; the bond of its lead is solver_bond
    std::optional<Keeping> keeping;  ///< RET-4: present from the time when the task is kept
    std::optional<Secrecy> secrecy;  ///< PRV-2: present if and only if the task is private
    static constexpr auto fields() {
        return Fields<
            &Task::id, &Task::submitter, &Task::spec, &Task::state, &Task::submitted_at, &Task::deadline, &Task::solver,
            &Task::escrow, &Task::solver_bond, &Task::checkpoints, &Task::diverged_at, &Task::assignments,
            &Task::open_disputes, &Task::history_count, &Task::history_root, &Task::lottery, &Task::second_window,
            &Task::depth, &Task::tainted_by, &Task::tolerance, &Task::evaluation, &Task::room, &Task::redraws,
            &Task::committee, &Task::available, &Task::lane, &Task::group, &Task::keeping, &Task::secrecy>{};
    }
};

/// AVL-2: whether the task is waiting for its committee's result.
inline bool is_sitting(const Task& task) {
    return task.state == TaskState::kCompleted && task.committee && task.committee->state == CommitteeState::kSitting;
}
/// The first segment that is executed: 0 (the initialisation), or 1 if the initial state comes from a parent (LIN-2).
std::uint32_t first_segment(const TaskSpec& spec) noexcept;
/// Number of the last training segment: segments are 0 (the initialisation) to segment_count, with one checkpoint each.
std::uint32_t segment_count(const TaskSpec& spec) noexcept;  ///< not counting segment 0
/// Number of training segments to verify, not counting segment 0. A task that diverged ends with the segment that
/// diverged; one that was shortened, with the last that counts (GRP-6, GRP-7).
std::uint32_t segment_count(const Task& task) noexcept;
/// EVL-5: the segment number used to verify and dispute the evaluation; nullopt if the task has no score.
std::optional<std::uint32_t> evaluation_segment(const Task& task) noexcept;
/// The last segment to verify: the evaluation if there is one, else the last training segment.
std::uint32_t last_segment(const Task& task) noexcept;
/// The global number of the first step of `segment`, and its number of steps if nothing diverges. The initialisation is
/// step 0.
std::uint64_t first_step(const TaskSpec& spec, std::uint32_t segment) noexcept;
std::uint32_t step_count(const TaskSpec& spec, std::uint32_t segment) noexcept;
/// Number of executed steps of `segment`. A segment that diverged ends with the diverging step. The evaluation is one
/// step.
std::uint32_t step_count(const Task& task, std::uint32_t segment) noexcept;
/// SET-7: the part of the reward that is earned at settlement: all of it, or for a task that diverged, the fraction of
/// its steps that were executed; of a group, what its members earn (GRP-8).
Amount earned_reward(const Task& task) noexcept;
/// VER-17: whether verdicts on the segment are judged by equality. In exact mode this holds for every segment; in
/// tolerance mode only for the initialisation, the evaluation and a segment that diverged.
bool is_exact(const Task& task, std::uint32_t segment) noexcept;
/// PAR-2: reward plus verification fee; bonds and checks scale with it. The spec has passed submission, so the sum
/// cannot overflow.
Amount task_value(const TaskSpec& spec) noexcept;
/// RET-1: the fee for keeping the result; 0 if the submitter does not ask for it.
Amount retention_fee(const TaskSpec& spec) noexcept;
/// What a submission puts into escrow: the value plus the fee for keeping the result. The spec has passed submission,
/// so the sum cannot overflow.
Amount escrow_of(const TaskSpec& spec) noexcept;
/// RET-2: whether the task's result is kept once everybody is paid: the submitter pays for it, the training did not
/// diverge, and no convicted ancestor marks the task.
bool will_be_kept(const Task& task) noexcept;

/// Whether verifiers have been drawn for the segments that count: not before the first draw, nor after a cut (GRP-7).
bool is_assigned(const Task& task) noexcept;
/// AVL-1: segments that have assignments but no accepting verdict, in ascending order.
std::vector<std::uint32_t> open_segments(const Task& task);

/// AVL-1: whether a task that waits for a draw needs a committee before replacement verifiers are drawn.
bool needs_committee(const Task& task);
/// AVL-2, GRP-10: the open segments that the next committee covers: those of one responder, in ascending order.
std::vector<std::uint32_t> committee_segments(const Task& task);

}  // namespace assay::contracts
