// SPDX-License-Identifier: Apache-2.0
#include <client/http/http_range.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace assay::http {
namespace {

/// Digits alone, without a sign or spaces.
std::optional<std::uint64_t> decode_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

/// Takes the unit "bytes" and `separator` off the front. Units are case-insensitive.
bool take_unit(std::string_view& text, char separator) {
    constexpr std::string_view kUnit = "bytes";
    const bool is_bytes =
        text.size() > kUnit.size() && std::equal(kUnit.begin(), kUnit.end(), text.begin(), [](char a, char b) {
            return a == b || (b >= 'A' && b <= 'Z' && a == b + ('a' - 'A'));
        });
    if (!is_bytes || text[kUnit.size()] != separator) {
        return false;
    }
    text.remove_prefix(kUnit.size() + 1);
    return true;
}

}  // namespace

RangeDecision decide_range(std::string_view field, std::uint64_t file_bytes) {
    if (!take_unit(field, '=') || field.find('-') == std::string_view::npos) {
        return {};
    }
    const std::size_t dash = field.find('-');
    const std::string_view first_text = field.substr(0, dash);
    const std::string_view last_text = field.substr(dash + 1);
    const auto first = decode_number(first_text);
    const auto last = decode_number(last_text);
    if (first_text.empty() && last) {  // the last so many bytes
        if (*last == 0 || file_bytes == 0) {
            return {.is_satisfiable = false};
        }
        return {.range = FileRange{file_bytes - std::min(*last, file_bytes), file_bytes - 1}};
    }
    if (!first || (!last && !last_text.empty()) || (last && *last < *first)) {
        return {};
    }
    if (*first >= file_bytes) {
        return {.is_satisfiable = false};
    }
    return {.range = FileRange{*first, std::min(last.value_or(file_bytes - 1), file_bytes - 1)}};
}

std::string content_range(const FileRange& range, std::uint64_t file_bytes) {
    return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" + std::to_string(file_bytes);
}

std::optional<FileRange> decode_content_range(std::string_view field) {
    if (!take_unit(field, ' ')) {
        return std::nullopt;
    }
    const std::size_t dash = field.find('-');
    const std::size_t slash = field.find('/');
    if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
        return std::nullopt;
    }
    const auto first = decode_number(field.substr(0, dash));
    const auto last = decode_number(field.substr(dash + 1, slash - dash - 1));
    const std::string_view size_text = field.substr(slash + 1);
    const auto size = decode_number(size_text);
    const bool is_sound = first && last && *first <= *last && (size_text == "*" || (size && *last < *size));
    return is_sound ? std::optional(FileRange{*first, *last}) : std::nullopt;
}

}  // namespace assay::http
