// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/dispute_bound.hpp>

#include <algorithm>

#include <core/merkle/tree.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>
#include <core/dispute/bisection.hpp>
#include <core/dispute/rules.hpp>

namespace assay::taskdir {
namespace {

using canonical::Graph;
using canonical::Node;
using canonical::Op;

constexpr std::uint64_t kHashBytes = 32;
/// Lengths, types and indices around what a proof opens.
constexpr std::uint64_t kOpeningBytes = 64;
/// Tiles looked at of a tensor that has more: how many partials a tile takes hardly depends on which one it is.
constexpr std::uint64_t kSampledTiles = 64;

/// Rounds that one level takes, always into the first child, which is no smaller than any other.
class Descent {
  public:
    Descent(const dispute::Claim& claim, DisputeBound& bound) : claim_(claim), bound_(bound) {}

    std::uint32_t steps(std::uint64_t count) const {
        if (count <= 1) {
            return 0;
        }
        return count_rounds(dispute::AtSteps{0, static_cast<std::uint32_t>(count), {}, {}}, [](auto& at, auto split) {
            at.step_count = std::min(at.step_count, std::uint32_t{1} << split.child_height);
            return at.step_count > 1;
        });
    }
    std::uint32_t nodes() const {
        const std::uint32_t height = first_round(dispute::AtStep{});
        return 1 + (height == 0 ? 0 : count_rounds(dispute::AtNodes{{}, {}, 0, height, {}}, [](auto& at, auto split) {
                   at.node_height = split.child_height;
                   return at.node_height > 0;
               }));
    }
    std::uint32_t tiles(std::uint32_t index, const Node& node) const {
        const std::uint32_t height = first_round(dispute::AtNode{disputed(index, node)});
        if (height == 0) {
            return 1;
        }
        if (node.op == Op::kCommit) {
            return 1 + count_rounds(dispute::AtTensors{disputed(index, node), 0, height, {}}, [](auto& at, auto split) {
                       at.tensor_height = split.child_height;
                       return at.tensor_height > 0;
                   });
        }
        return 1 + count_rounds(dispute::AtTiles{disputed(index, node), 0, height, {}}, [](auto& at, auto split) {
                   at.tile_height = split.child_height;
                   return at.tile_height > 0;
               });
    }
    std::uint32_t partials(std::uint32_t index, const Node& node, std::uint64_t tile, std::uint32_t count) const {
        if (count <= 1) {
            return 0;
        }
        const dispute::DisputedTile disputed_tile{disputed(index, node), tile, {}};
        return count_rounds(dispute::AtPartials{disputed_tile, 0, count, {}, {}}, [](auto& at, auto split) {
            at.partial_count = std::min(at.partial_count, std::uint32_t{1} << split.child_height);
            return at.partial_count > 1;
        });
    }

  private:
    static dispute::DisputedNode disputed(std::uint32_t index, const Node& node) {
        const auto opened =
            node.op == Op::kCommit ? dispute::OpenedNode(dispute::CommitNode{}) : dispute::OpenedNode(node);
        return {{}, {}, index, {}, opened};
    }

    /// Rounds from `at` on; `take_first` takes the first child, and says whether something is left to split.
    template <class At, class TakeFirst>
    std::uint32_t count_rounds(At at, const TakeFirst& take_first) const {
        std::uint32_t rounds = 1;
        while (take_first(at, note(at))) {
            ++rounds;
        }
        return rounds;
    }
    template <class At>
    std::uint32_t first_round(const At& at) const {
        return note(at).child_height;
    }
    template <class At>
    dispute::Split note(const At& at) const {
        dispute::Position position;
        std::get<dispute::Bisection>(position.at).range = at;
        const dispute::Split split = dispute::split(claim_, position);
        bound_.reveal_bytes = std::max(bound_.reveal_bytes, kHashBytes * split.count);
        return split;
    }

