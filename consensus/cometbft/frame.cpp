// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/frame.hpp>

namespace assay::cometbft {
namespace {

constexpr unsigned kMaxLengthBytes = 10;

struct Length {
    std::uint64_t value = 0;
    std::size_t bytes = 0;
};

std::optional<Length> read_length(std::string_view in) {
    Length out;
    for (const char c : in) {
        const auto byte = static_cast<unsigned char>(c);
        const auto shift = static_cast<unsigned>(7 * out.bytes);
        if (out.bytes == kMaxLengthBytes || (shift == 63 && byte > 1)) {
            throw FrameError("a frame's length is no 64-bit number");
        }
        out.value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        ++out.bytes;
        if ((byte & 0x80U) == 0) {
            return out;
        }
    }
    return std::nullopt;
}

}  // namespace

void append_frame(std::string& out, std::string_view message) {
    std::uint64_t length = message.size();
    while (length >= 0x80U) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(length | 0x80U)));
        length >>= 7U;
    }
    out.push_back(static_cast<char>(length));
    out.append(message);
}

std::optional<std::string> FrameReader::next() {
    const std::string_view rest = std::string_view(buffer_).substr(position_);
    const auto length = read_length(rest);
    if (!length) {
        return std::nullopt;
    }
    if (length->value > kMaxFrameBytes) {
        throw FrameError("a frame of " + std::to_string(length->value) + " bytes is too large");
    }
    if (rest.size() - length->bytes < length->value) {
        return std::nullopt;
    }
    std::string message(rest.substr(length->bytes, length->value));
    position_ += length->bytes + message.size();
    if (position_ == buffer_.size()) {
        buffer_.clear();
        position_ = 0;
    } else if (position_ > (1U << 20U)) {
        buffer_.erase(0, position_);
        position_ = 0;
    }
    return message;
}

}  // namespace assay::cometbft
