// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/bytes.hpp>

/// Sealing and opening of whole artifacts, on several threads. Not for modules that must be pure.
namespace assay::sealed {

/// Bytes that are read in pieces, by several threads at once. Reading may throw, and what is thrown passes through the
/// functions that read.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// Fills `out` with the bytes from `offset` on, which all exist.
    virtual void read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
};

/// Bytes in memory, which the caller keeps.
class MemorySource final : public ByteSource {
  public:
    explicit MemorySource(ByteView bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
        ASSERT(offset <= bytes_.size() && out.size() <= bytes_.size() - offset);
        std::copy_n(bytes_.data() + offset, out.size(), out.data());
    }

  private:
    ByteView bytes_;
};

/// Takes the bytes of a file in order. May throw.
using ByteSink = std::function<void(ByteView)>;

/// How work on a file is done.
struct Effort {
    unsigned threads = 1;
    /// Called from the calling thread now and then, with the number of chunks done so far and of all. May throw.
    std::function<void(std::uint64_t, std::uint64_t)> progress{};
};

}  // namespace assay::sealed
