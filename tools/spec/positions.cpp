// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/dispute.hpp>
#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <tools/spec/files.hpp>
#include <tools/spec/random_value.hpp>

namespace assay::spec {
namespace {

using namespace dispute;
using canonical::Node;
using canonical::Op;

/// A step of two nodes: the largest of each row, over three tiles, and the commitment of the next state.
canonical::Graph make_graph() {
    const canonical::TensorType state{canonical::DType::kF32, {1, 96}};
    Node maximum{Op::kRowMax, canonical::DType::kF32, {1, 1}, {}, {}, {}};
    maximum.inputs = {{canonical::Source::kState, 0, state.dtype, state.shape}};
    Node commit{Op::kCommit, canonical::DType::kF32, {0, 0}, {}, {}, {}};
    commit.inputs = {{canonical::Source::kState, 0, state.dtype, state.shape}};
    return {maximum, commit};
}

/// Plays one dispute from its first position to the proof and writes down every move.
class Game {
  public:
    explicit Game(Json& out) : out_(out), words_(Words::of("positions")) {}

    void play() {
        const canonical::Graph graph = make_graph();
        claim_.program = commit_program(graph, graph, 1, 1, {1, 1});
        claim_.first_step = 10;
        claim_.step_count = 5;
        claim_.before = make_value<Hash256>(words_);
        claim_.after = make_value<Hash256>(words_);
        position_ = start_position(claim_);
        out_["claim"] = to_hex(codec::encode(claim_));
        out_["start"] = to_hex(codec::encode(position_));
        out_["moves"] = Json::array();
        const std::vector<Hash256> states = children(5, claim_.after);
        reveal(states);
        select({2, {}});
        // The entry of the first node follows from its only tile, whose leaf is revealed next.
        const Hash256 leaf = make_value<Hash256>(words_);
        const Hash256 entry = tensor_commitment({graph[0].dtype, graph[0].shape}, leaf);
        reveal({entry, states[2]});
        select({0, NodeOpening{graph[0], {node_hash(graph[1])}}});
        reveal({leaf});
        select({0, {}});
        reveal(children(3, leaf));
        select({1, {}});
        ASSERT(split(claim_, position_) == Split{});
    }

  private:
    std::vector<Hash256> children(std::size_t count, const Hash256& last) {
        std::vector<Hash256> out(count, last);
        for (std::size_t i = 0; i + 1 < count; ++i) {
            out[i] = make_value<Hash256>(words_);
        }
        return out;
    }
    void reveal(const std::vector<Hash256>& children) {
        const auto next = dispute::reveal(claim_, position_, children);
        ASSERT(next.has_value());
        take("reveal", codec::encode(children), *next);
    }
    void select(const Selection& selection) {
        const auto next = dispute::select(claim_, position_, selection);
        ASSERT(next.has_value());
        take("select", codec::encode(selection), *next);
    }
    void take(const char* kind, const Bytes& move, const Position& next) {
        position_ = next;
        out_["moves"].push_back(
            {{"move", kind}, {"bytes", to_hex(move)}, {"position", to_hex(codec::encode(position_))}}
        );
    }

    Json& out_;
    Words words_;
    Claim claim_;
    Position position_;
};

}  // namespace

Json positions_json() {
    Json out;
    Game(out).play();
    return out;
}

}  // namespace assay::spec
