// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/server.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <core/base/integers.hpp>
#include <verifier/artifacts/chunks.hpp>
#include <verifier/artifacts/file.hpp>

namespace assay::artifacts {
namespace {

constexpr std::string_view kPrefix = "/artifact/";
constexpr std::string_view kLeavesSuffix = "/leaves";
constexpr std::string_view kChunksSuffix = "/chunks/";

http::HttpResponse refuse(unsigned status, std::string why) {
    return {.status = status, .content_type = "text/plain", .body = std::move(why) + "\n"};
}

/// ART-18
http::HttpResponse answer_chunks(const std::filesystem::path& path, const std::vector<std::uint64_t>& chunks) {
    const auto file = File::open(path);
    const std::uint64_t size_bytes = file ? file->size_bytes() : 0;
    if (chunks.back() >= div_ceil<std::uint64_t>(size_bytes, canonical::kChunkBytes)) {
        return refuse(416, "the artifact has no such chunk");
    }
    http::HttpResponse out{.status = 200, .content_type = "application/octet-stream", .body = {}};
    out.body.reserve(chunks.size() * canonical::kChunkBytes);
    for (const std::uint64_t chunk : chunks) {
        const std::uint64_t begin = chunk * canonical::kChunkBytes;
        Bytes bytes(std::min<std::uint64_t>(canonical::kChunkBytes, size_bytes - begin));
        file->read_at(begin, bytes);
        out.body += as_text(bytes);
    }
    return out;
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
    std::optional<std::vector<std::uint64_t>> chunks;
    if (const std::size_t at = name.find(kChunksSuffix); at != std::string_view::npos) {
        chunks = decode_chunk_list(name.substr(at + kChunksSuffix.size()));
        if (!chunks) {
            return refuse(400, "chunks are named by 1 to 256 ascending numbers, separated by commas");
        }
        name = name.substr(0, at);
    }
    const bool asks_for_leaves = !chunks && name.ends_with(kLeavesSuffix);
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
    if (chunks) {
        return answer_chunks(*file, *chunks);
    }
    const auto path = asks_for_leaves ? ContentStore::leaves_path(*file) : *file;
    return {.status = 200, .content_type = "application/octet-stream", .body = {}, .file = path};
}

}  // namespace

ArtifactServer::ArtifactServer(const http::HttpServerOptions& options, Finder find, Other other)
    : address_(options.address),
      server_(std::make_unique<http::HttpServer>(
          options,
          [find = std::move(find), other = std::move(other)](const http::HttpRequest& request) {
              auto answered = other ? other(request) : std::nullopt;
              return answered ? *std::move(answered) : answer(request, find);
          }
      )) {}

ArtifactServer::ArtifactServer(const http::HttpServerOptions& options, const ContentStore& store)
    : ArtifactServer(options, [&store](const Hash256& hash) {
          return store.has(hash) ? std::optional(store.path(hash)) : std::nullopt;
      }) {}

std::string ArtifactServer::url() const {
    const std::string host = address_.find(':') == std::string::npos ? address_ : "[" + address_ + "]";
    return "http://" + host + ":" + std::to_string(server_->port());
}

}  // namespace assay::artifacts
