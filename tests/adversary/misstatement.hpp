// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <verifier/engine/cell/collective.hpp>

namespace assay::adversary {

/// How a member of a group that computes each step together lies about what it hands to others. It signs what it sends:
/// each of these messages is a statement (STM-1) that is wrong wherever the altered value is not the old one. Of
/// kShard, kZeros, kReduce and kStage what is sent in place of a value depends on that value and on what the piece is,
/// not on the receiver. A stale value may be another one than the lead takes after the step.
enum class Misstatement : std::uint8_t {
    kShard,   ///< every value that it states whole, of a node's output or of the state, is another one of that size
    kZeros,   ///< zeros in the place of all values and parts
    kStale,   ///< what it sent in the same place in the step before; nothing is altered if there is no such step
    kReduce,  ///< every part of a reduction is another one of that size
    kStage,   ///< the outputs of nodes in the first message of the step that has any: activations, between stages
    /// One piece that two ranks are told in one exchange is another one for the second of them. Who has told no two
    /// ranks the same in the session's steps so far, or has one other rank, alters one for that one: a lie like others.
    kEquivocate,
    kWithhold,  ///< leaves, by an exception, when the step begins
};
/// Returns the name that decode_misstatement() reads.
const char* to_string(Misstatement kind) noexcept;
/// Returns the kind with this name; nullopt if there is none.
std::optional<Misstatement> decode_misstatement(const std::string& name);

struct Misstated {
    Misstatement kind = Misstatement::kShard;
    std::uint64_t first_step = 0;  ///< in which it lies
    std::uint64_t last_step = 0;   ///< the same; kWithhold has left by then
    bool leaves_late = false;      ///< kWithhold leaves only when the segment is over, and its state is to be taken
};

/// Wraps the collective of a rank whose messages are signed (Collective::is_stated), which alters them before it hands
/// them to `inner`. Altered values are half or twice what they were as an f32, and stay finite; integers change by a
/// quarter or more. What kWithhold throws is a std::runtime_error, from begin_step() and from each call after it.
std::unique_ptr<engine::Collective> make_misstating(std::unique_ptr<engine::Collective> inner, const Misstated& lie);

}  // namespace assay::adversary
