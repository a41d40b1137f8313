// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/dispute/narrowing.hpp>

/// What the narrowing, the referee and the parties share.
namespace assay::dispute {

/// How many entries a step of the claim has: its graph's nodes, kCommit included.
constexpr std::uint32_t entry_count(const Claim& claim) {
    return claim.initialisation ? claim.program.init_nodes : claim.program.step_nodes;
}

/// How many tensors the state before a step of the claim has: before the initialisation, those that the task gives.
constexpr std::uint32_t tensors_before(const Claim& claim) {
    return claim.initialisation ? claim.program.initial_tensors : claim.program.state_tensors;
}

constexpr std::uint64_t last_step(const Claim& claim) { return claim.first_step + claim.step_count - 1; }

/// What the disputed step's partials may depend on besides their inputs.
inline canonical::StepContext context_of(const Claim& claim, const Position& position) {
    return {
        .seed = claim.seed,
        .step = claim.initialisation ? 0 : position.first_step,
        .dataset = claim.program.dataset,
    };
}

/// What kTiles counts at `node`, which is well-formed: the tiles of its output; of kCommit, the tensors of the state,
/// whose commitments are the leaves under the state root as a tensor's tiles are those under its commitment (DSP-6).
std::uint64_t tile_total(const canonical::Node& node) noexcept;
/// How many partials make tile `tile` of `node`: of kCommit one.
std::uint32_t partial_total(const canonical::Node& node, std::uint64_t tile) noexcept;

/// DSP-8: whether `node` can stand at `index` of the claim's graph, as far as the node and the program's commitment
/// tell: it is well-formed alone, it reads only what exists before it, it is kCommit exactly when it is the last, and
/// a batch has the task's shape.
bool fits_program(const Claim& claim, std::uint32_t index, const canonical::Node& node) noexcept;

/// Whether `position` is one that the moves of a dispute of `claim` can lead to, as far as its sizes go. Everything
/// below the moves requires it.
bool is_possible(const Claim& claim, const Position& position) noexcept;

}  // namespace assay::dispute
