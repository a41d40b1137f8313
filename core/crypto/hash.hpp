// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include <core/base/bytes.hpp>

namespace assay::crypto {

/// SHA-256 (FIPS 180-4).
Hash256 sha256(ByteView data) noexcept;

/// Incremental SHA-256.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    Sha256& update(ByteView data) noexcept;
    /// Returns the digest of everything so far, and resets the object.
    Hash256 finish() noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// BIP-340's tagged hash: SHA256(SHA256(tag) || SHA256(tag) || parts...). The protocol's hashes are tagged, with the
/// four exceptions that ENC-1 lists, so that different kinds of objects cannot share a digest.
class TaggedHash {
  public:
    /// `tag` is hashed once here, and the block that begins each hash: keep a TaggedHash constant and reuse it.
    explicit TaggedHash(std::string_view tag) noexcept;
    Hash256 operator()(ByteView data) const noexcept;
    /// The hash of the concatenation of two parts.
    Hash256 operator()(ByteView first, ByteView second) const noexcept;
    /// What is hashed before the parts: SHA256(tag) || SHA256(tag).
    ByteView prefix() const noexcept { return prefix_; }

  private:
    struct Begun;
    std::array<std::uint8_t, 64> prefix_{};
    std::shared_ptr<const Begun> begun_;  // with the prefix
};

}  // namespace assay::crypto
