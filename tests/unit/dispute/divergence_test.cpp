// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include <core/codec/borsh.hpp>
#include <tests/unit/dispute/game.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;

namespace {

/// A state of one f32 tensor of zeros but for one element.
std::vector<canonical::Tensor> state_with(canonical::Shape shape, std::uint64_t element, std::uint32_t bits) {
    auto tensor = canonical::make_tensor(canonical::DType::kF32, shape);
    for (std::size_t i = 0; i < 4; ++i) {
        tensor.data[static_cast<std::size_t>(element) * 4 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
    return {tensor};
}

/// A dispute about a claim over steps [0, steps) of the squaring world by a challenger who computed honestly.
Outcome play_out(const Claim& claim, const World& world, ScalarReplay& responder) {
    ScalarReplay challenger(world, false, 7);
    return play(claim, responder, challenger, true);
}

}  // namespace

TEST_CASE("NUM-6: an infinity or a NaN anywhere in a tensor is found and opened, and nothing else is") {
    const canonical::Shape shape{40, 70};
    for (const std::uint64_t element : {0U, 31U, 32U, 69U, 70U * 31U + 64U, 70U * 39U, 70U * 40U - 1U}) {
        for (const std::uint32_t bits : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0x7f800001U, 0xffffffffU}) {
            const auto state = state_with(shape, element, bits);
            const auto opening = open_divergence(state);
            REQUIRE(opening.has_value());
            CHECK(has_diverged(*opening));
            CHECK(state_root_of(*opening, 1) == root_of(state));
        }
        for (const std::uint32_t bits : {0U, 0x7f7fffffU, 0xff7fffffU, 0x00000001U, 0x007fffffU, 0x3f800000U}) {
            CHECK_FALSE(open_divergence(state_with(shape, element, bits)).has_value());
        }
    }
    for (const std::uint64_t element : {0U, 33U, 2799U}) {
        for (const std::uint32_t half : {0U, 0x7f7fU, 0xff7fU, 0x7f80U, 0xff80U, 0x7fc0U, 0x7f81U}) {
            CAPTURE(half);
            std::vector<canonical::Tensor> state{canonical::make_tensor(canonical::DType::kBf16, shape)};
            state[0].data[2 * element] = static_cast<std::uint8_t>(half);
            state[0].data[2 * element + 1] = static_cast<std::uint8_t>(half >> 8U);
            const auto opening = open_divergence(state);
            REQUIRE(opening.has_value() == ((half & 0x7f80U) == 0x7f80U));
            CHECK((!opening || state_root_of(*opening, 1) == root_of(state)));
        }
    }
    std::vector<canonical::Tensor> bytes{canonical::make_tensor(canonical::DType::kI8, shape)};
    std::fill(bytes[0].data.begin(), bytes[0].data.end(), std::uint8_t{0x7f});
    CHECK_FALSE(open_divergence(bytes).has_value());
    auto integers = state_with({1, 1}, 0, 0x7f800000U);
    integers[0].dtype = canonical::DType::kI32;
    CHECK_FALSE(open_divergence(integers).has_value());
}

TEST_CASE("NUM-6: padding, a tile beyond the tensor and another type are no divergence") {
    StateOpening opening = open_divergence(state_with({3, 5}, 14, 0x7f800000U)).value();
    CHECK(has_diverged(opening));
    opening.type.shape = {2, 5};
    CHECK(is_well_formed(opening));
    CHECK_FALSE(has_diverged(opening));
    opening.type.shape = {3, 4};
    CHECK_FALSE(has_diverged(opening));
    opening.type.shape = {3, 5};
    opening.tile = 1;
    CHECK_FALSE(has_diverged(opening));
    CHECK_FALSE(state_root_of(opening, 1).has_value());
    opening.tile = 0;
    CHECK_FALSE(state_root_of(opening, 2) == state_root_of(opening, 1));
    opening.tensor = 1;
    CHECK_FALSE(state_root_of(opening, 1).has_value());
    opening.type.dtype = canonical::DType::kI64;
    CHECK_FALSE(is_well_formed(opening));
    opening.type = {canonical::DType::kF32, {0, 5}};
    CHECK_FALSE(is_well_formed(opening));
    opening.type = {canonical::DType::kF32, {3, canonical::kMaxDimension + 1}};
    CHECK_FALSE(is_well_formed(opening));
}

TEST_CASE("DSP-27: who goes on after a step that diverged is refuted by the state that it claims after it") {
    const World world = squaring_world();
    for (const std::uint32_t steps : {5U, 6U, 9U, 300U}) {
        CAPTURE(steps);
        ScalarReplay responder(world, false, 7);
        const Claim claim = make_claim(world, responder, false, 0, steps, 7);
        const Outcome outcome = play_out(claim, world, responder);
        CHECK(outcome.ruling == Ruling::kClaimRefuted);
        REQUIRE(std::holds_alternative<DivergenceProof>(outcome.proof));
        CHECK(std::get<DivergenceProof>(outcome.proof).opening.tensor == 1);
        CHECK(pinpoint(outcome.position).step == kSquaringDiverges);
        CHECK(outcome.bytes < 16'384);
    }
    // A claim of the one step alone begins at its nodes.
    ScalarReplay responder(world, false, 7);
    responder.state_root_after(kSquaringDiverges - 1);
    const Claim claim = make_claim(world, responder, false, kSquaringDiverges, 1, 7);
    ScalarReplay challenger(world, false, 7);
    CHECK(play(claim, responder, challenger, true).ruling == Ruling::kClaimRefuted);
}

TEST_CASE("DSP-27: a claim that its last step diverges holds when it does, and is refuted when a step before did") {
    const World world = squaring_world();
    ScalarReplay responder(world, false, 7);
    const Claim right = make_diverging_claim(world, responder, 0, kSquaringDiverges + 1);
    for (const bool responder_proves : {false, true}) {
        ScalarReplay liar(world, false, 7, {flip(2, 0, 3)});
        const Outcome outcome = play(right, responder, liar, !responder_proves);
        CHECK(outcome.ruling == Ruling::kClaimHolds);
        CHECK_FALSE(std::holds_alternative<DivergenceProof>(outcome.proof));
    }
    for (const std::uint32_t late : {1U, 2U, 30U}) {
        const Claim claim =
            make_diverging_claim(world, responder, 0, static_cast<std::uint32_t>(kSquaringDiverges) + 1 + late);
        const Outcome outcome = play_out(claim, world, responder);
        CHECK(outcome.ruling == Ruling::kClaimRefuted);
        CHECK(pinpoint(outcome.position).step == kSquaringDiverges);
    }
}

TEST_CASE("DSP-27: a claim that a step diverges which does not is bisected like any other") {
    const World world = squaring_world();
    // The squared tensor, made infinite two steps before it becomes so.
    Lie lie{.step = 2, .node = 0, .alter = [](canonical::Tensor& t) {
                t = state_with({3, 5}, 14, 0x7f800000U).front();
            }};
    ScalarReplay responder(world, false, 7, {lie});
    const Claim claim = make_diverging_claim(world, responder, 0, 3);
    REQUIRE(open_divergence(responder.state_before(3)).has_value());
    const Outcome outcome = play_out(claim, world, responder);
    CHECK(outcome.ruling == Ruling::kClaimRefuted);
    CHECK_FALSE(std::holds_alternative<DivergenceProof>(outcome.proof));
    CHECK(pinpoint(outcome.position).node == 0U);
}

TEST_CASE("DSP-27: only a value that is not finite, of the state in question, refutes") {
    const World world = squaring_world();
    ScalarReplay replay(world, false, 7);
    const Claim claim = make_claim(world, replay, false, 0, kSquaringDiverges + 2, 7);
    Position p = start_position(claim);
    const DivergenceProof good{open_divergence(replay.state_before(kSquaringDiverges + 1)).value()};
    CHECK(judge(claim, p, good).error() == ProofError::kNotAtProof);
    p = reveal(claim, p, make_reveal(claim, p, replay)).value();
    CHECK(judge(claim, p, good).error() == ProofError::kNotAtProof);
    p = select(claim, p, make_selection(claim, p, replay)).value();
    REQUIRE(p.level() == Level::kNodes);
    CHECK(pinpoint(p).step == kSquaringDiverges);
    CHECK(judge(claim, p, good).value() == Ruling::kClaimRefuted);
    // With children pending, at tiles and at the proof as well.
    Position later = reveal(claim, p, make_reveal(claim, p, replay)).value();
    CHECK(judge(claim, later, good).value() == Ruling::kClaimRefuted);
    later = select(claim, later, make_selection(claim, later, replay)).value();
    CHECK(later.level() == Level::kTiles);
    CHECK(judge(claim, later, good).value() == Ruling::kClaimRefuted);

    const auto refused = [&](const DivergenceProof& proof) {
        return judge(claim, p, proof).error() == ProofError::kNoDivergence;
    };
    DivergenceProof proof = good;
    proof.opening.opening.tile.data[0] ^= 1U;
    CHECK(refused(proof));
    proof = good;
    proof.opening.opening.source_path.pop_back();
    CHECK(refused(proof));
    proof = good;
    proof.opening.tensor = 0;
    CHECK(refused(proof));
    proof = good;
    proof.opening.opening.tile.dtype = canonical::DType::kI64;
    CHECK(refused(proof));
    proof = good;
    auto other = replay.state_before(kSquaringDiverges + 1);
    other[0].data[0] ^= 1U;
    proof.opening = open_divergence(other).value();
    CHECK(refused(proof));
    Claim admitted = claim;
    admitted.diverges = true;
    admitted.step_count = static_cast<std::uint32_t>(kSquaringDiverges) + 1;
    CHECK(judge(admitted, p, good).error() == ProofError::kNoDivergence);
}

TEST_CASE("DSP-25: no altered byte of a proof of divergence convicts a responder whose states are finite") {
    const World world = squaring_world();
    ScalarReplay honest(world, false, 7);
    const Claim claim = make_claim(world, honest, false, 0, 1, 7);
    Position p = start_position(claim);
    Proof proof = DivergenceProof{open_divergence(state_with({3, 5}, 3, 0x7f800000U)).value()};
    CHECK(judge(claim, p, proof).error() == ProofError::kNoDivergence);
    // The real tile of the claimed state, any bit of it altered.
    const auto& state = honest.state_before(1);
    const std::vector<Hash256> commitments{commit_tensor(state[0]), commit_tensor(state[1])};
    proof = DivergenceProof{
        {.tensor = 1,
         .tile = 0,
         .type = {state[1].dtype, state[1].shape},
         .opening = {
             .tile = canonical::tile_of(state[1], 0),
             .tile_path = tile_tree(state[1]).path(0),
             .source_path = merkle::Tree(commitments).path(1)}}};
    const Bytes bytes = codec::encode(proof);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        Bytes altered = bytes;
        altered[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        const auto decoded = codec::decode<Proof>(altered);
        if (decoded) {
            CHECK_MESSAGE(!judge(claim, p, *decoded).has_value(), "byte " << at);
        }
    }
}
