// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/server.hpp>

#include <string_view>
#include <utility>

namespace assay::artifacts {
namespace {

constexpr std::string_view kPrefix = "/artifact/";
constexpr std::string_view kLeavesSuffix = "/leaves";

http::HttpResponse refuse(unsigned status, std::string why) {
    return {.status = status, .content_type = "text/plain", .body = std::move(why) + "\n"};
}

http::HttpResponse answer(const http::HttpRequest& request, const ArtifactServer::Finder& find) {
    if (request.method != "GET") {
        return refuse(405, "only GET");
    }
    const std::string_view target = request.target;
    if (!target.starts_with(kPrefix)) {
        return refuse(404, "no such page");
    }
    std::string_view name = target.substr(kPrefix.size());
    const bool asks_for_leaves = name.ends_with(kLeavesSuffix);
    name.remove_suffix(asks_for_leaves ? kLeavesSuffix.size() : 0);
    const auto hash = fixed_from_hex<Hash256>(name);
    // Only the one spelling, so that caches and filters see one name per artifact.
    if (!hash || to_hex(hash->view()) != name) {
        return refuse(400, "an artifact is named by 64 lower-case hex digits");
    }
    const auto file = find(*hash);
    if (!file) {
        return refuse(404, "no such artifact");
    }
    const auto path = asks_for_leaves ? ContentStore::leaves_path(*file) : *file;
    return {.status = 200, .content_type = "application/octet-stream", .body = {}, .file = path};
}

}  // namespace

ArtifactServer::ArtifactServer(const http::HttpServerOptions& options, Finder find)
    : address_(options.address),
      server_(std::make_unique<http::HttpServer>(options, [find = std::move(find)](const http::HttpRequest& request) {
          return answer(request, find);
      })) {}

ArtifactServer::ArtifactServer(const http::HttpServerOptions& options, const ContentStore& store)
    : ArtifactServer(options, [&store](const Hash256& hash) {
          return store.has(hash) ? std::optional(store.path(hash)) : std::nullopt;
      }) {}

std::string ArtifactServer::url() const {
    const std::string host = address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]";
    return "http://" + host + ":" + std::to_string(server_->port());
}

}  // namespace assay::artifacts
