// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>

#include <tests/unit/core/vectors.hpp>

namespace assay::merkle {
namespace {

using Changes = std::map<Bytes, std::optional<Bytes>>;
using State = std::map<Bytes, Bytes>;

Bytes bytes_of(std::string_view text) {
    const ByteView view = as_bytes(text);
    return {view.begin(), view.end()};
}

class Store final : public NodeReader {
  public:
    std::optional<Bytes> read_node(const NodeKey& key) const override {
        const auto found = nodes_.find(to_key(key));
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }
    void add(const TreeUpdate& update) {
        for (const auto& [key, node] : update.nodes) {
            REQUIRE(nodes_.emplace(to_key(key), node).second);
        }
    }
    void remove(const NodeKey& key) { REQUIRE(nodes_.erase(to_key(key)) == 1); }
    std::size_t size() const { return nodes_.size(); }

  private:
    std::map<Bytes, Bytes> nodes_;
};

Hash256 joined(std::string_view prefix, const Hash256& first, const Hash256& second) {
    Bytes input = bytes_of(prefix);
    append(input, first.view());
    append(input, second.view());
    return crypto::sha256(input);
}

/// The definition: split the sorted key hashes bit by bit until one or none is left.
Hash256 oracle(std::span<const LeafHashes> leaves, std::size_t bit) {
    if (leaves.empty()) {
        return empty_tree_root();
    }
    if (leaves.size() == 1) {
        return joined("JMT::LeafNode", leaves[0].key_hash, leaves[0].value_hash);
    }
    const auto goes_right = [bit](const LeafHashes& leaf) {
        const std::uint32_t byte = leaf.key_hash.data[bit / 8];
        return ((byte >> (7 - bit % 8)) & 1U) != 0;
    };
    const auto left = static_cast<std::size_t>(std::count_if(leaves.begin(), leaves.end(), std::not_fn(goes_right)));
    return joined("JMT::IntrnalNode", oracle(leaves.first(left), bit + 1), oracle(leaves.subspan(left), bit + 1));
}

Hash256 oracle(const State& state) {
    std::vector<LeafHashes> leaves;
    for (const auto& [key, value] : state) {
        leaves.push_back({crypto::sha256(key), crypto::sha256(value)});
    }
    std::sort(leaves.begin(), leaves.end());
    return oracle(leaves, 0);
}

Hash256 root_of(const State& state) {
    const Changes changes(state.begin(), state.end());
    return update_tree(Store{}, std::nullopt, 0, changes).root;
}

TEST_CASE("JMT-1 JMT-2: roots are those of the published vectors") {
    const auto vectors = json_vectors("jmt_sha2_256.json");
    std::size_t seen = 0;
    for (const auto& vector : vectors.at("vectors")) {
        State state;
        for (const auto& pair : vector.at("data")) {
            state[hex_bytes(pair.at("key").get<std::string>())] = hex_bytes(pair.at("value").get<std::string>());
        }
        CHECK(to_hex(root_of(state).view()) == vector.at("expected_root").get<std::string>());
        ++seen;
    }
    CHECK(seen >= 3);
    CHECK(
        to_hex(root_of({{bytes_of("hello"), bytes_of("world")}, {bytes_of("goodbye"), bytes_of("world")}}).view()) ==
        "e1e1e220d4b4a9611a9a09dbcee964b4a6c3a40f6f4dee265ad45cf64568790b"
    );
}

TEST_CASE("JMT-4: node keys are the version in big-endian and then the nibbles") {
    CHECK(to_hex(to_key({0x0102, {0x0a, 0x0f}})) == "00000000000001020a0f");
    CHECK(to_key({255, {}}) < to_key({256, {}}));
}

TEST_CASE("JMT-4: a block without changes keeps the root and stays readable") {
    Store store;
    const auto first = update_tree(store, std::nullopt, 3, {{bytes_of("a"), bytes_of("1")}});
    store.add(first);
    const auto second = update_tree(store, 3, 9, {});
    store.add(second);
    CHECK(second.root == first.root);
    CHECK(root_at(store, 9) == first.root);
    CHECK(second.stale == std::vector<NodeKey>{NodeKey{3, {}}});
    const auto same = update_tree(store, 9, 10, {{bytes_of("a"), bytes_of("1")}, {bytes_of("b"), std::nullopt}});
    CHECK(same.root == first.root);
}

Bytes key_of(std::uint64_t number) {
    return {static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8U)};
}

/// A history of random blocks with what the state was after each.
struct History {
    Store store;
    std::vector<State> states;  // states[v] after version v
    std::vector<Hash256> roots;
    std::vector<std::vector<NodeKey>> stale;
    std::vector<std::vector<WrittenLeaf>> stale_leaves;
};

History random_history(std::uint64_t seed, std::uint64_t versions, std::uint64_t key_space) {
    std::mt19937_64 random(seed);
    History history;
    State state;
    for (std::uint64_t version = 0; version < versions; ++version) {
        Changes changes;
        const std::uint64_t count = random() % 40;
        for (std::uint64_t i = 0; i < count; ++i) {
            const Bytes key = key_of(random() % key_space);
            const bool remove = random() % 5 < (version % 3 == 2 ? 4U : 1U);
            changes[key] = remove ? std::nullopt : std::optional(Bytes{static_cast<std::uint8_t>(random() % 4)});
        }
        for (const auto& [key, value] : changes) {
            if (value) {
                state[key] = *value;
            } else {
                state.erase(key);
            }
        }
        const auto update =
            update_tree(history.store, version == 0 ? std::nullopt : std::optional(version - 1), version, changes);
        history.store.add(update);
        history.states.push_back(state);
        history.roots.push_back(update.root);
        history.stale.push_back(update.stale);
        history.stale_leaves.push_back(update.stale_leaves);
    }
    return history;
}

TEST_CASE("JMT-3 JMT-4: after random puts and deletes the root is that of the sorted keys") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const History history = random_history(seed, 30, seed % 3 == 0 ? 12 : 500);
        for (std::uint64_t version = 0; version < history.states.size(); ++version) {
            CAPTURE(version);
            REQUIRE(history.roots[version] == oracle(history.states[version]));
            REQUIRE(root_at(history.store, version) == history.roots[version]);
        }
    }
}

