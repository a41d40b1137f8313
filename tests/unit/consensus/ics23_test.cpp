// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include <consensus/cometbft/ics23.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <tests/unit/consensus/ics23_check.hpp>
#include <tests/unit/core/vectors.hpp>

namespace assay::cometbft {
namespace {

using nlohmann::json;

/// A tree of the vectors, held by its own nodes.
class Tree final : public merkle::NodeReader {
  public:
    explicit Tree(const json& vector) {
        std::map<Bytes, std::optional<Bytes>> pairs;
        for (std::size_t i = 0; i < vector.at("keys").size(); ++i) {
            const Bytes key = to_bytes(vector.at("keys")[i].get<std::string>());
            values_[key] = to_bytes(vector.at("values")[i].get<std::string>());
            pairs[key] = values_[key];
            keys_[crypto::sha256(key)] = key;
        }
        const merkle::TreeUpdate update = merkle::update_tree(*this, std::nullopt, 0, pairs);
        for (const auto& [key, node] : update.nodes) {
            nodes_[merkle::to_key(key)] = node;
        }
        root = update.root;
    }
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        const auto found = nodes_.find(merkle::to_key(key));
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }
    consensus::QueryResult query(const Bytes& key) const {
        consensus::QueryResult out;
        out.proof = merkle::prove(*this, 0, key);
        if (const auto found = values_.find(key); found != values_.end()) {
            out.value = found->second;
            return out;
        }
        const auto neighbours = merkle::find_neighbours(*this, 0, crypto::sha256(key));
        out.left = proven(neighbours.left);
        out.right = proven(neighbours.right);
        return out;
    }

    Hash256 root;

  private:
    std::optional<consensus::ProvenKey> proven(const std::optional<merkle::LeafHashes>& leaf) const {
        if (!leaf) {
            return std::nullopt;
        }
        const Bytes& key = keys_.at(leaf->key_hash);
        return consensus::ProvenKey{.key = key, .value = values_.at(key), .proof = merkle::prove(*this, 0, key)};
    }

    std::map<Bytes, Bytes> nodes_;
    std::map<Bytes, Bytes> values_;
    std::map<Hash256, Bytes> keys_;
};

std::string root_of(const json& tree) { return string_of(hex_bytes(tree.at("root").get<std::string>())); }

TEST_CASE("CMT-11: proofs are, byte for byte, those that the reference library of ICS-23 accepts") {
    std::size_t proofs = 0;
    const json vectors = json_vectors("ics23/commitment_proofs.json");
    for (const json& vector : vectors.at("trees")) {
        const Tree tree(vector);
        REQUIRE(to_hex(tree.root.view()) == vector.at("root").get<std::string>());
        for (const json& item : vector.at("cases")) {
            if (item.at("accepted").get<bool>()) {
                const Bytes key = to_bytes(item.at("key").get<std::string>());
                CHECK(to_hex(to_bytes(commitment_proof(key, tree.query(key)))) == item.at("proof").get<std::string>());
                ++proofs;
            }
        }
    }
    CHECK(proofs >= 60);
}

TEST_CASE("CMT-11: a verifier by the specification agrees with the reference library on hostile proofs too") {
    std::size_t refused = 0;
    const json vectors = json_vectors("ics23/commitment_proofs.json");
    for (const json& tree : vectors.at("trees")) {
        for (const json& item : tree.at("cases")) {
            const auto value =
                item.at("value").is_null() ? std::nullopt : std::optional(item.at("value").get<std::string>());
            const bool accepted = test::ics23_accepts(
                root_of(tree), item.at("key").get<std::string>(), value,
                string_of(hex_bytes(item.at("proof").get<std::string>()))
            );
            CHECK_MESSAGE(accepted == item.at("accepted").get<bool>(), item.at("what").get<std::string>());
            refused += accepted ? 0U : 1U;
        }
    }
    CHECK(refused >= 250);
}

}  // namespace
}  // namespace assay::cometbft
