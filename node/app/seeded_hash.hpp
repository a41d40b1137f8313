// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <core/base/bytes.hpp>

namespace assay::node {

/// A hash for tables in memory whose keys others choose. Its seed is drawn when the process starts, so that nobody can
/// look for keys that fall together.
struct SeededHash {
    std::size_t operator()(ByteView bytes) const noexcept;
    std::size_t operator()(const Bytes& bytes) const noexcept { return (*this)(ByteView(bytes)); }
    std::size_t operator()(const AccountId& account) const noexcept { return (*this)(account.view()); }
};

}  // namespace assay::node
