// SPDX-License-Identifier: Apache-2.0
#include <verifier/text/byte_alphabet.hpp>

#include <array>

namespace assay::text {
namespace {

constexpr std::uint32_t kFirstStandIn = 0x100;
constexpr std::uint32_t kStandIns = 68;

constexpr bool is_printable(std::uint32_t byte) {
    constexpr std::uint32_t kSoftHyphen = 0xAD;
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != kSoftHyphen);
}

struct Alphabet {
    std::array<std::uint32_t, 256> character{};
    std::array<std::int16_t, kFirstStandIn + kStandIns> byte{};  // -1: no byte has the character
};

constexpr Alphabet make_alphabet() {
    Alphabet out;
    out.byte.fill(-1);
    std::uint32_t next = kFirstStandIn;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        out.character[byte] = is_printable(byte) ? byte : next++;
        out.byte[out.character[byte]] = static_cast<std::int16_t>(byte);
    }
    return out;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string symbol_of(std::uint8_t byte) {
    const std::uint32_t c = kAlphabet.character[byte];
    if (c < 0x80) {
        return {static_cast<char>(c)};
    }
    return {static_cast<char>(0xC0U | c >> 6U), static_cast<char>(0x80U | (c & 0x3FU))};
}

std::optional<std::string> bytes_of(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        std::uint32_t c = static_cast<std::uint8_t>(token[i]);
        if (c >= 0x80) {
            // All characters of the alphabet are below U+0800, so two bytes are enough.
            if ((c & 0xE0U) != 0xC0U || i + 1 == token.size()) {
                return std::nullopt;
            }
            c = (c & 0x1FU) << 6U | (static_cast<std::uint8_t>(token[++i]) & 0x3FU);
        }
        if (c >= kAlphabet.byte.size() || kAlphabet.byte[c] < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(kAlphabet.byte[c]);
    }
    return out;
}

}  // namespace assay::text
