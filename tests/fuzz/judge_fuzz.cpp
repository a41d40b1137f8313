// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/dispute_shapes.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/rules.hpp>

/// Any proof, at any place of any node that a dispute can have come to.
namespace assay::fuzz {
namespace {

/// What select() has made sure of when a partial or a tensor of the next state is disputed.
bool is_reachable(const dispute::Claim& claim, const dispute::Position& p) {
    const dispute::DisputedNode* node = p.node();
    if (!p.is_at_proof() || node == nullptr) {
        return false;
    }
    const auto* computed = std::get_if<canonical::Node>(&node->node);
    if (computed != nullptr && !canonical::check_node(*computed)) {
        return false;
    }
    const std::uint32_t entries = claim.initialisation ? claim.program.init_nodes : claim.program.step_nodes;
    if (node->index >= entries || entries > canonical::kMaxNodes) {
        return false;
    }
    if (const auto* tensor = std::get_if<dispute::AtTensor>(&p.at)) {
        return computed == nullptr && tensor->tensor < dispute::tile_total(claim, node->node);
    }
    const auto& partial = std::get<dispute::AtPartial>(p.at);
    return computed != nullptr && partial.tile.index < dispute::tile_total(claim, node->node) &&
           partial.partial < dispute::partial_total(partial.tile);
}

}  // namespace

void run(ByteView input) {
    const auto c = round_trip<JudgeCase>(input);
    if (!c) {
        return;
    }
    (void)dispute::pinpoint(c->position);
    const auto start = dispute::start_position(c->claim);
    const bool shows_divergence = std::holds_alternative<dispute::DivergenceProof>(c->proof);
    ASSERT(shows_divergence || dispute::judge(c->claim, start, c->proof).error() == dispute::ProofError::kNotAtProof);
    if (is_reachable(c->claim, c->position)) {
        const auto ruling = dispute::judge(c->claim, c->position, c->proof);
        const auto again = dispute::judge(c->claim, c->position, c->proof);
        ASSERT(ruling.has_value() == again.has_value() && (!ruling || *ruling == *again));
    } else if (!c->position.is_at_proof() && !shows_divergence) {
        ASSERT(!dispute::judge(c->claim, c->position, c->proof));
    }
}

}  // namespace assay::fuzz
