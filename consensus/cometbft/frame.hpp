// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// Message framing on ABCI sockets, in both directions (CMT-1): the length as an unsigned LEB128 number (varint), then
/// that many bytes.
namespace assay::cometbft {

/// The received bytes are not a valid frame. The rest of the stream cannot be parsed.
class FrameError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The largest message that is accepted; a message with a whole block is far smaller.
inline constexpr std::uint64_t kMaxFrameBytes = 128U << 20U;

/// Appends `message` to `out` as one frame.
void append_frame(std::string& out, std::string_view message);

/// Collects received bytes and splits them into whole messages.
class FrameReader {
  public:
    void feed(const char* data, std::size_t size) { buffer_.append(data, size); }
    /// Returns the next whole message, or nullopt until more bytes arrive. Throws FrameError if the length is not a
    /// 64-bit number or exceeds kMaxFrameBytes.
    std::optional<std::string> next();
    /// Returns true if there are unread bytes. After next() returned nullopt, they are the beginning of a message.
    bool is_partial() const { return position_ != buffer_.size(); }

  private:
    std::string buffer_;
    std::size_t position_ = 0;
};

}  // namespace assay::cometbft
