// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/merkle/jmt.hpp>
#include <node/state/chunk.hpp>

/// What the fuzz target of snapshots takes; make_corpus writes it too.
namespace assay::fuzz {

/// A chunk of a snapshot that is said to follow a leaf in a state.
struct ChunkClaim {
    Hash256 root;
    std::optional<merkle::LeafHashes> after;
    snapshot::Chunk chunk;
    static constexpr auto fields() { return Fields<&ChunkClaim::root, &ChunkClaim::after, &ChunkClaim::chunk>{}; }
};

}  // namespace assay::fuzz
