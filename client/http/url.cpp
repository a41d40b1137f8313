// SPDX-License-Identifier: Apache-2.0
#include <client/http/http.hpp>

#include <algorithm>
#include <memory>

#include <curl/curl.h>

namespace assay::http {

namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::optional<std::string> part(const Handle& handle, CURLUPart which, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(handle.get(), which, &text, flags) != CURLUE_OK || text == nullptr) {
        return std::nullopt;
    }
    const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
    return std::string(text);
}

}  // namespace

std::optional<Url> decode_url(std::string_view text) {
    const bool is_http = text.starts_with("http://");
    if ((!is_http && !text.starts_with("https://")) || text.size() > 2'048) {
        return std::nullopt;
    }
    // What could end a request line or a header, and fragments and user names, which nobody here sends.
    if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= '\x7f' || c == '#' || c == '@'; })) {
        return std::nullopt;
    }
    // libcurl overlooks the first two, and decodes %xx in a host.
    const std::string_view rest = text.substr(is_http ? 7 : 8);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    if (authority.empty() || authority.ends_with(':') || authority.find('%') != std::string_view::npos) {
        return std::nullopt;
    }
    const Handle handle(curl_url(), &curl_url_cleanup);
    if (!handle ||
        curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_PATH_AS_IS) != CURLUE_OK) {
        return std::nullopt;
    }
    const auto host = part(handle, CURLUPART_HOST);
    const auto port = part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    const auto path = part(handle, CURLUPART_PATH);
    if (!host || host->empty() || !port || *port == "0" || !path) {
        return std::nullopt;
    }
    Url url{.scheme = is_http ? "http" : "https", .host = *host, .port = *port, .target = *path};
    if (url.host.starts_with('[')) {
        url.host = url.host.substr(1, url.host.size() - 2);
    }
    if (const auto query = part(handle, CURLUPART_QUERY)) {
        url.target += "?" + *query;
    }
    return url;
}

}  // namespace assay::http
