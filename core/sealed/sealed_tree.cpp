// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/sealed_tree.hpp>

#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>

namespace assay::sealed {
namespace {

/// The commitments of all groups.
std::vector<Hash256> commitments_of(const SealedLeaves& leaves) {
    std::vector<Hash256> out;
    out.reserve(leaves.size());
    for (const auto& group : leaves) {
        out.push_back(group_commitment(static_cast<std::uint32_t>(group.size()), merkle::root_of(group)));
    }
    return out;
}

}  // namespace

Hash256 group_commitment(std::uint32_t chunks, const Hash256& merkle_root) noexcept {
    static const crypto::TaggedHash kHash("assay/sealed-group");
    return kHash(codec::encode(chunks), merkle_root.view());
}

Hash256 sealed_root(std::uint32_t groups, const Hash256& merkle_root) noexcept {
    static const crypto::TaggedHash kHash("assay/sealed");
    return kHash(codec::encode(groups), merkle_root.view());
}

Hash256 sealed_root(const SealedLeaves& leaves) {
    ASSERT(!leaves.empty());
    return sealed_root(static_cast<std::uint32_t>(leaves.size()), merkle::root_of(commitments_of(leaves)));
}

bool is_well_formed(const SealedOpening& opening) noexcept {
    return opening.group < opening.groups && opening.groups <= kMaxGroups && opening.chunk < opening.chunks &&
           opening.bytes.size() <= kSealedChunkBytes &&
           opening.chunk_path.size() == merkle::tree_depth(opening.chunks) &&
           opening.group_path.size() == merkle::tree_depth(opening.groups);
}

Hash256 sealed_root_of(const SealedOpening& opening) noexcept {
    const auto chunks =
        merkle::root_from_path(sealed_leaf(opening.bytes), opening.chunk, opening.chunks, opening.chunk_path);
    ASSERT(chunks.has_value());
    const auto groups = merkle::root_from_path(
        group_commitment(opening.chunks, *chunks), opening.group, opening.groups, opening.group_path
    );
    ASSERT(groups.has_value());
    return sealed_root(opening.groups, *groups);
}

SealedOpening open_leaf(const SealedLeaves& leaves, std::uint32_t group, std::uint32_t chunk, Bytes bytes) {
    ASSERT(group < leaves.size() && chunk < leaves[group].size());
    return {
        .groups = static_cast<std::uint32_t>(leaves.size()),
        .group = group,
        .chunks = static_cast<std::uint32_t>(leaves[group].size()),
        .chunk = chunk,
        .bytes = std::move(bytes),
        .chunk_path = merkle::Tree(leaves[group]).path(chunk),
        .group_path = merkle::Tree(commitments_of(leaves)).path(group),
    };
}

}  // namespace assay::sealed
