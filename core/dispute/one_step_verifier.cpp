// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/one_step_verifier.hpp>

#include <algorithm>
#include <utility>

#include <core/merkle/tree.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

using canonical::Input;
using canonical::Node;
using canonical::PartialInput;
using canonical::Source;
using canonical::TileRef;

/// DSP-21, DSP-23: whether `commitment` is what the responder claimed for `input`: an entry of the step that comes
/// before the disputed node, or a tensor of the state before the step.
bool is_claimed(
    const Claim& claim, const DisputedNode& node, const Input& input, const Hash256& commitment,
    std::span<const Hash256> path
) {
    if (input.source == Source::kNode) {
        return input.index < node.index &&
               merkle::root_from_path(commitment, input.index, entry_count(claim), path) == node.trace_root;
    }
    const std::uint32_t tensors = tensors_before(claim);
    const auto root = merkle::root_from_path(commitment, input.index, tensors, path);
    return root.has_value() && state_root_from(tensors, *root) == node.step.state_before;
}

Result<void, ProofError> check_tile(
    const Claim& claim, const DisputedNode& node, const TileRef& ref, const TileOpening& opening
) {
    const Input& input = std::get<Node>(node.node).inputs[ref.input];
    if (opening.tile.dtype != input.dtype || !canonical::is_well_formed(opening.tile)) {
        return Unexpected{ProofError::kBadTile};
    }
    const auto tile_root = merkle::root_from_path(
        tile_leaf(opening.tile), ref.tile, canonical::tile_count(input.shape), opening.tile_path
    );
    if (!tile_root) {
        return Unexpected{ProofError::kBadTilePath};
    }
    const Hash256 tensor = tensor_commitment({.dtype = input.dtype, .shape = input.shape}, *tile_root);
    if (!is_claimed(claim, node, input, tensor, opening.source_path)) {
        return Unexpected{ProofError::kBadTilePath};
    }
    return {};
}

/// DSP-20, DSP-21: the tiles are those that the partial reads, as the responder claimed them.
Result<void, ProofError> take_tiles(
    const Claim& claim, const AtPartial& at, const PartialProof& proof, PartialInput& input
) {
    const DisputedNode& node = at.tile.node;
    const Node& opened = std::get<Node>(node.node);
    std::vector<TileRef> refs = canonical::operands_of(opened, at.tile.index, at.partial);
    if (proof.tiles.size() < refs.size()) {
        return Unexpected{ProofError::kBadTile};
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
        TRY(check_tile(claim, node, refs[i], proof.tiles[i]));
        input.tiles.push_back(proof.tiles[i].tile);
    }
    const auto dependent = canonical::dependent_operand(opened, at.tile.index, at.partial, input.tiles);
    if (dependent) {
        if (proof.tiles.size() < refs.size() + 1) {
            return Unexpected{ProofError::kBadTile};
        }
        TRY(check_tile(claim, node, *dependent, proof.tiles[refs.size()]));
        input.tiles.push_back(proof.tiles[refs.size()].tile);
    }
    if (proof.tiles.size() != input.tiles.size()) {
        return Unexpected{ProofError::kSuperfluous};
    }
    return {};
}

/// DSP-22: the chunks are those that hold the row's values, which the batch order names.
Result<void, ProofError> take_values(
    const Claim& claim, const AtPartial& at, const canonical::StepContext& context, const PartialProof& proof,
    PartialInput& input
) {
    const auto span = canonical::dataset_span_of(std::get<Node>(at.tile.node.node), at.tile.index, at.partial, context);
    if (!span) {
        return proof.chunks.empty() ? Result<void, ProofError>() : Unexpected{ProofError::kSuperfluous};
    }
    const canonical::DatasetShape& dataset = claim.program.dataset;
    const ChunkRange range = chunks_of(dataset, *span);
    if (proof.chunks.size() != range.count) {
        return Unexpected{ProofError::kBadChunk};
    }
    Bytes stored;
    for (std::uint32_t i = 0; i < range.count; ++i) {
        const ChunkOpening& chunk = proof.chunks[i];
        const std::uint64_t begin = (range.first + i) * canonical::kChunkBytes;
        const std::uint64_t size =
            std::min<std::uint64_t>(canonical::kChunkBytes, canonical::byte_count(dataset) - begin);
        if (chunk.data.size() != size ||
            merkle::root_from_path(
                chunk_leaf(chunk.data), range.first + i, canonical::chunk_count(dataset), chunk.path
            ) != claim.dataset_root) {
            return Unexpected{ProofError::kBadChunk};
        }
        append(stored, chunk.data);
    }
    input.dataset_values =
        canonical::decode_values(dataset.storage, ByteView(stored).subspan(range.offset, range.bytes));
    return {};
}

/// DSP-20: the accumulator is the one revealed for the partial before.
Result<void, ProofError> take_accumulator(const AtPartial& at, const PartialProof& proof, PartialInput& input) {
    if (proof.before.has_value() != at.accumulator_before.has_value()) {
        return Unexpected{ProofError::kBadAccumulator};
    }
    if (proof.before && (proof.before->data.size() > canonical::kMaxAccumulatorBytes ||
                         accumulator_hash(*proof.before) != *at.accumulator_before)) {
        return Unexpected{ProofError::kBadAccumulator};
    }
    input.before = proof.before;
    return {};
}

