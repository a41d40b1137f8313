// SPDX-License-Identifier: Apache-2.0
#include <client/http/site.hpp>

#include <algorithm>
#include <utility>

namespace assay::http {
namespace {

const char* content_type_of(std::string_view target) {
    static constexpr std::pair<std::string_view, const char*> kTypes[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".wasm", "application/wasm"}};
    for (const auto& [ending, type] : kTypes) {
        if (target.ends_with(ending)) {
            return type;
        }
    }
    return "application/octet-stream";
}

/// If-None-Match is a list of ETags, or a star. No ETag of ours contains another one, so a search is enough.
bool is_known(std::string_view if_none_match, std::string_view etag) {
    return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

}  // namespace

std::optional<HttpResponse> answer_site(
    std::span<const SiteFile> files, const std::string& content_security_policy, const HttpRequest& request
) {
    const std::string_view asked = std::string_view(request.target).substr(0, request.target.find('?'));
    const std::string_view target = asked == "/" ? std::string_view("/index.html") : asked;
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const SiteFile& file) { return file.target == target; });
    if (found == files.end()) {
        return std::nullopt;
    }
    HttpResponse response;
    response.content_type = content_type_of(target);
    // A program that was upgraded serves other files under the same names, so browsers ask each time; the answer is
    // mostly 304.
    response.fields = {
        {"ETag", std::string(found->etag)},
        {"Cache-Control", "no-cache"},
        {"Content-Security-Policy", content_security_policy},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"}};
    if (is_known(request.if_none_match, found->etag)) {
        response.status = 304;
        return response;
    }
    response.body.assign(found->bytes, found->bytes + found->size);
    return response;
}

}  // namespace assay::http
