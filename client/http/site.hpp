// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <client/http/http.hpp>

namespace assay::http {

/// A file of a site as the build embedded it (cmake/embed_site.cmake).
struct SiteFile {
    std::string_view target;  ///< "/main.js"
    std::string_view etag;    ///< the SHA-256 of the bytes in hex, in quotation marks
    const unsigned char* bytes;
    std::size_t size;  ///< in bytes
};

/// Returns the answer to a GET or HEAD whose target is one of `files`, "/" being "/index.html"; nullopt for any other
/// target. A query behind the target is ignored. The answer carries the headers that keep the page to its origin, and
/// an ETag: a request that names it in If-None-Match gets 304 without a body.
std::optional<HttpResponse> answer_site(
    std::span<const SiteFile> files, const std::string& content_security_policy, const HttpRequest& request
);

}  // namespace assay::http
