// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <functional>

#include <core/codec/borsh.hpp>
#include <tests/unit/dispute/game.hpp>
#include <core/dispute/commitment.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;

namespace {

/// A dispute of an honest claim, at its proof: the challenger lies about one element of `node`.
struct HonestCase {
    World world;
    ScalarReplay responder;
    ScalarReplay challenger;
    Claim claim;
    Outcome outcome;

    HonestCase(World w, std::uint32_t node, std::uint64_t element)
        : world(std::move(w)),
          responder(world, false, 7),
          challenger(world, false, 7, {flip(0, node, element)}),
          claim(make_claim(world, responder, false, 0, 1, 7)),
          outcome(play(claim, responder, challenger, false)) {}
};

std::uint32_t node_of(const World& world, canonical::Op op) {
    for (std::uint32_t i = 0; i < world.step.size(); ++i) {
        if (world.step[i].op == op) {
            return i;
        }
    }
    FAIL("the program has no such node");
    return 0;
}

}  // namespace

TEST_CASE("DSP-20: a proof without the right tiles and accumulator is refused") {
    // Element (0,0) of the last partial but one: an accumulator comes before it.
    const HonestCase c(contraction_world(160), 2, 0);
    REQUIRE(pinpoint(c.outcome.position).partial > 0U);
    REQUIRE(c.outcome.ruling == Ruling::kClaimHolds);
    const auto& whole = std::get<PartialProof>(c.outcome.proof);
    PartialProof proof = whole;
    proof.before.reset();
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadAccumulator);
    proof = whole;
    proof.before->data[0] ^= 1U;
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadAccumulator);
    proof = whole;
    proof.tiles.pop_back();
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadTile);
    proof = whole;
    proof.tiles[0].tile.dtype = canonical::DType::kI64;
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadTile);
}

TEST_CASE("DSP-21: a tile that was not claimed is refused") {
    const HonestCase c(contraction_world(160), 2, 0);
    const auto& whole = std::get<PartialProof>(c.outcome.proof);
    PartialProof proof = whole;
    proof.tiles[0].tile.data[0] ^= 1U;
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadTilePath);
    proof = whole;
    proof.tiles[1].tile_path.back().data[3] ^= 1U;
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadTilePath);
    proof = whole;
    proof.tiles[1].source_path.pop_back();
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadTilePath);
}

TEST_CASE("DSP-22: a dataset row other than the one the batch order names is refused") {
    World world = char_world();
    const std::uint32_t batch = node_of(world, canonical::Op::kBatchRows);
    const HonestCase c(std::move(world), batch, 4);
    PartialProof proof = std::get<PartialProof>(c.outcome.proof);
    REQUIRE(proof.chunks.size() == 1);
    CHECK(c.outcome.ruling == Ruling::kClaimHolds);
    proof.chunks[0].data[0] ^= 1U;
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadChunk);
    proof.chunks[0].data.pop_back();
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadChunk);
    proof.chunks.clear();
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadChunk);
    proof = std::get<PartialProof>(c.outcome.proof);
    proof.chunks.push_back(proof.chunks[0]);
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kBadChunk);
}

TEST_CASE("DSP-23: a tensor of the next state is judged from the commitment of the node that makes it") {
    const World world = wide_world(5, 2);
    ScalarReplay honest(world, false, 7);
    const auto last = static_cast<std::uint32_t>(world.step.size() - 1);
    // Tensor 4 passes through: its commitment is opened against the state before.
    for (const std::uint32_t tensor : {0U, 3U, 4U}) {
        CAPTURE(tensor);
        Lie lie = flip(0, last, 1);
        lie.tensor = tensor;
        ScalarReplay liar(world, false, 7, {lie});
        const Claim claim = make_claim(world, liar, false, 0, 1, 7);
        for (const bool challenger_proves : {false, true}) {
            const Outcome outcome = play(claim, liar, honest, challenger_proves);
            CHECK(outcome.ruling == Ruling::kClaimRefuted);
            const Pinpoint at = pinpoint(outcome.position);
            CHECK(at.op == canonical::Op::kCommit);
            CHECK(at.tensor == tensor);
            CHECK_FALSE(at.tile.has_value());
            CHECK_FALSE(at.partial.has_value());
            EntryProof proof = std::get<EntryProof>(outcome.proof);
            proof.commitment.data[0] ^= 1U;
            CHECK(judge(claim, outcome.position, proof).error() == ProofError::kBadEntry);
            proof = std::get<EntryProof>(outcome.proof);
            proof.path.pop_back();
            CHECK(judge(claim, outcome.position, proof).error() == ProofError::kBadEntry);
            proof = std::get<EntryProof>(outcome.proof);
            proof.input.index ^= 1U;
            CHECK(judge(claim, outcome.position, proof).error() == ProofError::kBadEntry);
            proof = std::get<EntryProof>(outcome.proof);
            proof.input_path.back().data[0] ^= 1U;
            CHECK(judge(claim, outcome.position, proof).error() == ProofError::kBadEntry);
        }
        const Claim right = make_claim(world, honest, false, 0, 1, 7);
        CHECK(play(right, honest, liar, false).ruling == Ruling::kClaimHolds);
    }
}

