// SPDX-License-Identifier: Apache-2.0
#include <tests/cross/referee_cases.hpp>

#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include <client/light_source.hpp>
#include <client/referee/checks.hpp>
#include <client/referee/judge.hpp>
#include <consensus/solo/block.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <tests/unit/dispute/game.hpp>

namespace assay::referee::testing {
namespace {

using dispute::Ruling;
using dispute::testing::Outcome;
using dispute::testing::ScalarReplay;
using dispute::testing::World;

crypto::SecretKey key_of(std::uint8_t seed) {
    Bytes bytes(32, seed);
    return crypto::SecretKey::from_bytes(bytes).value();
}

/// Turns a game that was played into the records that the chain would have of it.
class DisputeCases {
  public:
    explicit DisputeCases(std::vector<Case>& out) : out_(out) {}

    /// `claimed_tile` is what the responder computed, if the dispute ended at a tile and somebody still has it.
    void add(
        const std::string& name, const dispute::Claim& claim, const Outcome& outcome, bool by_challenger,
        const std::optional<Bytes>& claimed_tile = std::nullopt
    ) {
        contracts::Dispute record;
        record.id.data.fill(static_cast<std::uint8_t>(1 + out_.size()));
        record.task.data.fill(0x55);
        record.responder = responder_.account();
        record.challenger = challenger_.account();
        record.claim = claim;
        record.position = outcome.position;
        const bool is_refuted = outcome.ruling == Ruling::kClaimRefuted;
        contracts::DisputeEnd end;
        end.outcome = is_refuted ? contracts::DisputeOutcome::kRefuted : contracts::DisputeOutcome::kUpheld;
        end.reason = is_refuted ? contracts::Reason::kLostDispute : contracts::Reason::kFalseAccusation;
        record.phase = end;
        const crypto::SecretKey& prover = by_challenger ? challenger_ : responder_;
        contracts::TxBody body;
        body.chain_id = "assay-cross";
        body.sender = prover.account();
        body.nonce = out_.size();
        body.action = contracts::ProveMove{.dispute = record.id, .proof = outcome.proof};
        JudgeArguments arguments;
        arguments.dispute = codec::encode(record);
        arguments.transaction = codec::encode(contracts::sign_tx(std::move(body), prover));
        arguments.claimed_tile = claimed_tile;
        out_.push_back({name, Question::kJudge, codec::encode(arguments)});
    }

  private:
    std::vector<Case>& out_;
    crypto::SecretKey responder_ = key_of(0x11);
    crypto::SecretKey challenger_ = key_of(0x22);
};

std::optional<Bytes> claimed_tile_of(const Outcome& outcome, ScalarReplay& responder) {
    const auto* at = std::get_if<dispute::AtPartial>(&outcome.position.at);
    if (at == nullptr) {
        return std::nullopt;
    }
    const dispute::DisputedNode& node = at->tile.node;
    return canonical::tile_of(responder.node_output(node.step.number, node.index), at->tile.index).data;
}

/// One step of which the responder or the challenger has computed `node` with the smallest lie.
void add_flips(DisputeCases& out, const std::string& name, const World& world, std::uint32_t every) {
    for (std::uint32_t node = 0; node < world.step.size(); node += every) {
        const std::uint64_t elements = node + 1 < world.step.size() ? world.step[node].shape.element_count() : 1;
        const dispute::testing::Lie lie = dispute::testing::flip(0, node, elements / 2);
        ScalarReplay honest(world, false, 7);
        ScalarReplay liar(world, false, 7, {lie});
        const dispute::Claim wrong = dispute::testing::make_claim(world, liar, false, 0, 1, 7);
        const std::string place = name + " node " + std::to_string(node);
        const Outcome refuted = dispute::testing::play(wrong, liar, honest, true);
        out.add(place + " refuted", wrong, refuted, true, claimed_tile_of(refuted, liar));
        const dispute::Claim right = dispute::testing::make_claim(world, honest, false, 0, 1, 7);
        out.add(place + " upheld", right, dispute::testing::play(right, honest, liar, false), false);
    }
}

void add_divergence(DisputeCases& out) {
    const World world = dispute::testing::squaring_world();
    ScalarReplay responder(world, false, 7);
    ScalarReplay challenger(world, false, 7);
    const auto steps = static_cast<std::uint32_t>(dispute::testing::kSquaringDiverges + 1);
    const dispute::Claim claim = dispute::testing::make_claim(world, responder, false, 0, steps, 7);
    out.add("divergence", claim, dispute::testing::play(claim, responder, challenger, true), true);
}

void add_disputes(std::vector<Case>& all) {
    DisputeCases out(all);
    add_flips(out, "characters", dispute::testing::char_world(), 5);
    add_flips(out, "contraction", dispute::testing::contraction_world(160), 1);
    add_flips(out, "wide state", dispute::testing::wide_world(5, 2), 2);
    add_flips(out, "replicas", dispute::testing::replicas_world(), 9);
    add_flips(out, "narrow moments", dispute::testing::moments_world(program::Moments::kBf16), 11);
    add_divergence(out);
}

/// Nodes of a tree in memory.
class MemoryNodes final : public merkle::NodeReader {
  public:
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        const auto found = nodes_.find(key);
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }
    void put(const std::vector<std::pair<merkle::NodeKey, Bytes>>& nodes) { nodes_.insert(nodes.begin(), nodes.end()); }

