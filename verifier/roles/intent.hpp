// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include <contracts/transaction/transaction.hpp>

/// What a role decides to do next. Decisions are pure functions and live here; the worker carries them out.
namespace assay::roles {

using contracts::DisputeId;
using contracts::TaskId;

namespace intent {
struct Accept {
    TaskId task;
    bool operator==(const Accept&) const = default;
};
/// TASK-15: decline the task, so that another solver is drawn.
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
/// Train a later segment of ours, from the checkpoint that its round of local replicas begins with.
struct TrainAhead {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const TrainAhead&) const = default;
};
/// Fetch a checkpoint that another member of the group posted, and keep it.
struct FetchCheckpoint {
    TaskId task;
    std::uint32_t index = 0;
    bool operator==(const FetchCheckpoint&) const = default;
};
/// Post the stored checkpoint. If it is the state after a step that diverged, declare the divergence.
struct PostCheckpoint {
    TaskId task;
    std::uint32_t index = 0;
    bool operator==(const PostCheckpoint&) const = default;
};
struct Complete {
    TaskId task;
    bool operator==(const Complete&) const = default;
};
/// Replay a segment from the solver's checkpoint before it.
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
/// Disclose the opening of our verdict's commitment.
struct Disclose {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const Disclose&) const = default;
};
/// Replay the first `probe` steps of a segment from the solver's checkpoint before it.
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
    Hash256 found;  ///< the root that our two replays found instead of the published probe root
    bool operator==(const ChallengeVerdict&) const = default;
};
struct OpenDispute {
    TaskId task;
    std::uint32_t segment = 0;
    bool operator==(const OpenDispute&) const = default;
};
/// AVL-3: fetch everything that a replay of the committee's segments needs, then attest.
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
/// Either party's move; sent only if the one-step verifier would rule in our favour.
struct MoveProve {
    DisputeId dispute;
    bool operator==(const MoveProve&) const = default;
};
}  // namespace intent

/// Why a role does nothing now.
enum class Wait : std::uint8_t {
    kNothingDue = 1,  ///< we have no duty in the current state
    kOtherParty = 2,  ///< another party is to move
    kBreaker = 3,     ///< the circuit breaker is open: no new work after losing a bond
    kNoStake = 4,     ///< not enough free stake for the bond
    kUnable = 5,      ///< we could not compute a result; implies nothing about the solver
    kArtifact = 6,    ///< an artifact is not available; trying again
    kTooLate = 7,     ///< the window has closed
};
const char* to_string(Wait wait) noexcept;

using Intent = std::variant<
    Wait, intent::Accept, intent::Train, intent::PostCheckpoint, intent::Complete, intent::Replay, intent::Commit,
    intent::Publish, intent::OpenDispute, intent::Attest, intent::MoveReveal, intent::MoveSelect, intent::MoveProve,
    intent::Disclose, intent::ReplayProbe, intent::ChallengeVerdict, intent::Decline, intent::TrainAhead,
    intent::FetchCheckpoint>;

}  // namespace assay::roles
