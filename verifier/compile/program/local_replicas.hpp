// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// Replicas that train on their own for many steps before they exchange anything (DiLoCo, arXiv 2311.08105; SparseLoCo,
/// arXiv 2508.15706), written into a program. docs/protocol/programs.md has the formulas.
///
/// The program trains one replica after the other: step s belongs to the *turn* of replica floor(s / H) mod L, and a
/// *round* is one turn of each. Every turn of a round begins with the same parameters, so machines may execute the
/// turns of a round at the same time, and a segment of H steps is verified by replaying one replica's turn.
///
/// With several fragments (Streaming DiLoCo, arXiv 2501.18512) a round exchanges one fragment of the parameters, and a
/// replica keeps its own parameters from one turn to the next, with which its turns begin: what the exchange made of a
/// fragment is mixed into them at the end of its next turn.
namespace assay::program {

/// How a replica's change of a parameter over a turn is sent.
enum class SentForm : std::uint8_t {
    kWhole = 1,     ///< as it is
    kIntegers = 2,  ///< `bits` an element, and one exponent for each row
    kSparse = 3,    ///< of each block the largest element, with 2 bits; what is not sent is kept for the next round
};

struct LocalReplicas {
    std::uint32_t count = 4;         ///< L
    std::uint32_t turn_steps = 100;  ///< H
    float outer_rate = 0.7F;
    float outer_momentum = 0.9F;  ///< Nesterov's
    SentForm sent = SentForm::kIntegers;
    std::uint32_t bits = 8;       ///< kIntegers: of each, with its sign; 2 to 8
    std::uint32_t block = 64;     ///< kSparse: one element is sent of so many
    float kept_share = 0.95F;     ///< kSparse: of what was not sent, as it is in the next round
    std::uint32_t fragments = 1;  ///< P; with more than 1, each round exchanges one of them
    float mixing = 0.5F;          ///< of several fragments: the share of its own value that a replica keeps
    bool operator==(const LocalReplicas&) const = default;
};

enum class [[nodiscard]] LocalError : std::uint8_t{
    kCount = 1,      ///< fewer than 2 replicas, more than kMaxReplicas, no steps, or a round of more than 2^24 steps
    kRate = 2,       ///< a rate that is negative or not finite, or a momentum or share not in [0, 1)
    kBlock = 3,      ///< a block of 0 or of more than 2^24 elements
    kState = 4,      ///< a state tensor that changes and is not f32, or nothing that is trained
    kLimits = 5,     ///< more state tensors or nodes than a program may have (PRG-4, PRG-6)
    kNames = 6,      ///< a state tensor has the name of one that is to be added
    kFragments = 7,  ///< no fragment, more than there are trained parameters, or more than 2^24 rounds' steps
    kBits = 8,       ///< integers of fewer than 2 bits or more than 8
};
Result<void, LocalError> check_local_replicas(const LocalReplicas& local);

/// Whether a change of a parameter of this shape is sent sparsely; one of too many elements is sent as it is.
bool is_sparse(const LocalReplicas& local, canonical::Shape shape);

/// Which fragment each of these parameters belongs to: taken in order, each goes to the one that has the fewest
/// elements so far, the first of equal ones.
std::vector<std::uint32_t> fragments_of(const std::vector<StateTensor>& parameters, std::uint32_t fragments);

/// Returns `program`, which has to pass check_program, as one of local replicas. The first state tensors are those of
/// `program`: the parameters that are trained at the moment, and what replica 0 has of everything else. Step counts of
/// `program` become a replica's own.
Result<Program, LocalError> with_local_replicas(const Program& program, const LocalReplicas& local);

/// What a replica sends of these parameters until all of them have been sent once, in bits.
struct RoundTraffic {
    std::uint64_t whole = 0;   ///< as f32
    std::uint64_t packed = 0;  ///< as the ranks of a cell send it: with places of ceil(log2(block)) bits and all scales
    std::uint64_t peak = 0;    ///< of `packed`, what the largest round sends: all, or the largest fragment
};
RoundTraffic round_traffic(const LocalReplicas& local, const std::vector<StateTensor>& parameters);

}  // namespace assay::program