TEST_CASE("JMT-4: leaves say which version wrote their values and an update which of those it replaced") {
    constexpr std::uint64_t kKeys = 60;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const History history = random_history(seed, 30, kKeys);
        std::map<Bytes, std::uint64_t> written;
        for (std::uint64_t version = 0; version < history.states.size(); ++version) {
            const State& state = history.states[version];
            std::map<Hash256, std::uint64_t> replaced;
            for (std::uint64_t i = 0; i < kKeys; ++i) {
                const Bytes key = key_of(i);
                const auto here = state.find(key);
                const bool was_there = version > 0 && history.states[version - 1].contains(key);
                if (was_there && (here == state.end() || here->second != history.states[version - 1].at(key))) {
                    replaced[crypto::sha256(key)] = written.at(key);
                    written.erase(key);
                }
                if (here != state.end()) {
                    written.try_emplace(key, version);
                }
                const auto expected = written.contains(key) ? std::optional(written.at(key)) : std::nullopt;
                REQUIRE(leaf_version(history.store, version, crypto::sha256(key)) == expected);
            }
            REQUIRE(history.stale_leaves[version].size() == replaced.size());
            for (const WrittenLeaf& leaf : history.stale_leaves[version]) {
                REQUIRE(replaced.at(leaf.key_hash) == leaf.version);
            }
        }
    }
}

/// The changes of one version and others that never became one.
Changes random_changes(std::mt19937_64& random, std::uint64_t key_space) {
    Changes changes;
    const bool shrink = random() % 3 == 0;
    for (std::uint64_t i = random() % 60; i > 0; --i) {
        const bool remove = random() % 5 < (shrink ? 4U : 1U);
        changes[key_of(random() % key_space)] =
            remove ? std::nullopt : std::optional(Bytes{static_cast<std::uint8_t>(random() % 4)});
    }
    return changes;
}

