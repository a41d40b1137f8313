// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::taskdir {

/// Upper bounds on a dispute of a task, over everything that can be disputed.
struct DisputeBound {
    /// Rounds of reveal and select by level, on the longest path. The proof follows them.
    struct Rounds {
        std::uint32_t steps = 0;
        std::uint32_t nodes = 0;
        std::uint32_t tiles = 0;
        std::uint32_t partials = 0;
        std::uint32_t total() const { return steps + nodes + tiles + partials; }
    };
    Rounds rounds;
    std::string op;                  ///< operator of the node at the end of that path
    std::uint64_t reveal_bytes = 0;  ///< size of the hashes in the largest reveal
    std::uint64_t proof_bytes = 0;   ///< approximate size of the largest proof
    std::string proof_op;            ///< operator of the node that this proof is about
};

/// Computes the bound by playing disputes of segments of `steps` steps down to every node of both graphs. `commitment`
/// is the program's.
DisputeBound bound_dispute(
    const program::Program& program, const dispute::ProgramCommitment& commitment, std::uint64_t steps
);

}  // namespace assay::taskdir
