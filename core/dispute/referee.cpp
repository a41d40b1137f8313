// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/referee.hpp>

#include <core/merkle/tree.hpp>
#include <core/dispute/rules.hpp>

namespace assay::dispute {
namespace {

using canonical::Input;
using canonical::Op;
using canonical::PartialInput;
using canonical::Source;
using canonical::TileRef;

/// DSP-21, DSP-23: whether `commitment` is what the responder claimed for `input`: an entry of the step that comes
/// before the disputed node, or a tensor of the state before the step.
bool is_claimed(
    const Claim& claim, const Position& p, const Input& input, const Hash256& commitment, std::span<const Hash256> path
) {
    if (input.source == Source::kNode) {
        return input.index < p.first_node &&
               merkle::root_from_path(commitment, input.index, entry_count(claim), path) == p.trace_root;
    }
    const std::uint32_t tensors = tensors_before(claim);
    const auto root = merkle::root_from_path(commitment, input.index, tensors, path);
    return root.has_value() && state_root_from(tensors, *root) == p.state_before;
}

Result<void, ProofError> check_tile(
    const Claim& claim, const Position& p, const TileRef& ref, const TileOpening& opening
) {
    const Input& input = p.node->inputs[ref.input];
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
    if (!is_claimed(claim, p, input, tensor, opening.source_path)) {
        return Unexpected{ProofError::kBadTilePath};
    }
    return {};
}

/// DSP-20, DSP-21: the tiles are those that the partial reads, as the responder claimed them.
Result<void, ProofError> take_tiles(const Claim& claim, const Position& p, const Proof& proof, PartialInput& input) {
    std::vector<TileRef> refs = canonical::operands_of(*p.node, p.first_tile, p.first_partial);
    if (proof.tiles.size() < refs.size()) {
        return Unexpected{ProofError::kBadTile};
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
        TRY(check_tile(claim, p, refs[i], proof.tiles[i]));
        input.tiles.push_back(proof.tiles[i].tile);
    }
    const auto dependent = canonical::dependent_operand(*p.node, p.first_tile, p.first_partial, input.tiles);
    if (dependent) {
        if (proof.tiles.size() < refs.size() + 1) {
            return Unexpected{ProofError::kBadTile};
        }
        TRY(check_tile(claim, p, *dependent, proof.tiles[refs.size()]));
        input.tiles.push_back(proof.tiles[refs.size()].tile);
    }
    if (proof.tiles.size() != input.tiles.size()) {
        return Unexpected{ProofError::kSuperfluous};
    }
    return {};
}

/// DSP-22: the dataset row is the one that the batch order names.
Result<void, ProofError> take_row(
    const Claim& claim, const Position& p, const canonical::StepContext& context, const Proof& proof,
    PartialInput& input
) {
    const auto row = canonical::dataset_row_of(*p.node, p.first_tile, p.first_partial, context);
    if (row.has_value() != proof.row.has_value()) {
        return Unexpected{row ? ProofError::kBadRow : ProofError::kSuperfluous};
    }
    if (!row) {
        return {};
    }
    const bool right_length = proof.row->row.size() == std::size_t{4} * claim.program.dataset.width;
    if (!right_length ||
        merkle::root_from_path(row_leaf(proof.row->row), *row, claim.program.dataset.rows, proof.row->path) !=
            claim.dataset_root) {
        return Unexpected{ProofError::kBadRow};
    }
    input.dataset_row = proof.row->row;
    return {};
}

/// DSP-20: the accumulator is the one revealed for the partial before.
Result<void, ProofError> take_accumulator(const Position& p, const Proof& proof, PartialInput& input) {
    const bool needed = p.first_partial > 0;
    if (proof.before.has_value() != needed) {
        return Unexpected{ProofError::kBadAccumulator};
    }
    if (needed) {
        if (proof.before->data.size() > canonical::kMaxAccumulatorBytes ||
            accumulator_hash(*proof.before) != p.accumulator_before) {
            return Unexpected{ProofError::kBadAccumulator};
        }
        input.before = proof.before;
    }
    return {};
}

/// DSP-23: a tensor of the state after a step is the one that kCommit names for its place.
Result<Ruling, ProofError> judge_commit(const Claim& claim, const Position& p, const Proof& proof) {
    if (proof.before || proof.row || !proof.tiles.empty()) {
        return Unexpected{ProofError::kSuperfluous};
    }
    if (!proof.entry) {
        return Unexpected{ProofError::kBadEntry};
    }
    const Input& input = p.node->inputs[p.first_tile];
    if (!is_claimed(claim, p, input, proof.entry->commitment, proof.entry->path)) {
        return Unexpected{ProofError::kBadEntry};
    }
    return proof.entry->commitment == p.tile_claim ? Ruling::kClaimHolds : Ruling::kClaimRefuted;
}

/// DSP-27: NUM-6 has no next state for a step that diverged, so whoever claims one is wrong; but for the last step of
/// a claim that says so.
Result<Ruling, ProofError> judge_divergence(const Claim& claim, const Position& p, const Proof& proof) {
    if (proof.before || proof.row || proof.entry || !proof.tiles.empty()) {
        return Unexpected{ProofError::kSuperfluous};
    }
    const bool is_admitted = claim.diverges && p.first_step == last_step(claim);
    if (is_admitted || !shows_divergence(*proof.divergence, p.state_after, claim.program.state_tensors)) {
        return Unexpected{ProofError::kNoDivergence};
    }
    return Ruling::kClaimRefuted;
}

/// The hash of what the partial leaves, in the form in which it was claimed.
Hash256 claimable(const canonical::PartialOutput& output) {
    return output.tile ? tile_leaf(*output.tile) : accumulator_hash(*output.accumulator);
}

}  // namespace

Result<Ruling, ProofError> judge(const Claim& claim, const Position& p, const Proof& proof) noexcept {
    if (proof.divergence && p.level >= Level::kNodes && is_possible(claim, p)) {
        return judge_divergence(claim, p, proof);
    }
    if (proof.divergence || p.level != Level::kProof || !p.pending.empty() || !is_possible(claim, p)) {
        return Unexpected{ProofError::kNotAtProof};
    }
    if (p.node->op == Op::kCommit) {
        return judge_commit(claim, p, proof);
    }
    if (proof.entry) {
        return Unexpected{ProofError::kSuperfluous};
    }
    const canonical::StepContext context = context_of(claim, p);
    PartialInput input;
    TRY(take_accumulator(p, proof, input));
    TRY(take_tiles(claim, p, proof, input));
    TRY(take_row(claim, p, context, proof, input));
    const auto output = canonical::execute_partial(*p.node, p.first_tile, p.first_partial, context, input);
    if (!output) {
        // Everything read was claimed by the responder; what it claimed cannot be executed only when the accumulator
        // has an impossible form, which the responder alone revealed.
        return output.error() == canonical::PartialError::kBadAccumulator
                   ? Result<Ruling, ProofError>(Ruling::kClaimRefuted)
                   : Result<Ruling, ProofError>(Unexpected{ProofError::kBadTile});
    }
    return claimable(*output) == p.accumulator_after ? Ruling::kClaimHolds : Ruling::kClaimRefuted;
}

}  // namespace assay::dispute
