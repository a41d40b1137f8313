// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// The framing of ABCI's sockets, both ways (CMT-1): the length as an unsigned LEB128 number, then so many bytes.
namespace assay::cometbft {

/// The bytes are no frames: nothing after them can be understood.
class FrameError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The largest message taken; a block and everything about it is far smaller.
inline constexpr std::uint64_t kMaxFrameBytes = 128U << 20U;

void append_frame(std::string& out, std::string_view message);

/// Collects what arrives and gives out whole messages.
class FrameReader {
  public:
    void feed(const char* data, std::size_t size) { buffer_.append(data, size); }
    /// The next message, or nullopt until more has arrived. Throws FrameError.
    std::optional<std::string> next();
    /// Whether a message has begun and is not whole.
    bool is_partial() const { return position_ != buffer_.size(); }

  private:
    std::string buffer_;
    std::size_t position_ = 0;
};

}  // namespace assay::cometbft
