// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <core/base/bytes.hpp>

namespace assay::consensus {

/// A hash for tables in memory whose keys others choose. Its seed is drawn when the process starts, so that nobody can
/// look for keys that fall together. Not noexcept: libstdc++ would take it for cheap and keep no hashes in its tables.
struct SeededHash {
    std::size_t operator()(ByteView bytes) const;
    std::size_t operator()(const Bytes& bytes) const { return (*this)(ByteView(bytes)); }
    std::size_t operator()(const AccountId& account) const { return (*this)(account.view()); }
};

}  // namespace assay::consensus
