// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <core/base/bytes.hpp>
#include <client/http/http.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// Serves artifacts over HTTP (ART-6): GET /artifact/<64 lower-case hex digits> answers the bytes or 404.
class ArtifactServer {
  public:
    /// The file that has the artifact; nullopt where there is none, or it is not to be served. Called on the connections'
    /// threads.
    using Finder = std::function<std::optional<std::filesystem::path>(const Hash256& hash)>;

    /// Binds at once; throws http::NetError. What `find` uses outlives the server.
    ArtifactServer(const http::HttpServerOptions& options, Finder find);
    /// Serves all of a store, which outlives the server.
    ArtifactServer(const http::HttpServerOptions& options, const ContentStore& store);
    /// "http://127.0.0.1:4000": what artifact references name as their location.
    std::string url() const;
    void stop() { server_->stop(); }

  private:
    std::string address_;
    std::unique_ptr<http::HttpServer> server_;
};

}  // namespace assay::artifacts
