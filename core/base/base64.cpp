// SPDX-License-Identifier: Apache-2.0
#include <core/base/base64.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay {
namespace {

constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(ByteView bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = (group << 8U) | (k < count ? bytes[i + k] : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out.push_back(k <= count ? kDigits[(group >> (18U - 6U * k)) & 63U] : '=');
        }
    }
    return out;
}

std::optional<Bytes> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    const std::string_view digits(kDigits);
    Bytes out;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const bool padding = text[i + k] == '=' && i + 4 == text.size() && k >= 2;
            const std::size_t digit = padding ? 0 : digits.find(text[i + k]);
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            group = (group << 6U) | static_cast<std::uint32_t>(digit);
        }
        for (std::size_t k = 0; k < 3; ++k) {
            if (text[i + k + 1] != '=') {
                out.push_back(static_cast<std::uint8_t>(group >> (16U - 8U * k)));
            }
        }
    }
    return to_base64(out) == text ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace assay
