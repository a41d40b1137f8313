// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include <contracts/state/transaction.hpp>

/// What a role decides to do next. Deciding is pure and lives here; doing is the worker's.
namespace assay::roles {

using contracts::DisputeId;
using contracts::TaskId;

namespace intent {
struct Accept {
    TaskId task;
    bool operator==(const Accept&) const = default;
};
/// TASK-15: leave the task to another solver.
struct Decline {
    TaskId task;
    bool operator==(const Decline&) const = default;
};
/// Train the next segment whose checkpoint is not stored yet.
struct Train {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Train&) const = default;
};
/// Post the stored checkpoint; where it is the state after a step that diverged, declare that.
struct PostCheckpoint {
    TaskId task;
    std::uint32_t index = 0;
    bool operator==(const PostCheckpoint&) const = default;
};
struct Complete {
    TaskId task;
    bool operator==(const Complete&) const = default;
};
/// Execute a segment from the solver's checkpoint before it.
struct Replay {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Replay&) const = default;
};
struct Commit {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Commit&) const = default;
};
struct Publish {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Publish&) const = default;
};
/// Open the commitment of our verdict.
struct Disclose {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Disclose&) const = default;
};
/// Execute the first `probe` steps of a segment from the solver's checkpoint before it.
struct ReplayProbe {
    TaskId task;
    std::uint32_t segment = 0;
    std::uint32_t probe = 0;
    bool operator==(const ReplayProbe&) const = default;
};
struct ChallengeVerdict {
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    Hash256 found;  ///< what two replays gave in the place of its probe root
    bool operator==(const ChallengeVerdict&) const = default;
};
struct OpenDispute {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const OpenDispute&) const = default;
};
/// AVL-3: fetch all that a replay of the committee's segments needs, and attest when it has come.
struct Attest {
    TaskId task;
    bool operator==(const Attest&) const = default;
};
/// The responder's move.
struct MoveReveal {
    DisputeId dispute;
    bool operator==(const MoveReveal&) const = default;
};
/// The challenger's move.
struct MoveSelect {
    DisputeId dispute;
    bool operator==(const MoveSelect&) const = default;
};
/// Either party's move; sent only when the referee would rule for us.
struct MoveProve {
    DisputeId dispute;
    bool operator==(const MoveProve&) const = default;
};
}  // namespace intent

/// Why there is nothing to do now.
enum class Wait : std::uint8_t {
    kNothingDue = 1,     ///< no duty of ours in the present state
    kOtherParty = 2,     ///< somebody else is to move
    kBreaker = 3,        ///< the circuit breaker is open: no new work after a lost bond
    kNoStake = 4,        ///< not enough free stake for the bond
    kUnable = 5,         ///< we could not compute a result; which says nothing about the solver
    kArtifact = 6,       ///< an artifact could not be had; trying again
    kTooLate = 7,        ///< the window has closed
};
const char* to_string(Wait wait) noexcept;

using Intent = std::variant<
    Wait, intent::Accept, intent::Train, intent::PostCheckpoint, intent::Complete, intent::Replay, intent::Commit,
    intent::Publish, intent::OpenDispute, intent::Attest, intent::MoveReveal, intent::MoveSelect,
    intent::MoveProve, intent::Disclose, intent::ReplayProbe, intent::ChallengeVerdict,
    intent::Decline>;

}  // namespace assay::roles
