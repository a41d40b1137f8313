// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/hash.hpp>

namespace assay::crypto {

/// Many hashes of one tag, as TaggedHash has them one at a time. On x86-64 Intel's multi-buffer library computes
/// several at once: two that share the SHA instructions, or 4, 8 or 16 in the lanes of vectors. Elsewhere it is no
/// faster.
class HashBatch {
  public:
    explicit HashBatch(const TaggedHash& tag) : tag_(tag) {}

    /// Copies `data`.
    void add(ByteView data) { add_rows(data, data.size(), data.size(), 1); }
    /// Adds the hash of so many rows of `data`, one after the other: the first begins with it, and each of the others
    /// `stride` bytes after the one before. Copies them.
    void add_rows(ByteView data, std::size_t row_bytes, std::size_t stride, std::size_t rows);
    /// The hashes of all that was added, in its order. The batch is empty afterwards.
    std::vector<Hash256> finish();

  private:
    void hash_waiting();

    TaggedHash tag_;
    Bytes waiting_;                  // what is to be hashed: prefixes and data
    std::vector<std::size_t> ends_;  // of each one in it
    std::vector<Hash256> done_;
};

}  // namespace assay::crypto
