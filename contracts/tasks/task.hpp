// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/chain/transaction.hpp>

/// The records of the state that are about tasks, as stored and as proven to auditors.
namespace assay::contracts {

/// The life of a task (TASK-1):
///   kOpen -> kDrawn -> kTraining -> kCompleted -> kVerifying -> kChallenge -> kSettled
/// with the exits kCancelled, kExpired (nobody's fraud) and kConvicted (the solver's).
enum class TaskState : std::uint8_t {
    kOpen = 1,        ///< waiting for a solver to be drawn
    kDrawn = 2,       ///< a solver was drawn and has yet to accept
    kTraining = 3,
    kCompleted = 4,   ///< the verifiers are drawn at the end of the next block
    kVerifying = 5,   ///< verdicts are committed and revealed
    kChallenge = 6,   ///< anyone may still dispute; then payment
    kSettled = 7,
    kConvicted = 8,
    kCancelled = 9,
    kExpired = 10,
};
constexpr bool is_valid(TaskState s) { return s >= TaskState::kOpen && s <= TaskState::kExpired; }
constexpr bool is_terminal(TaskState s) { return s >= TaskState::kSettled; }
const char* to_string(TaskState state) noexcept;

struct Checkpoint {
    Hash256 state_root;
    ArtifactRef artifact;
    Height height;
    static constexpr auto fields() {
        return std::tuple{&Checkpoint::state_root, &Checkpoint::artifact, &Checkpoint::height};
    }
};

enum class VerdictStatus : std::uint8_t { kDue = 1, kCommitted = 2, kAccepted = 3, kRejected = 4, kMissed = 5 };
constexpr bool is_valid(VerdictStatus s) { return s >= VerdictStatus::kDue && s <= VerdictStatus::kMissed; }
const char* to_string(VerdictStatus status) noexcept;

struct Assignment {
    std::uint32_t segment = 0;
    AccountId verifier;
    VerdictStatus status = VerdictStatus::kDue;
    Hash256 commitment;
    Hash256 state_root;  ///< revealed; zero before
    Amount bond;         ///< still locked
    static constexpr auto fields() {
        return std::tuple{&Assignment::segment, &Assignment::verifier, &Assignment::status, &Assignment::commitment,
                          &Assignment::state_root, &Assignment::bond};
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
    std::uint32_t open_challenges = 0;
    std::uint32_t history_count = 0;
    Hash256 history_root;  ///< HIS-2: chain of "assay/history" over the task's history records
    std::uint32_t depth = 0;           ///< how many ancestors it has (LIN-1)
    std::optional<TaskId> tainted_by;  ///< LIN-4: the convicted ancestor whose state it was built upon
    static constexpr auto fields() {
        return std::tuple{&Task::id, &Task::submitter, &Task::spec, &Task::state, &Task::submitted_at,
                          &Task::deadline, &Task::solver, &Task::escrow, &Task::solver_bond, &Task::checkpoints,
                          &Task::diverged_at, &Task::assignments, &Task::open_disputes, &Task::open_challenges,
                          &Task::history_count, &Task::history_root, &Task::depth, &Task::tainted_by};
    }
};

/// The first segment that somebody executes: 0, the initialisation, or 1 where a parent gives the state (LIN-2).
std::uint32_t first_segment(const TaskSpec& spec) noexcept;
/// Segments of a task: 0 (initialisation) .. segment_count; as many as checkpoints when complete, minus one.
std::uint32_t segment_count(const TaskSpec& spec) noexcept;  ///< without segment 0
/// Those that there are to verify: of a task that diverged, up to the one that did.
std::uint32_t segment_count(const Task& task) noexcept;
/// The first step of segment `segment`, and how many it has when nothing diverges; the initialisation is step 0.
std::uint64_t first_step(const TaskSpec& spec, std::uint32_t segment) noexcept;
std::uint32_t step_count(const TaskSpec& spec, std::uint32_t segment) noexcept;
/// SET-7: what the solver has earned of the reward once the task settles: all of it, or of a task that diverged the
/// share of the steps that were executed.
Amount earned_reward(const Task& task) noexcept;
/// PAR-2: what bonds and checks follow: reward plus verification fee, which a task that was submitted can add.
Amount task_value(const TaskSpec& spec) noexcept;

// --- history -------------------------------------------------------------------------------------------------

/// Why money moved out of an escrow or a bond (SET rules).
enum class Reason : std::uint8_t {
    kReward = 1,             ///< escrow to the solver
    kVerificationFee = 2,    ///< escrow to a verifier
    kRefund = 3,             ///< escrow back to the submitter
    kWonDispute = 4,         ///< the winner's share of a slashed bond
    kLostDispute = 5,        ///< slashed: the solver's claim was refuted by the referee
    kFalseAccusation = 6,    ///< slashed: the challenger's accusation was refuted by the referee
    kDisputeTimeout = 7,     ///< slashed: a clock ran out
    kUnavailable = 8,        ///< slashed: a challenged chunk was not served
    kMissedDeadline = 9,     ///< slashed: a drawn solver did not complete
    kMissedVerdict = 10,     ///< slashed: a verifier did not commit or reveal
    kWrongVerdict = 11,      ///< slashed: a verifier accepted a segment that was refuted
    kNeedlessChallenge = 12, ///< slashed: an availability challenge that was answered
    kMoot = 13,              ///< nothing moved but the bond, back: the task ended while this was open
};
constexpr bool is_valid(Reason r) { return r >= Reason::kReward && r <= Reason::kMoot; }
const char* to_string(Reason reason) noexcept;

namespace history {
struct Submitted { Amount escrow; static constexpr auto fields() { return std::tuple{&Submitted::escrow}; } };
struct SolverDrawn { AccountId solver; static constexpr auto fields() { return std::tuple{&SolverDrawn::solver}; } };
struct Accepted { Amount bond; static constexpr auto fields() { return std::tuple{&Accepted::bond}; } };
struct CheckpointPosted {
    std::uint32_t index = 0;
    Hash256 state_root;
    Hash256 artifact;
    static constexpr auto fields() {
        return std::tuple{&CheckpointPosted::index, &CheckpointPosted::state_root, &CheckpointPosted::artifact};
    }
};
struct Completed { static constexpr auto fields() { return std::tuple{}; } };
struct VerifierDrawn {
    std::uint32_t segment = 0;
    AccountId verifier;
    static constexpr auto fields() { return std::tuple{&VerifierDrawn::segment, &VerifierDrawn::verifier}; }
};
struct VerdictCommitted {
    std::uint32_t segment = 0;
    static constexpr auto fields() { return std::tuple{&VerdictCommitted::segment}; }
};
struct VerdictRevealed {
    std::uint32_t segment = 0;
    Hash256 state_root;
    bool accepts = false;
    static constexpr auto fields() {
        return std::tuple{&VerdictRevealed::segment, &VerdictRevealed::state_root, &VerdictRevealed::accepts};
    }
};
struct DisputeOpened {
    DisputeId dispute;
    std::uint32_t segment = 0;
    static constexpr auto fields() { return std::tuple{&DisputeOpened::dispute, &DisputeOpened::segment}; }
};
struct DisputeMoved {
    DisputeId dispute;
    std::uint32_t round = 0;
    trace::Level level = trace::Level::kSteps;
    bool by_responder = false;
    static constexpr auto fields() {
        return std::tuple{&DisputeMoved::dispute, &DisputeMoved::round, &DisputeMoved::level,
                          &DisputeMoved::by_responder};
    }
};
struct DisputeEnded {
    DisputeId dispute;
    bool claim_refuted = false;
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() {
        return std::tuple{&DisputeEnded::dispute, &DisputeEnded::claim_refuted, &DisputeEnded::reason};
    }
};
struct AvailabilityChallenged {
    ChallengeId challenge;
    std::uint32_t checkpoint = 0;
    static constexpr auto fields() {
        return std::tuple{&AvailabilityChallenged::challenge, &AvailabilityChallenged::checkpoint};
    }
};
struct AvailabilityEnded {
    ChallengeId challenge;
    bool served = false;
    bool moot = false;  ///< neither served nor lapsed: the task ended while it was open
    static constexpr auto fields() {
        return std::tuple{&AvailabilityEnded::challenge, &AvailabilityEnded::served, &AvailabilityEnded::moot};
    }
};
struct Paid {
    AccountId to;
    Amount amount;
    Reason reason = Reason::kReward;
    static constexpr auto fields() { return std::tuple{&Paid::to, &Paid::amount, &Paid::reason}; }
};
struct Slashed {
    AccountId from;
    Amount amount;  ///< the whole bond lost
    Amount burned;  ///< the part of it that ceased to exist
    Reason reason = Reason::kLostDispute;
    static constexpr auto fields() {
        return std::tuple{&Slashed::from, &Slashed::amount, &Slashed::burned, &Slashed::reason};
    }
};
struct Diverged {  // instead of checkpoint_posted
    std::uint32_t index = 0;
    std::uint64_t step = 0;
    Hash256 state_root;
    Hash256 artifact;
    static constexpr auto fields() {
        return std::tuple{&Diverged::index, &Diverged::step, &Diverged::state_root, &Diverged::artifact};
    }
};
struct Tainted {
    TaskId ancestor;  ///< that was convicted
    static constexpr auto fields() { return std::tuple{&Tainted::ancestor}; }
};
struct StateChanged {
    TaskState state = TaskState::kOpen;
    static constexpr auto fields() { return std::tuple{&StateChanged::state}; }
};
}  // namespace history

using HistoryEvent = std::variant<
    history::Submitted, history::SolverDrawn, history::Accepted, history::CheckpointPosted, history::Completed,
    history::VerifierDrawn, history::VerdictCommitted, history::VerdictRevealed, history::DisputeOpened,
    history::DisputeMoved, history::DisputeEnded, history::AvailabilityChallenged, history::AvailabilityEnded,
    history::Paid, history::Slashed, history::StateChanged, history::Diverged,
    history::Tainted>;
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
        return std::tuple{&HistoryRecord::task, &HistoryRecord::index, &HistoryRecord::height, &HistoryRecord::tx,
                          &HistoryRecord::actor, &HistoryRecord::event};
    }
};
/// HIS-2: the next history root: "assay/history" over the previous root and Borsh(record). The first previous is zero.
Hash256 extend_history(const Hash256& previous, const HistoryRecord& record);

}  // namespace assay::contracts
