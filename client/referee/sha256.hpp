// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <core/base/bytes.hpp>

/// SHA-256 without a library, for the build for browsers, where Crypto++ does not compile. The node uses core/crypto.
namespace assay::referee {

/// Incremental SHA-256 (FIPS 180-4).
class PlainSha256 {
  public:
    PlainSha256& update(ByteView data) noexcept;
    /// Returns the digest of everything so far, and resets the object.
    Hash256 finish() noexcept;

  private:
    void absorb(const std::uint8_t* block) noexcept;

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> pending_{};
    std::uint64_t size_bytes_ = 0;
};

}  // namespace assay::referee
