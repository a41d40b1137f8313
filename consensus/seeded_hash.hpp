// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <core/base/bytes.hpp>

namespace assay::consensus {

/// A hash for in-memory tables whose keys are chosen by others: SipHash with a key that is drawn when the process
/// starts, so nobody can search for colliding keys. Not noexcept on purpose: libstdc++ would then assume a cheap hash
/// and not store it in the table.
struct SeededHash {
    std::size_t operator()(ByteView bytes) const;
    std::size_t operator()(const Bytes& bytes) const { return (*this)(ByteView(bytes)); }
    template <class Tag, std::size_t kSize>
    std::size_t operator()(const FixedBytes<Tag, kSize>& value) const {
        return (*this)(value.view());
    }
};

}  // namespace assay::consensus