/// What the partial leaves, in the form in which it was claimed.
Result<canonical::PartialOutput, canonical::PartialError> execute(
    const DisputedTile& tile, std::uint32_t partial, const canonical::StepContext& context, const PartialInput& input
) {
    const Node& node = std::get<Node>(tile.node.node);
    if (tile.is_part) {
        TRY_ASSIGN(canonical::Accumulator left, canonical::execute_part(node, tile.index, partial, context, input));
        return canonical::PartialOutput{.accumulator = std::move(left), .tile = std::nullopt};
    }
    return canonical::execute_partial(node, tile.index, partial, context, input);
}

Result<Execution, ProofError> execute_at(const Claim& claim, const AtPartial& at, const PartialProof& proof) {
    const DisputedTile& tile = at.tile;
    const canonical::StepContext context = context_of(claim, tile.node.step);
    Execution done;
    TRY(take_accumulator(at, proof, done.input));
    TRY(take_tiles(claim, at, proof, done.input));
    TRY(take_values(claim, at, context, proof, done.input));
    auto output = execute(tile, at.partial, context, done.input);
    if (!output) {
        // Everything read was claimed by the responder; what it claimed cannot be executed only when the accumulator
        // has an impossible form, which the responder alone revealed.
        return output.error() == canonical::PartialError::kBadAccumulator
                   ? Result<Execution, ProofError>(std::move(done))
                   : Result<Execution, ProofError>(Unexpected{ProofError::kBadTile});
    }
    done.hash = output->tile ? tile_leaf(*output->tile) : accumulator_hash(*output->accumulator);
    done.output = *std::move(output);
    return done;
}

Result<Ruling, ProofError> judge_at(const Claim& claim, const AtPartial& at, const PartialProof& proof) {
    TRY_ASSIGN(const Execution done, execute_at(claim, at, proof));
    return done.output && done.hash == at.accumulator_after ? Ruling::kClaimHolds : Ruling::kClaimRefuted;
}

/// DSP-23: a tensor of the state after a step is the one that kCommit names for its place.
Result<Ruling, ProofError> judge_at(const Claim& claim, const AtTensor& at, const EntryProof& proof) {
    const Hash256& inputs_root = std::get<CommitNode>(at.node.node).inputs_root;
    const std::uint32_t tensors = claim.program.state_tensors;
    const bool is_input =
        merkle::root_from_path(input_leaf(proof.input), at.tensor, tensors, proof.input_path) == inputs_root;
    if (!is_input || !is_claimed(claim, at.node, proof.input, proof.commitment, proof.path)) {
        return Unexpected{ProofError::kBadEntry};
    }
    return proof.commitment == at.claim ? Ruling::kClaimHolds : Ruling::kClaimRefuted;
}

Result<Ruling, ProofError> judge_at(const Claim& /*claim*/, const AtPartial& /*at*/, const EntryProof& /*proof*/) {
    return Unexpected{ProofError::kWrongKind};
}

Result<Ruling, ProofError> judge_at(const Claim& /*claim*/, const AtTensor& /*at*/, const PartialProof& /*proof*/) {
    return Unexpected{ProofError::kWrongKind};
}

template <class AnyProof>
Result<Ruling, ProofError> judge_at(const Claim& /*claim*/, const Bisection& /*at*/, const AnyProof& /*proof*/) {
    return Unexpected{ProofError::kNotAtProof};
}

/// The two kinds of proof that end a bisection.
template <class EndingProof>
Result<Ruling, ProofError> judge_proof(const Claim& claim, const Position& position, const EndingProof& proof) {
    return std::visit([&](const auto& at) { return judge_at(claim, at, proof); }, position.at);
}

/// DSP-27: NUM-6 has no next state for a step that diverged, so whoever claims one is wrong; but for the last step of
/// a claim that says so.
Result<Ruling, ProofError> judge_proof(const Claim& claim, const Position& position, const DivergenceProof& proof) {
    const DisputedStep* step = position.step();
    if (step == nullptr) {
        return Unexpected{ProofError::kNotAtProof};
    }
    const bool is_admitted = claim.diverges && step->number == last_step(claim);
    if (is_admitted || !shows_divergence(proof.opening, step->state_after, claim.program.state_tensors)) {
        return Unexpected{ProofError::kNoDivergence};
    }
    return Ruling::kClaimRefuted;
}

}  // namespace

Result<Ruling, ProofError> judge(const Claim& claim, const Position& position, const Proof& proof) noexcept {
    if (!is_possible(claim, position)) {
        return Unexpected{ProofError::kNotAtProof};
    }
    return std::visit([&](const auto& kind) { return judge_proof(claim, position, kind); }, proof);
}

Result<Execution, ProofError> execute_disputed(
    const Claim& claim, const Position& position, const PartialProof& proof
) noexcept {
    const auto* at = std::get_if<AtPartial>(&position.at);
    if (at == nullptr || !is_possible(claim, position)) {
        return Unexpected{ProofError::kNotAtProof};
    }
    return execute_at(claim, *at, proof);
}

}  // namespace assay::dispute