TEST_CASE("JMT-3 JMT-4: an update with nodes in memory is the one without, after abandoned ones too") {
    for (const std::size_t nodes_max : {std::size_t{0}, std::size_t{7}, std::size_t{10'000}}) {
        std::mt19937_64 random(nodes_max + 5);
        Store store;
        NodeCache cache(nodes_max);
        std::uint64_t hashes_saved = 0;
        for (std::uint64_t version = 0; version < 80; ++version) {
            const auto base = version == 0 ? std::nullopt : std::optional(version - 1);
            for (std::uint64_t abandoned = random() % 3; abandoned > 0; --abandoned) {
                static_cast<void>(update_tree(store, base, version, random_changes(random, 300), &cache));
            }
            const Changes changes = random_changes(random, 300);
            const auto kept = update_tree(store, base, version, changes, &cache);
            const auto plain = update_tree(store, base, version, changes);
            REQUIRE(kept.root == plain.root);
            REQUIRE(kept.nodes == plain.nodes);
            REQUIRE(kept.stale == plain.stale);
            hashes_saved += plain.hashes - kept.hashes;
            store.add(plain);
        }
        CHECK((hashes_saved > 0) == (nodes_max > 0));
    }
}

TEST_CASE("JMT-3: a node in memory of another tree is not taken for this one's") {
    NodeCache cache(1'000);
    std::mt19937_64 random(1);
    Store one;
    Store other;
    one.add(update_tree(one, std::nullopt, 1, random_changes(random, 300), &cache));
    other.add(update_tree(other, std::nullopt, 2, random_changes(random, 300)));
    const Changes changes = random_changes(random, 300);
    CHECK(update_tree(other, 2, 3, changes, &cache).root == update_tree(other, 2, 3, changes).root);
}

TEST_CASE("JMT-3: deleting every key leads back to the empty root") {
    Store store;
    Changes puts;
    Changes deletes;
    for (std::uint64_t i = 0; i < 300; ++i) {
        puts[key_of(i)] = Bytes{1};
        deletes[key_of(i)] = std::nullopt;
    }
    store.add(update_tree(store, std::nullopt, 1, puts));
    CHECK(root_at(store, 1) != empty_tree_root());
    store.add(update_tree(store, 1, 2, deletes));
    CHECK(root_at(store, 2) == empty_tree_root());
}

void check_proofs(const History& history, std::uint64_t version, std::uint64_t key_space) {
    const State& state = history.states[version];
    const Hash256& root = history.roots[version];
    for (std::uint64_t i = 0; i < key_space; ++i) {
        const Bytes key = key_of(i);
        const JmtProof proof = prove(history.store, version, key);
        const auto found = state.find(key);
        const auto value = found == state.end() ? std::nullopt : std::optional(found->second);
        REQUIRE(verify_proof(root, key, value, proof).has_value());
        const auto claim = value ? std::nullopt : std::optional(Bytes{1});
        REQUIRE_FALSE(verify_proof(root, key, claim, proof).has_value());
        if (value) {
            REQUIRE(verify_proof(root, key, Bytes{9}, proof).error() == ProofError::kWrongLeaf);
        }
    }
}

TEST_CASE("JMT-5: every key is proved there or not there at old and new versions") {
    const History history = random_history(77, 20, 200);
    for (const std::uint64_t version : {0U, 1U, 7U, 13U, 19U}) {
        check_proofs(history, version, 210);
    }
    const auto small = random_history(78, 12, 6);
    for (std::uint64_t version = 0; version < 12; ++version) {
        check_proofs(small, version, 12);
    }
}

TEST_CASE("JMT-5: a proof that was altered anywhere is refused") {
    const History history = random_history(5, 10, 100);
    const State& state = history.states.back();
    const Hash256& root = history.roots.back();
    REQUIRE(state.size() > 4);
    for (std::uint64_t i = 0; i < 100; ++i) {
        const Bytes key = key_of(i);
        const auto found = state.find(key);
        const auto value = found == state.end() ? std::nullopt : std::optional(found->second);
        const JmtProof proof = prove(history.store, 9, key);
        for (std::size_t level = 0; level < proof.siblings.size(); ++level) {
            JmtProof bad = proof;
            bad.siblings[level].data[0] ^= 1U;
            REQUIRE(verify_proof(root, key, value, bad).error() == ProofError::kWrongRoot);
            bad = proof;
            bad.siblings.erase(bad.siblings.begin() + static_cast<std::ptrdiff_t>(level));
            REQUIRE_FALSE(verify_proof(root, key, value, bad).has_value());
        }
        JmtProof bad = proof;
        bad.siblings.push_back(Hash256{});
        REQUIRE_FALSE(verify_proof(root, key, value, bad).has_value());
        bad = proof;
        if (bad.leaf) {
            bad.leaf->value_hash.data[3] ^= 1U;
            REQUIRE_FALSE(verify_proof(root, key, value, bad).has_value());
            bad.leaf.reset();
        } else {
            bad.leaf = LeafHashes{};
        }
        REQUIRE_FALSE(verify_proof(root, key, value, bad).has_value());
    }
}

TEST_CASE("JMT-5: another key's proof shows neither presence nor absence") {
    const History history = random_history(6, 10, 100);
    const State& state = history.states.back();
    REQUIRE(state.size() > 4);
    const Bytes one = state.begin()->first;
    for (const auto& [key, value] : state) {
        const JmtProof proof = prove(history.store, 9, key);
        if (key != one) {
            CHECK_FALSE(verify_proof(history.roots.back(), one, state.at(one), proof).has_value());
        }
        CHECK_FALSE(verify_proof(history.roots.back(), one, std::nullopt, proof).has_value());
    }
    JmtProof deep;
    deep.siblings.resize(257);
    CHECK(verify_proof(history.roots.back(), one, std::nullopt, deep).error() == ProofError::kTooDeep);
}

TEST_CASE("JMT-6: neighbours are those of the sorted key hashes") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const std::uint64_t key_space = seed % 2 == 0 ? 10 : 400;
        const History history = random_history(seed, 12, key_space);
        for (const std::uint64_t version : {0U, 5U, 11U}) {
            std::set<LeafHashes> leaves;
            for (const auto& [key, value] : history.states[version]) {
                leaves.insert({crypto::sha256(key), crypto::sha256(value)});
            }
            for (std::uint64_t i = 0; i < key_space + 20; ++i) {
                const Hash256 hash = crypto::sha256(key_of(i));
                Neighbours expected;
                for (const LeafHashes& leaf : leaves) {
                    if (leaf.key_hash < hash) {
                        expected.left = leaf;
                    } else if (leaf.key_hash > hash && !expected.right) {
                        expected.right = leaf;
                    }
                }
                REQUIRE(find_neighbours(history.store, version, hash) == expected);
            }
        }
    }
}

TEST_CASE("JMT-6: an empty tree has no neighbours, and those of a lone key are not itself") {
    Store store;
    store.add(update_tree(store, std::nullopt, 1, {}));
    CHECK(find_neighbours(store, 1, Hash256{}) == Neighbours{});
    store.add(update_tree(store, 1, 2, {{bytes_of("a"), bytes_of("1")}}));
    const LeafHashes lone{crypto::sha256(bytes_of("a")), crypto::sha256(bytes_of("1"))};
    CHECK(find_neighbours(store, 2, lone.key_hash) == Neighbours{});
    CHECK(find_neighbours(store, 2, Hash256{}) == Neighbours{std::nullopt, lone});
    Hash256 last;
    last.data.fill(0xFF);
    CHECK(find_neighbours(store, 2, last) == Neighbours{lone, std::nullopt});
}

TEST_CASE("JMT-4: deleting the nodes that are stale at a version keeps it and all later ones readable") {
    constexpr std::uint64_t kVersions = 25;
    History history = random_history(11, kVersions, 150);
    const std::size_t before = history.store.size();
    for (std::uint64_t pruned = 0; pruned < kVersions; ++pruned) {
        for (const NodeKey& key : history.stale[pruned]) {
            CHECK(key.version < pruned);
            history.store.remove(key);
        }
        for (std::uint64_t version = pruned; version < kVersions; version += 6) {
            check_proofs(history, version, 150);
        }
    }
    CHECK(history.store.size() < before / 4);
    const State& last = history.states.back();
    const auto rebuilt = update_tree(Store{}, std::nullopt, 0, Changes(last.begin(), last.end()));
    CHECK(rebuilt.nodes.size() == history.store.size());
}

}  // namespace
}  // namespace assay::merkle