    const dispute::Claim& claim_;
    DisputeBound& bound_;
};

struct WorstTile {
    std::uint64_t tile = 0;
    std::uint32_t partials = 0;
};

WorstTile worst_tile(const Node& node) {
    if (node.op == Op::kCommit) {
        return {.tile = 0, .partials = 1};
    }
    const std::uint64_t tiles = canonical::tile_count(node.shape);
    const std::uint64_t stride = std::max<std::uint64_t>(1, tiles / kSampledTiles);
    WorstTile worst{.tile = tiles - 1, .partials = canonical::partial_count(node, tiles - 1)};
    for (std::uint64_t tile = 0; tile < tiles; tile += stride) {
        const std::uint32_t partials = canonical::partial_count(node, tile);
        if (partials > worst.partials) {
            worst = {.tile = tile, .partials = partials};
        }
    }
    return worst;
}

std::uint64_t path_bytes(std::uint64_t leaves) { return kHashBytes * merkle::tree_depth(leaves); }

/// A tile with its path to its tensor's root, and that tensor's to the trace root or the state root.
std::uint64_t tile_bytes(const dispute::Claim& claim, const canonical::Input& input) {
    const std::uint64_t among =
        input.source == canonical::Source::kNode ? dispute::entry_count(claim) : dispute::tensors_before(claim);
    return std::uint64_t{canonical::kTileElements} * size_of(input.dtype) +
           path_bytes(canonical::tile_count(input.shape)) + path_bytes(among) + kOpeningBytes;
}

std::uint64_t proof_bytes(const dispute::Claim& claim, const Node& node, const WorstTile& worst) {
    std::uint64_t bytes = kOpeningBytes;
    if (node.op == Op::kCommit) {
        return bytes + kOpeningBytes + path_bytes(node.inputs.size()) +
               path_bytes(std::max<std::uint64_t>(dispute::entry_count(claim), node.inputs.size()));
    }
    for (const canonical::TileRef& read : canonical::operands_of(node, worst.tile, 0)) {
        bytes += tile_bytes(claim, node.inputs[read.input]);
    }
    if (node.op == Op::kGatherRows) {  // the table's tile, which the index names
        bytes += tile_bytes(claim, node.inputs[0]);
    }
    if (node.op == Op::kBatchRows) {
        const std::uint64_t chunks = canonical::chunk_count(claim.program.dataset);
        bytes += 2 * (canonical::kChunkBytes + path_bytes(chunks) + kOpeningBytes);
    }
    return bytes + (worst.partials > 1 ? canonical::kMaxAccumulatorBytes : 0);
}

/// Widens `bound` by what a dispute of one of `graph`'s nodes can take.
void widen(DisputeBound& bound, const dispute::Claim& claim, const Graph& graph) {
    const Descent descent(claim, bound);
    DisputeBound::Rounds rounds{.steps = descent.steps(claim.step_count), .nodes = descent.nodes()};
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        const WorstTile worst = worst_tile(node);
        rounds.tiles = descent.tiles(i, node);
        rounds.partials = descent.partials(i, node, worst.tile, worst.partials);
        if (rounds.total() > bound.rounds.total()) {
            bound.rounds = rounds;
            bound.op = canonical::to_string(node.op);
        }
        const std::uint64_t proof = proof_bytes(claim, node, worst);
        if (proof > bound.proof_bytes) {
            bound.proof_bytes = proof;
            bound.proof_op = canonical::to_string(node.op);
        }
    }
}

}  // namespace

DisputeBound bound_dispute(
    const program::Program& program, const dispute::ProgramCommitment& commitment, std::uint64_t steps
) {
    DisputeBound bound;
    dispute::Claim claim;
    claim.program = commitment;
    claim.step_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, 0xffffffffU));
    widen(bound, claim, program.step);
    claim.step_count = 1;
    claim.initialisation = true;
    widen(bound, claim, program.init);
    return bound;
}

}  // namespace assay::taskdir