TEST_CASE("DSP-23: an earlier entry of the step is no commitment of another tensor") {
    const World world = wide_world(4, 1);
    ScalarReplay honest(world, false, 7);
    const Claim claim = make_claim(world, honest, false, 0, 1, 7);
    Outcome outcome = play(claim, honest, honest, false);
    REQUIRE(pinpoint(outcome.position).tensor == 3U);
    CHECK(outcome.ruling == Ruling::kClaimHolds);
    EntryProof proof = std::get<EntryProof>(outcome.proof);
    proof.commitment = commit_tensor(honest.node_output(0, 1));
    CHECK(judge(claim, outcome.position, proof).error() == ProofError::kBadEntry);
}

TEST_CASE("DSP-24: parts that the node does not read are refused") {
    const HonestCase c(contraction_world(160), 2, 0);
    const auto& whole = std::get<PartialProof>(c.outcome.proof);
    PartialProof proof = whole;
    proof.tiles.push_back(proof.tiles.front());
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kSuperfluous);
    proof = whole;
    proof.chunks = {ChunkOpening{.data = {0, 0, 0, 0}, .path = {}}};
    CHECK(judge(c.claim, c.outcome.position, proof).error() == ProofError::kSuperfluous);
}

TEST_CASE("DSP-24: a partial is not proven by a commitment, nor a tensor of the next state by a partial") {
    const HonestCase c(contraction_world(160), 2, 0);
    CHECK(judge(c.claim, c.outcome.position, EntryProof{}).error() == ProofError::kWrongKind);
    const World wide = wide_world(3, 1);
    ScalarReplay replay(wide, false, 7);
    const Claim claim = make_claim(wide, replay, false, 0, 1, 7);
    const Outcome commit = play(claim, replay, replay, false);
    CHECK(judge(claim, commit.position, commit.proof).has_value());
    CHECK(judge(claim, commit.position, c.outcome.proof).error() == ProofError::kWrongKind);
    CHECK(judge(claim, commit.position, PartialProof{}).error() == ProofError::kWrongKind);
}

TEST_CASE("DSP-25: no altered byte of an honest proof convicts an honest responder") {
    const HonestCase c(contraction_world(160), 2, 0);
    const Bytes honest = codec::encode(c.outcome.proof);
    std::size_t decoded = 0;
    for (std::size_t at = 0; at < honest.size(); at += at < 400 ? 1 : 97) {
        Bytes altered = honest;
        altered[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        const auto proof = codec::decode<Proof>(altered);
        if (!proof) {
            continue;
        }
        ++decoded;
        const auto ruling = judge(c.claim, c.outcome.position, *proof);
        CHECK_MESSAGE((!ruling || *ruling == Ruling::kClaimHolds), "byte " << at);
    }
    CHECK(decoded > 100);
}

TEST_CASE("DSP-26: a ruling takes the work of one partial") {
    const HonestCase c(contraction_world(160), 2, 0);
    const auto start = std::chrono::steady_clock::now();
    constexpr int kRepeats = 200;
    for (int i = 0; i < kRepeats; ++i) {
        REQUIRE(judge(c.claim, c.outcome.position, c.outcome.proof).has_value());
    }
    const auto us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    MESSAGE("ruling: " << us / kRepeats << " us for " << codec::encode(c.outcome.proof).size() << " bytes of proof");
}
