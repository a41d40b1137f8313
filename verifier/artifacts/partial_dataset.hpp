// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <core/base/bytes.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// A dataset's file of which some chunks are there. The others take no room on the disk. What a chunk's hash says
/// decides whether it is there, each time that it is read: nothing else on the disk is believed, so a process may die
/// at any time, and a chunk that is absent is never read as zeros. Thread-safe. Functions throw StoreError.
class PartialDataset {
  public:
    /// Opens the file of the dataset `hash` in the store, and keeps the hashes of the chunks beside it. Creates it if
    /// there is none. Both are among the store's unfinished downloads. They are named after the root as well: tasks
    /// that say that one SHA-256 has different roots do not get in each other's way.
    static PartialDataset make(
        const ContentStore& store, const Hash256& hash, const ExpectedDataset& dataset, merkle::Tree tree
    );
    /// Opens the file that make() has left; nullopt if there is none.
    static std::optional<PartialDataset> open(
        const ContentStore& store, const Hash256& hash, const ExpectedDataset& dataset
    );

    const canonical::DatasetShape& shape() const { return shape_; }
    /// Over the hashes of all chunks, whose root is the dataset's.
    const merkle::Tree& tree() const { return tree_; }
    /// Size of a chunk in bytes.
    std::uint64_t size_of_chunk(std::uint64_t index) const;

    /// Returns whether the chunk is there.
    bool has(std::uint64_t index) const { return find(index).has_value(); }
    bool has_all(std::span<const std::uint64_t> chunks) const;
    /// Writes the chunk. Returns false, and does nothing, if the bytes are not the chunk.
    bool put(std::uint64_t index, ByteView bytes) const;
    /// Throws StoreError if the chunk is not there.
    Bytes chunk(std::uint64_t index) const;
    /// Bytes from `begin` on. Throws StoreError if one of their chunks is not there.
    Bytes read(std::uint64_t begin, std::uint64_t size_bytes) const;

  private:
    PartialDataset(std::filesystem::path path, const canonical::DatasetShape& shape, merkle::Tree tree);
    std::optional<Bytes> find(std::uint64_t index) const;

    std::filesystem::path path_;
    canonical::DatasetShape shape_;
    merkle::Tree tree_;
    File file_;
};

}  // namespace assay::artifacts
