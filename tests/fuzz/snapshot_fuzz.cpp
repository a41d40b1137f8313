// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>
#include <core/merkle/range.hpp>
#include <node/state/chunk.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/snapshot_shapes.hpp>

namespace assay::fuzz {
namespace {

class NoNodes final : public merkle::NodeReader {
  public:
    std::optional<Bytes> read_node(const merkle::NodeKey&) const override { return std::nullopt; }
};

}  // namespace

void run(ByteView input) {
    (void)round_trip<snapshot::Chunk>(input);
    if (const auto metadata = snapshot::decode_metadata(input)) {
        const Bytes again = codec::encode(*metadata);
        ASSERT(ByteView(again).size() == input.size());
    }
    const auto claim = round_trip<ChunkClaim>(input);
    if (!claim) {
        return;
    }
    const merkle::Range range = snapshot::to_range(claim->chunk);
    if (!merkle::verify_range(claim->root, claim->after, range)) {
        return;
    }
    // It has one root and one value for each slot.
    Hash256 other = claim->root;
    other.data[0] ^= 1U;
    ASSERT(!merkle::verify_range(other, claim->after, range));
    merkle::Range changed = range;
    changed.leaves.back().value_hash.data[9] ^= 1U;
    ASSERT(!merkle::verify_range(claim->root, claim->after, changed));
    if (!claim->after && range.right.empty()) {
        // The whole tree: it is rebuilt with that root.
        merkle::TreeBuilder builder(claim->root, 1);
        ASSERT(builder.add(NoNodes{}, range).has_value());
        ASSERT(builder.is_complete());
    }
}

}  // namespace assay::fuzz