  private:
    std::map<merkle::NodeKey, Bytes> nodes_;
};

void add_state_proofs(std::vector<Case>& out) {
    std::map<Bytes, std::optional<Bytes>> state;
    for (std::uint8_t i = 0; i < 200; ++i) {
        state[Bytes{5, i}] = Bytes(std::size_t{i} + 1, i);
    }
    MemoryNodes nodes;
    const merkle::TreeUpdate tree = merkle::update_tree(nodes, std::nullopt, 1, state);
    nodes.put(tree.nodes);
    for (std::uint8_t i = 0; i < 240; i = static_cast<std::uint8_t>(i + 30)) {
        const Bytes key{5, i};
        StateProofArguments arguments{.app_hash = tree.root, .key = key, .value = std::nullopt, .proof = {}};
        arguments.value = state.count(key) != 0 ? state.at(key) : std::nullopt;
        arguments.proof = codec::encode(merkle::prove(nodes, 1, key));
        out.push_back({"state proof of key " + std::to_string(i), Question::kStateProof, codec::encode(arguments)});
    }
    for (const KeyOf kind : {KeyOf::kTask, KeyOf::kDispute, KeyOf::kAccount, KeyOf::kCheckpoint}) {
        const StateKeyArguments arguments{.kind = kind, .id = tree.root, .index = 7};
        out.push_back({"state key", Question::kStateKey, codec::encode(arguments)});
    }
}

void add_history(std::vector<Case>& out) {
    HistoryArguments arguments;
    Extent extent;
    extent.task.data.fill(0x66);
    for (std::uint32_t i = 0; i < 12; ++i) {
        contracts::HistoryRecord record;
        record.task = extent.task;
        record.index = i;
        record.height = Height{10 + i / 2};
        record.event = contracts::history::CheckpointPosted{};
        arguments.records.push_back(codec::encode(record));
        extent.root = contracts::extend_history(extent.root, record);
    }
    extent.count = static_cast<std::uint32_t>(arguments.records.size());
    arguments.extent = extent;
    out.push_back({"history", Question::kHistory, codec::encode(arguments)});
}

void add_blocks(std::vector<Case>& out) {
    solo::BlockHeader header;
    header.chain_id = "assay-cross";
    header.height = Height{41};
    header.time_ms = 1'700'000'000'123;
    header.app_hash.data.fill(0x77);
    const crypto::SecretKey proposer = key_of(0x33);
    const solo::Block block = solo::sign_block(header, {{1, 2, 3}, Bytes(300, 9)}, proposer);
    BlockArguments arguments;
    arguments.block = codec::encode(block);
    out.push_back({"block", Question::kBlock, codec::encode(arguments)});
    arguments.chain_id = header.chain_id;
    arguments.proposer = proposer.account();
    arguments.height = header.height.value;
    arguments.app_hash = header.app_hash;
    out.push_back({"block as described", Question::kBlock, codec::encode(arguments)});
    arguments.height = 42;
    out.push_back({"block of another height", Question::kBlock, codec::encode(arguments)});
}

void add_light_blocks(std::vector<Case>& out, const std::string& root) {
    std::ifstream file(root + "/tests/vectors/cometbft/light_blocks.json");
    std::vector<light::LightBlock> blocks;
    const auto document = nlohmann::json::parse(file);
    for (const auto& item : document.at("blocks")) {
        blocks.push_back(client::decode_light_block(item.at("commit"), item.at("validators")));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        LightBlockArguments arguments;
        arguments.block = codec::encode(blocks[i]);
        arguments.chain_id = blocks[i].header.chain_id;
        out.push_back({"light block", Question::kLightBlock, codec::encode(arguments)});
        arguments.trusted = codec::encode(blocks.front());
        arguments.now_s = static_cast<std::uint64_t>(blocks.front().header.time.seconds) + 1'000;
        out.push_back({"light block after another", Question::kLightBlock, codec::encode(arguments)});
    }
}

}  // namespace

std::vector<Case> make_cases(const std::string& root) {
    std::vector<Case> out;
    add_disputes(out);
    add_state_proofs(out);
    add_history(out);
    add_blocks(out);
    add_light_blocks(out, root);
    return out;
}

}  // namespace assay::referee::testing
