// SPDX-License-Identifier: Apache-2.0
#include <client/http/http.hpp>

#include <algorithm>

namespace assay::http {

namespace {

bool is_port(std::string_view text) {
    if (text.empty() || text.size() > 5 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        return false;
    }
    const int port = std::stoi(std::string(text));
    return port >= 1 && port <= 65'535;
}

}  // namespace

std::optional<Url> decode_url(std::string_view text) {
    constexpr std::string_view kScheme = "http://";
    if (!text.starts_with(kScheme) || text.size() > 2'048) {
        return std::nullopt;
    }
    // What could end a request line or a header, and fragments and user names, which nobody here sends.
    if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= '\x7f' || c == '#' || c == '@'; })) {
        return std::nullopt;
    }
    text.remove_prefix(kScheme.size());
    const std::size_t slash = std::min(text.find_first_of("/?"), text.size());
    std::string_view authority = text.substr(0, slash);
    Url url;
    url.target = slash < text.size() && text[slash] == '/' ? "" : "/";
    url.target += text.substr(slash);

    std::string_view port = "80";
    std::size_t colon = std::string_view::npos;
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == std::string_view::npos || (close + 1 < authority.size() && authority[close + 1] != ':')) {
            return std::nullopt;
        }
        colon = close + 1 < authority.size() ? close + 1 : std::string_view::npos;
        url.host = authority.substr(1, close - 1);
    } else {
        colon = authority.find(':');
        url.host = authority.substr(0, colon);
    }
    if (colon != std::string_view::npos) {
        port = authority.substr(colon + 1);
    }
    const bool stray_bracket = url.host.find_first_of("[]") != std::string::npos;
    if (url.host.empty() || stray_bracket || !is_port(port)) {
        return std::nullopt;
    }
    url.port = port;
    return url;
}

}  // namespace assay::http
