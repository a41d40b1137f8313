// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/server.hpp>

#include <string_view>
#include <utility>

namespace assay::artifacts {
namespace {

constexpr std::string_view kPrefix = "/artifact/";

net::HttpResponse refuse(unsigned status, std::string why) {
    return {.status = status, .content_type = "text/plain", .body = std::move(why) + "\n"};
}

net::HttpResponse answer(
    const net::HttpRequest& request, const ContentStore& store, const ArtifactServer::Filter& filter
) {
    if (request.method != "GET") {
        return refuse(405, "only GET");
    }
    const std::string_view target = request.target;
    if (!target.starts_with(kPrefix)) {
        return refuse(404, "no such page");
    }
    const std::string_view name = target.substr(kPrefix.size());
    const auto hash = fixed_from_hex<Hash256>(name);
    // Only the one spelling, so that caches and filters see one name per artifact.
    if (!hash || to_hex(hash->view()) != name) {
        return refuse(400, "an artifact is named by 64 lower-case hex digits");
    }
    if ((filter && !filter(*hash)) || !store.has(*hash)) {
        return refuse(404, "no such artifact");
    }
    return {.status = 200, .content_type = "application/octet-stream", .body = {}, .file = store.path(*hash)};
}

}  // namespace

ArtifactServer::ArtifactServer(const net::HttpServerOptions& options, const ContentStore& store, Filter filter)
    : address_(options.address),
      server_(std::make_unique<net::HttpServer>(
          options,
          [&store, filter = std::move(filter)](const net::HttpRequest& request) {
              return answer(request, store, filter);
          }
      )) {}

std::string ArtifactServer::url() const {
    const std::string host = address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]";
    return "http://" + host + ":" + std::to_string(server_->port());
}

}  // namespace assay::artifacts
