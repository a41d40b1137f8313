// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::consensus {

/// A set of digests, without order. They lie in one table, each at its place or soon after it: a search reads one
/// place of memory, where a table of nodes reads three.
class HashSet {
  public:
    bool contains(const Hash256& digest) const;
    /// Whether it was not there.
    bool insert(const Hash256& digest);
    /// Whether it was there.
    bool erase(const Hash256& digest);
    std::size_t size() const { return count_; }

  private:
    std::size_t home_of(const Hash256& digest) const;
    std::size_t place_of(const Hash256& digest) const;
    void grow();

    std::vector<Hash256> places_;  ///< a power of two, at least half of them free: zero, which is nobody's digest
    std::size_t count_ = 0;
};

}  // namespace assay::consensus
