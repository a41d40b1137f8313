// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/range.hpp>

#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>

namespace assay::merkle {
namespace {

class Nodes final : public NodeReader {
  public:
    std::optional<Bytes> read_node(const NodeKey& key) const override {
        const auto found = nodes_.find(key);
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }
    void write(const std::vector<std::pair<NodeKey, Bytes>>& nodes) {
        for (const auto& [key, node] : nodes) {
            nodes_.insert_or_assign(key, node);
        }
    }
    std::size_t size() const { return nodes_.size(); }

  private:
    std::map<NodeKey, Bytes> nodes_;
};

constexpr std::uint64_t kVersion = 7;

/// A tree of `count` random keys, made in two versions, and its leaves in order.
struct Plain {
    Nodes nodes;
    Hash256 root;
    std::vector<LeafHashes> leaves;
};

Plain make_plain(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    Plain plain;
    std::map<Bytes, std::optional<Bytes>> first;
    std::map<Bytes, std::optional<Bytes>> second;
    for (std::size_t i = 0; i < count; ++i) {
        Bytes key(8);
        std::generate(key.begin(), key.end(), [&random] { return static_cast<std::uint8_t>(random()); });
        const Bytes value{static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(i)};
        (i % 3 == 0 ? second : first)[key] = value;
        plain.leaves.push_back({crypto::sha256(key), crypto::sha256(value)});
    }
    std::sort(plain.leaves.begin(), plain.leaves.end());
    plain.nodes.write(update_tree(plain.nodes, std::nullopt, 3, first).nodes);
    const auto update = update_tree(plain.nodes, 3, kVersion, second);
    plain.nodes.write(update.nodes);
    plain.root = update.root;
    return plain;
}

std::optional<LeafHashes> before(const Plain& plain, std::size_t begin) {
    return begin == 0 ? std::nullopt : std::optional(plain.leaves[begin - 1]);
}

Range prove(const Plain& plain, std::size_t begin, std::size_t count) {
    const auto last = before(plain, begin);
    return prove_range(plain.nodes, kVersion, last ? std::optional(last->key_hash) : std::nullopt, count);
}

constexpr std::size_t kSizes[] = {1, 2, 3, 5, 16, 17, 100, 700};

TEST_CASE("JMT-7: every run of leaves is proved, from any leaf on and of any length") {
    for (const std::size_t size : kSizes) {
        const Plain plain = make_plain(size, size);
        std::mt19937_64 random(size);
        const std::size_t tries = size <= 17 ? size * size : 300;
        for (std::size_t i = 0; i < tries; ++i) {
            const std::size_t begin = size <= 17 ? i / size : random() % size;
            const std::size_t count = 1 + (size <= 17 ? i % size : random() % size);
            const Range range = prove(plain, begin, count);
            const auto from = plain.leaves.begin() + static_cast<std::ptrdiff_t>(begin);
            REQUIRE(
                range.leaves == std::vector(from, from + static_cast<std::ptrdiff_t>(std::min(count, size - begin)))
            );
            REQUIRE(verify_range(plain.root, before(plain, begin), range).has_value());
            CHECK(range.right.empty() == (begin + count >= size));
            CHECK(range.left.empty() == (begin <= 1));
        }
        CHECK(prove(plain, size, 1).leaves.empty());
    }
}

TEST_CASE("JMT-7: leaves that are missing, forged, out of order, doubled or too many are refused") {
    const Plain plain = make_plain(20, 60);
    for (std::size_t begin = 0; begin < 50; begin += 7) {
        const auto after = before(plain, begin);
        const Range range = prove(plain, begin, 9);
        REQUIRE(verify_range(plain.root, after, range).has_value());
        const auto error = [&](const Range& bad) { return verify_range(plain.root, after, bad).error(); };
        for (std::size_t i = 0; i < range.leaves.size(); ++i) {
            CAPTURE(i);
            const auto at = static_cast<std::ptrdiff_t>(i);
            Range bad = range;
            bad.leaves.erase(bad.leaves.begin() + at);
            CHECK(
                (error(bad) == RangeError::kWrongRoot || error(bad) == RangeError::kTooMany ||
                 error(bad) == RangeError::kNotCanonical)
            );
            bad = range;
            bad.leaves[i].value_hash.data[5] ^= 1U;
            CHECK(error(bad) == RangeError::kWrongRoot);
            bad = range;
            bad.leaves[i].key_hash.data[31] ^= 1U;
            CHECK(error(bad) == RangeError::kWrongRoot);
            bad = range;
            bad.leaves.insert(bad.leaves.begin() + at, bad.leaves[i]);
            CHECK(error(bad) == RangeError::kNotAscending);
            if (i > 0) {
                bad = range;
                std::swap(bad.leaves[i - 1], bad.leaves[i]);
                CHECK(error(bad) == RangeError::kNotAscending);
                bad = range;
                LeafHashes extra = bad.leaves[i];
                extra.key_hash.data[31] ^= 0x80U;
                bad.leaves.insert(bad.leaves.begin() + at + (extra < bad.leaves[i] ? 0 : 1), extra);
                CHECK_FALSE(verify_range(plain.root, after, bad).has_value());
            }
        }
        CHECK(error({{}, range.left, range.right}) == RangeError::kEmpty);
    }
}

TEST_CASE("JMT-7: a range proves nothing about another beginning, end or root") {
    const Plain plain = make_plain(21, 60);
    const Range range = prove(plain, 20, 9);
    for (std::size_t other = 0; other < plain.leaves.size(); ++other) {
        if (other != 20) {
            CHECK_FALSE(verify_range(plain.root, before(plain, other), range).has_value());
        }
    }
    auto after = *before(plain, 20);
    after.value_hash.data[0] ^= 1U;
    CHECK(verify_range(plain.root, after, range).error() == RangeError::kWrongRoot);
    CHECK(verify_range(make_plain(22, 60).root, before(plain, 20), range).error() == RangeError::kWrongRoot);
    // It does not end the tree by leaving out what comes after, nor begin it.
    Range bad = range;
    bad.right.clear();
    CHECK(verify_range(plain.root, before(plain, 20), bad).error() == RangeError::kWrongRoot);
    CHECK(verify_range(plain.root, std::nullopt, range).error() != RangeError::kEmpty);
    bad = range;
    bad.left.clear();
    CHECK_FALSE(verify_range(plain.root, std::nullopt, bad).has_value());
}

TEST_CASE("JMT-7: hashes beside the path that were altered, added or left out are refused") {
    const Plain plain = make_plain(23, 200);
    const auto after = before(plain, 77);
    const Range range = prove(plain, 77, 20);
    REQUIRE(range.left.size() > 1);
    REQUIRE(range.right.size() > 1);
    for (auto side : {&Range::left, &Range::right}) {
        for (std::size_t i = 0; i < (range.*side).size(); ++i) {
            Range bad = range;
            (bad.*side)[i].data[7] ^= 1U;
            CHECK(verify_range(plain.root, after, bad).error() == RangeError::kWrongRoot);
            bad = range;
            (bad.*side).erase((bad.*side).begin() + static_cast<std::ptrdiff_t>(i));
            CHECK_FALSE(verify_range(plain.root, after, bad).has_value());
        }
        Range bad = range;
        (bad.*side).push_back(crypto::sha256({}));
        CHECK(verify_range(plain.root, after, bad).error() == RangeError::kWrongRoot);
        (bad.*side).back() = empty_tree_root();
        CHECK(verify_range(plain.root, after, bad).error() == RangeError::kNotCanonical);
        (bad.*side).resize(257, crypto::sha256({}));
        CHECK(verify_range(plain.root, after, bad).error() == RangeError::kTooMany);
    }
}

/// Rebuilds `plain` from runs of `count` leaves.
void check_rebuild(const Plain& plain, std::size_t count) {
    CAPTURE(plain.leaves.size());
    CAPTURE(count);
    constexpr std::uint64_t kHere = 41;
    Nodes nodes;
    TreeBuilder builder(plain.root, kHere);
    for (std::size_t begin = 0; begin < plain.leaves.size(); begin += count) {
        REQUIRE_FALSE(builder.is_complete());
        auto written = builder.add(nodes, prove(plain, begin, count));
        REQUIRE(written.has_value());
        nodes.write(*written);
    }
    REQUIRE(builder.is_complete());
    CHECK(builder.leaves() == plain.leaves.size());
    CHECK(root_at(nodes, kHere) == plain.root);
    CHECK(prove_range(nodes, kHere, std::nullopt, plain.leaves.size() + 1).leaves == plain.leaves);
    for (const LeafHashes& leaf : plain.leaves) {
        CHECK(prove_range(nodes, kHere, leaf.key_hash, 1) == prove_range(plain.nodes, kVersion, leaf.key_hash, 1));
    }
    // As many nodes as when the tree is made at once: none is left over.
    Nodes at_once;
    at_once.write(*TreeBuilder(plain.root, kHere).add(at_once, prove(plain, 0, plain.leaves.size())));
    CHECK(nodes.size() == at_once.size());
    std::map<Bytes, std::optional<Bytes>> again{{Bytes{1, 2, 3}, Bytes{4}}};
    CHECK(update_tree(nodes, kHere, 42, again).root == update_tree(plain.nodes, kVersion, 42, again).root);
}

TEST_CASE("JMT-8: ranges in ascending order make the tree, whatever their lengths") {
    for (const std::size_t size : kSizes) {
        const Plain plain = make_plain(100 + size, size);
        for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100}, size}) {
            check_rebuild(plain, count);
        }
    }
}

TEST_CASE("JMT-8: a builder refuses what does not follow, and goes on with what does") {
    const Plain plain = make_plain(9, 90);
    Nodes nodes;
    TreeBuilder builder(plain.root, kVersion);
    CHECK_FALSE(builder.add(nodes, prove(plain, 10, 10)).has_value());
    CHECK(nodes.size() == 0);
    nodes.write(*builder.add(nodes, prove(plain, 0, 30)));
    // Again, overlapping, with a gap.
    CHECK(builder.add(nodes, prove(plain, 0, 30)).error() == RangeError::kNotAscending);
    CHECK(builder.add(nodes, prove(plain, 29, 30)).error() == RangeError::kNotAscending);
    CHECK_FALSE(builder.add(nodes, prove(plain, 31, 30)).has_value());
    CHECK(builder.leaves() == 30);
    nodes.write(*builder.add(nodes, prove(plain, 30, 30)));
    nodes.write(*builder.add(nodes, prove(plain, 60, 30)));
    CHECK(builder.is_complete());
    CHECK(builder.add(nodes, prove(plain, 60, 30)).error() == RangeError::kComplete);
    CHECK(root_at(nodes, kVersion) == plain.root);
}

}  // namespace
}  // namespace assay::merkle
