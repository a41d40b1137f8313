// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>

namespace assay::codec {
namespace {

struct Lead {
    std::size_t length;       // bytes of the sequence, 0 when no sequence starts so
    std::uint8_t second_min;  // bounds of the second byte keep out overlong forms, surrogates and > U+10FFFF
    std::uint8_t second_max;
};

constexpr std::uint8_t pick(bool first, std::uint8_t yes, std::uint8_t no) { return first ? yes : no; }

Lead lead_of(std::uint8_t byte) {
    if (byte < 0x80) {
        return {1, 0, 0};
    }
    if (byte >= 0xc2 && byte <= 0xdf) {
        return {2, 0x80, 0xbf};
    }
    if (byte >= 0xe0 && byte <= 0xef) {
        return {3, pick(byte == 0xe0, 0xa0, 0x80), pick(byte == 0xed, 0x9f, 0xbf)};
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
        return {4, pick(byte == 0xf0, 0x90, 0x80), pick(byte == 0xf4, 0x8f, 0xbf)};
    }
    return {0, 0, 0};
}

}  // namespace

bool is_utf8(ByteView text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        const Lead lead = lead_of(text[at]);
        if (lead.length == 0 || text.size() - at < lead.length) {
            return false;
        }
        if (lead.length > 1 && (text[at + 1] < lead.second_min || text[at + 1] > lead.second_max)) {
            return false;
        }
        for (std::size_t i = 2; i < lead.length; ++i) {
            if ((text[at + i] & 0xc0U) != 0x80U) {
                return false;
            }
        }
        at += lead.length;
    }
    return true;
}

}  // namespace assay::codec
