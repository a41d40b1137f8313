// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/dispute_shapes.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <core/dispute/rules.hpp>

/// Any proof, at any place of any node that a dispute can have come to.
namespace assay::fuzz {
namespace {

/// What select() has made sure of when a position is at kProof.
bool is_reachable(const dispute::Claim& claim, const dispute::Position& p) {
    if (p.level != dispute::Level::kProof || !p.node || !canonical::check_node(*p.node)) {
        return false;
    }
    const std::uint32_t entries = claim.initialisation ? claim.program.init_nodes : claim.program.step_nodes;
    if (p.first_node >= entries || entries > canonical::kMaxNodes) {
        return false;
    }
    return p.first_tile < dispute::tile_total(*p.node) &&
           p.first_partial < dispute::partial_total(*p.node, p.first_tile);
}

}  // namespace

void run(ByteView input) {
    const auto c = round_trip<JudgeCase>(input);
    if (!c) {
        return;
    }
    (void)dispute::pinpoint(c->position);
    const auto start = dispute::start_position(c->claim);
    ASSERT(dispute::judge(c->claim, start, c->proof).error() == dispute::ProofError::kNotAtProof);
    if (is_reachable(c->claim, c->position)) {
        const auto ruling = dispute::judge(c->claim, c->position, c->proof);
        const auto again = dispute::judge(c->claim, c->position, c->proof);
        ASSERT(ruling.has_value() == again.has_value() && (!ruling || *ruling == *again));
    } else if (c->position.level != dispute::Level::kProof) {
        ASSERT(!dispute::judge(c->claim, c->position, c->proof));
    }
}

}  // namespace assay::fuzz
