// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/dispute/game.hpp>
#include <core/canonical/partial.hpp>

using namespace assay;
using namespace assay::dispute;
using namespace assay::dispute::testing;
using canonical::DType;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

std::vector<Hash256> noise(std::size_t count, std::uint64_t seed) {
    std::vector<Hash256> hashes;
    for (std::uint64_t i = 0; i < count; ++i) {
        hashes.push_back(crypto::sha256(codec::encode(std::vector{seed, i})));
    }
    return hashes;
}

/// `children`, each a subtree of height `height`, with the padding that a level of `width` children has.
std::vector<Hash256> padded(std::vector<Hash256> children, std::size_t width, std::uint32_t height) {
    children.resize(width, merkle::empty_root(height));
    return children;
}

/// State roots only: what a party needs as long as steps are in question.
class RootsReplay final : public Replay {
  public:
    explicit RootsReplay(std::uint64_t wrong_from) : wrong_from_(wrong_from) {}
    Hash256 state_root_after(std::uint64_t step) override {
        return crypto::sha256(codec::encode(std::vector{step, std::uint64_t{step >= wrong_from_ ? 1U : 0U}}));
    }
    std::size_t state_size(std::uint64_t) override { return 0; }
    const canonical::Tensor& state_tensor(std::uint64_t, std::uint32_t) override { return nothing_; }
    const canonical::Tensor& node_output(std::uint64_t, std::uint32_t) override { return nothing_; }
    std::optional<std::uint64_t> diverged_at() override { return std::nullopt; }
    const canonical::Graph& graph() override { return graph_; }
    const canonical::RowSource& rows() override { return rows_; }
    const merkle::Tree& dataset_tree() override { return rows_tree_; }

  private:
    std::uint64_t wrong_from_;
    canonical::Tensor nothing_;
    canonical::Graph graph_;
    MemoryRows rows_{{.rows = 1, .width = 1}, 2};
    merkle::Tree rows_tree_{{Hash256{}}};
};

