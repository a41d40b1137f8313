// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/host_names.hpp>

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace assay::rpc {

namespace {

std::string to_lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

bool is_ip(int family, const std::string& text) {
    std::array<unsigned char, 16> address{};
    return ::inet_pton(family, text.c_str(), address.data()) == 1;
}

bool is_port(std::string_view text) {
    return !text.empty() && text.size() <= 5 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<std::string> decode_host_names(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view name = trim(text.substr(0, end));
        if (!name.empty()) {
            out.push_back(to_lower(name));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

bool is_host_allowed(std::string_view host, const std::vector<std::string>& names) {
    host = trim(host);
    if (host.empty()) {
        return true;
    }
    const bool is_bracketed = host.starts_with('[');
    const std::size_t bracket = host.find(']');
    if (is_bracketed && bracket == std::string_view::npos) {
        return false;
    }
    const std::size_t colon = host.find(':', is_bracketed ? bracket : 0);
    if (colon != std::string_view::npos && !is_port(host.substr(colon + 1))) {
        return false;
    }
    const std::string name = to_lower(host.substr(0, colon));
    if (is_bracketed) {
        return name.ends_with(']') && is_ip(AF_INET6, name.substr(1, name.size() - 2));
    }
    return is_ip(AF_INET, name) || name == "localhost" || std::find(names.begin(), names.end(), name) != names.end();
}

bool is_same_origin(std::string_view origin, std::string_view host) {
    if (origin.empty()) {
        return true;
    }
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos && !host.empty() && origin.substr(scheme + 3) == host;
}

bool is_json(std::string_view content_type) {
    return to_lower(trim(content_type.substr(0, content_type.find(';')))) == "application/json";
}

std::string shown(std::string_view text) {
    constexpr std::size_t kMax = 80;
    std::string out(text.substr(0, kMax));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return text.size() > kMax ? out + "..." : out;
}

}  // namespace assay::rpc
