// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <unordered_set>

#include <core/base/bytes.hpp>

namespace assay::consensus {

/// A digest is as good a hash as any.
struct FirstBytes {
    std::size_t operator()(const Hash256& digest) const {
        std::size_t out = 0;
        std::memcpy(&out, digest.data.data(), sizeof out);
        return out;
    }
};

/// A set of digests, without order.
using HashSet = std::unordered_set<Hash256, FirstBytes>;

}  // namespace assay::consensus