constexpr std::uint32_t kSteps = 1'000;
constexpr std::uint32_t kEntries = 10'000;
constexpr canonical::Shape kOutput{32'000, 32'000};  // 10^6 tiles, 10^9 elements
constexpr canonical::Shape kOperand{32'000, 8'192};  // 256 partials
constexpr canonical::Shape kExponents{32'000, 4};
constexpr std::uint32_t kNode = 70 * 128 + 127;
constexpr std::uint64_t kTile = 777'777;
constexpr std::uint32_t kPartial = 127;  // closes the second chunk: reads four tiles and the longest accumulator

/// The largest game that is promised, with a made-up tree around one real partial.
struct LargestGame {
    struct Round {
        std::vector<Hash256> children;
        Selection selection;
    };
    Claim claim;
    PartialProof proof;
    std::vector<Round> rounds;

    explicit LargestGame(bool honest) {
        node_ = {Op::kContract, DType::kF32, kOutput, {21, 2'048}, {}};
        for (std::uint32_t i = 0; i < 4; ++i) {
            node_.inputs.push_back({Source::kNode, kNode - 1 - i, DType::kI32, i % 2 == 0 ? kOperand : kExponents});
        }
        auto entries = noise(128, 2);
        open_operands(entries);
        const auto partials = make_partials(honest);
        const auto tiles = make_tiles(partials.back());
        entries[kNode % 128] = tensor_commitment({DType::kF32, kOutput}, merkle::root_of(padded(tiles[0], 128, 13)));
        auto groups = noise(79, 3);
        groups[kNode / 128] = merkle::root_of(entries);
        for (std::uint32_t i = 0; i < 4; ++i) {
            auto path = merkle::Tree(entries).path(kNode % 128 - 1 - i);
            const auto upper = merkle::Tree(padded(groups, 128, 7)).path(kNode / 128);
            path.insert(path.end(), upper.begin(), upper.end());
            proof_at(i).source_path = path;
        }
        auto program = noise(kEntries, 4);
        program[kNode] = node_hash(node_);
        const merkle::Tree program_tree(program);
        claim.program.state_tensors = 12;
        claim.program.step_nodes = kEntries;
        claim.program.step_root = program_tree.root();
        claim.step_count = kSteps;
        auto far = noise(32, 5);
        auto near = noise(32, 6);
        claim.after = far.back();
        near.back() = far[20];
        rounds = {
            {far, {20, {}}},
            {near, {3, {}}},
            {groups, {kNode / 128, {}}},
            {entries, {kNode % 128, NodeOpening{node_, program_tree.path(kNode)}}},
            {tiles[0], {kTile >> 13U, {}}},
            {tiles[1], {(kTile >> 6U) % 128, {}}},
            {tiles[2], {kTile % 64, {}}},
            {partials, {kPartial, {}}},
        };
    }

  private:
    /// Operands in the order of operands_of are not in the order of inputs.
    TileOpening& proof_at(std::uint32_t input) {
        const auto refs = canonical::operands_of(node_, kTile, kPartial);
        const auto at = std::find_if(refs.begin(), refs.end(), [&](const auto& ref) { return ref.input == input; });
        return proof.tiles[static_cast<std::size_t>(at - refs.begin())];
    }

    void open_operands(std::vector<Hash256>& entries) {
        for (const canonical::TileRef& ref : canonical::operands_of(node_, kTile, kPartial)) {
            const Input& input = node_.inputs[ref.input];
            canonical::Tile tile = canonical::make_tile(DType::kI32);
            for (std::size_t i = 0; i < tile.data.size(); i += 4) {
                tile.data[i] = static_cast<std::uint8_t>(i / 4 * 37 + ref.input);
            }
            const std::uint64_t tiles = canonical::tile_count(input.shape);
            const auto path = noise(merkle::tree_depth(tiles), 10 + ref.input);
            const auto root = merkle::root_from_path(tile_leaf(tile), ref.tile, tiles, path);
            entries[input.index % 128] = tensor_commitment({input.dtype, input.shape}, root.value());
            proof.tiles.push_back({std::move(tile), path, {}});
        }
        proof.before = canonical::Accumulator{Bytes(canonical::kMaxAccumulatorBytes)};
    }

    std::vector<Hash256> make_partials(bool honest) {
        canonical::PartialInput input{proof.before, {}, {}};
        for (const TileOpening& opening : proof.tiles) {
            input.tiles.push_back(opening.tile);
        }
        const auto output = canonical::execute_partial(node_, kTile, kPartial, {}, input);
        REQUIRE(output.has_value());
        auto partials = noise(256, 7);
        partials[kPartial - 1] = accumulator_hash(*proof.before);
        if (honest) {
            partials[kPartial] = accumulator_hash(*output->accumulator);
        }
        return partials;
    }

    /// The three reveals of 10^6 tiles, from the coarsest on.
    static std::vector<std::vector<Hash256>> make_tiles(const Hash256& leaf) {
        auto leaves = noise(64, 20);
        leaves[kTile % 64] = leaf;
        auto middle = noise(128, 21);
        middle[(kTile >> 6U) % 128] = merkle::root_of(leaves);
        auto coarse = noise(123, 22);
        coarse[kTile >> 13U] = merkle::root_of(middle);
        return {coarse, middle, leaves};
    }

    Node node_;
};

}  // namespace

TEST_CASE("DSP-4: the largest game promised is played in 8 rounds and 64 KiB") {
    for (const bool honest : {true, false}) {
        CAPTURE(honest);
        const LargestGame game(honest);
        REQUIRE(game.rounds.size() == kMaxRounds);
        Position p = start_position(game.claim);
        std::size_t bytes = codec::encode(Proof(game.proof)).size();
        for (const LargestGame::Round& round : game.rounds) {
            REQUIRE_FALSE(p.is_at_proof());
            const auto revealed = reveal(game.claim, p, round.children);
            REQUIRE(revealed.has_value());
            const auto selected = select(game.claim, *revealed, round.selection);
            REQUIRE(selected.has_value());
            p = *selected;
            bytes += codec::encode(round.children).size() + codec::encode(round.selection).size();
        }
        REQUIRE(p.is_at_proof());
        CHECK(p.rounds == kMaxRounds);
        const Pinpoint at = pinpoint(p);
        CHECK(at.step == 20 * 32 + 3);
        CHECK(at.node == kNode);
        CHECK(at.tile == kTile);
        CHECK(at.partial == kPartial);
        const auto start = std::chrono::steady_clock::now();
        const auto ruling = judge(game.claim, p, game.proof);
        const auto us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
        REQUIRE(ruling.has_value());
        CHECK(*ruling == (honest ? Ruling::kClaimHolds : Ruling::kClaimRefuted));
        CHECK(bytes <= 65'536);
        MESSAGE("moves and proof: " << bytes << " bytes, ruling " << us << " us");
    }
}

TEST_CASE("DSP-4: a graph of any size takes at most two rounds of nodes") {
    for (const std::uint32_t nodes : {2U, 256U, 257U, 10'000U, canonical::kMaxNodes}) {
        CAPTURE(nodes);
        Claim claim;
        claim.program.step_nodes = nodes;
        const Split first = split(claim, start_position(claim));
        CHECK(first.count <= kMaxChildren);
        CHECK(first.child_height <= 8);
        CHECK((first.child_height == 0) == (nodes <= kMaxChildren));
    }
}

TEST_CASE("DSP-7: a sequence of any length is bisected to the first wrong step") {
    for (const std::uint32_t steps : {2U, 3U, 255U, 256U, 257U, 1'000U, 4'097U, 65'536U, 70'000U}) {
        RootsReplay honest(~std::uint64_t{0});
        for (const std::uint32_t wrong : {0U, 1U, steps / 3, steps / 2, steps - 2, steps - 1}) {
            CAPTURE(steps);
            CAPTURE(wrong);
            constexpr std::uint64_t kFirst = 5'000;
            RootsReplay liar(kFirst + wrong);
            Claim claim;
            claim.program.step_nodes = 2;
            claim.first_step = kFirst;
            claim.step_count = steps;
            claim.before = honest.state_root_after(kFirst - 1);
            claim.after = liar.state_root_after(kFirst + steps - 1);
            Position p = start_position(claim);
            while (p.level() == Level::kSteps) {
                const auto revealed = reveal(claim, p, make_reveal(claim, p, liar));
                REQUIRE(revealed.has_value());
                p = select(claim, *revealed, make_selection(claim, *revealed, honest)).value();
            }
            const auto* step = p.step();
            REQUIRE(step != nullptr);
            CHECK(p.level() == Level::kNodes);
            CHECK(p.rounds <= (steps <= 256 ? 1U : steps <= 65'536 ? 2U : 3U));
            CHECK(step->number == kFirst + wrong);
            CHECK(step->state_before == honest.state_root_after(kFirst + wrong - 1));
            CHECK(step->state_after == liar.state_root_after(kFirst + wrong));
        }
    }
}
