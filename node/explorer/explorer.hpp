// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <client/http/http.hpp>

/// The site that a node serves to browsers: files that are part of the program. It reads nothing of the node; the page
/// asks the same address by JSON-RPC.
namespace assay::explorer {

/// Returns the answer to a GET or HEAD whose target is a file of the site, "/" being its index; nullopt for any other
/// target. A query behind the target is ignored. The answer carries the headers that keep the page to this origin, and
/// an ETag: a request that names it in If-None-Match gets 304 without a body.
std::optional<http::HttpResponse> answer(const http::HttpRequest& request);

}  // namespace assay::explorer
