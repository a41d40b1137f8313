// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <core/base/bytes.hpp>

namespace assay::consensus {

/// An unordered set of digests in one open-addressing hash table. A lookup reads about one memory location, where a
/// node-based table reads three.
class HashSet {
  public:
    bool contains(const Hash256& digest) const;
    /// Returns true if the digest was not in the set. The zero digest is not allowed.
    bool insert(const Hash256& digest);
    /// Returns true if the digest was in the set.
    bool erase(const Hash256& digest);
    std::size_t size() const { return count_; }

  private:
    std::size_t home_of(const Hash256& digest) const;
    std::size_t place_of(const Hash256& digest) const;
    void grow();

    std::vector<Hash256> places_;  ///< the size is a power of two, at least half are free; zero marks a free place
    std::size_t count_ = 0;
};

}  // namespace assay::consensus
