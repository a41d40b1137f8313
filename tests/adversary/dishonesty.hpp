// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tests/adversary/misstatement.hpp>
#include <verifier/worker/options.hpp>

namespace assay::adversary {

/// Deliberate misbehaviour, for demonstrations and tests of the disputes that must stop it.
enum class Dishonesty : std::uint8_t {
    kNone = 0,
    kTile = 1,          ///< alters one element of a tile of a node's output at one step
    kSkip = 2,          ///< does not train one segment: passes the state on unchanged
    kData = 3,          ///< trains one step on another step's batch
    kInit = 4,          ///< initialises from another seed
    kOptimizer = 5,     ///< doubles the first parameter's update from some step on
    kWithhold = 6,      ///< never serves one checkpoint's artifact
    kFalseAccuser = 7,  ///< a whistleblower that disputes an honest segment
    kLazy = 8,          ///< a verifier that accepts without a replay, with invented probe roots
    kCopycat = 9,       ///< a verifier that copies another verifier's verdict on the segment
    kReject = 10,       ///< a verifier that alters a tile in each segment's replay, and so rejects honest work
    kPush = 11,         ///< a solver in tolerance mode that enlarges each segment's update of one tensor
    kInflate = 12,      ///< a verifier in tolerance mode that overstates measured distances
    kMisprofile = 13,   ///< a profiler that overstates measured distances
    kScore = 14,        ///< a solver that halves its claimed loss on the hold-out set
    kFreeRider = 15,    ///< a whistleblower that replays nothing and copies others' challenges
    kInsider = 16,      ///< a whistleblower that its owner's verifier tells which verdicts are forced
    kDivergence = 17,   ///< a verifier in tolerance mode that claims for each segment that its replay diverged
    kWithholdAll = 18,  ///< a solver that serves no artifacts
    kPrivate = 19,      ///< a solver that serves its checkpoints only, not the program and the data (AVL-9)
    kStale = 20,      ///< begins one segment with what checkpoint 0 has of the turn's tensors, not the last checkpoint
    kOuter = 21,      ///< doubles the momentum of the outer step with which a segment ends
    kFold = 22,       ///< leaves the first replica's change out of the sum from which that outer step is made
    kWrongKeys = 23,  ///< of a private task: a solver that shares another key of the checkpoints with its judges
    kKeysWithheld = 24,  ///< likewise, one that shares none
    kWrongChunk = 25,    ///< likewise, one whose sealed file has a chunk that no key opens
};
const char* to_string(Dishonesty kind) noexcept;
/// Returns the kind with this --dishonest name; nullopt if there is none.
std::optional<Dishonesty> decode_dishonesty(const std::string& name);
/// Returns the names that a role's --dishonest takes.
std::vector<std::string> dishonesties_of(worker::Mode mode);

/// What assay-adversary is told beyond the options of assay-worker.
struct AdversaryOptions {
    Dishonesty kind = Dishonesty::kNone;
    std::optional<Misstatement> misstates;  ///< how it lies to the members of a group that computes each step together
    std::optional<std::uint64_t> step;      ///< default: in the middle of the run; for `misstates` there is none
    std::optional<std::uint32_t> node;      ///< default: near the middle of the graph
    std::filesystem::path insider_of;       ///< kInsider: the home directory of its owner's verifier
    std::uint32_t slowed = 1;               ///< it computes sessions with others so many times slower than it could
    bool late_moves = false;                ///< makes dispute moves only when the clock has nearly run out
};

}  // namespace assay::adversary
