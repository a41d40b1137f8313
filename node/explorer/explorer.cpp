// SPDX-License-Identifier: Apache-2.0
#include <node/explorer/explorer.hpp>

#include <client/http/site.hpp>
#include <node/explorer/site_files.hpp>

namespace assay::explorer {

namespace {

/// The page runs this origin's scripts and its WebAssembly, speaks to this origin, and stands in no frame. Text of
/// strangers (titles, addresses) that found its way into markup could still not run or load anything.
constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

std::optional<http::HttpResponse> answer(const http::HttpRequest& request) {
    return http::answer_site(site_files(), kContentSecurityPolicy, request);
}

}  // namespace assay::explorer
