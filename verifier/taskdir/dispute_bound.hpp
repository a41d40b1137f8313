// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::taskdir {

/// What a dispute of a task can take at most, whatever is disputed.
struct DisputeBound {
    /// Of reveal and select, by level, on the longest way down. The proof comes after them.
    struct Rounds {
        std::uint32_t steps = 0;
        std::uint32_t nodes = 0;
        std::uint32_t tiles = 0;
        std::uint32_t partials = 0;
        std::uint32_t total() const { return steps + nodes + tiles + partials; }
    };
    Rounds rounds;
    std::string op;                  ///< of the node at the end of that way
    std::uint64_t reveal_bytes = 0;  ///< hashes of the largest reveal
    std::uint64_t proof_bytes = 0;   ///< about: of the largest proof
    std::string proof_op;            ///< of the node that it is about
};

/// Plays disputes of segments of `steps` steps down to every node of both graphs. `commitment` is the program's.
DisputeBound bound_dispute(
    const program::Program& program, const dispute::ProgramCommitment& commitment, std::uint64_t steps
);

}  // namespace assay::taskdir
