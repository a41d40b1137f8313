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

/// Serves artifacts over HTTP (ART-6): GET /artifact/<64 lower-case hex digits> returns the bytes or status 404, and
/// /leaves behind it the hashes of a checkpoint's tiles (ART-15) or of a dataset's chunks (ART-17). /chunks/ and a list
/// of numbers behind it returns those chunks of 4,096 bytes (ART-18).
class ArtifactServer {
  public:
    /// Returns the file with the artifact in a ContentStore; nullopt if it does not exist or must not be served. Called
    /// on the connections' threads.
    using Finder = std::function<std::optional<std::filesystem::path>(const Hash256& hash)>;

    /// Answers a request that is not about artifacts; nothing if it does not know it either. Called on the connections'
    /// threads.
    using Other = std::function<std::optional<http::HttpResponse>(const http::HttpRequest& request)>;

    /// Binds the socket immediately. Throws http::NetError. Objects that `find` and `other` use must outlive the
    /// server.
    ArtifactServer(const http::HttpServerOptions& options, Finder find, Other other = {});
    /// Serves all of `store`, which must outlive the server. Throws http::NetError.
    ArtifactServer(const http::HttpServerOptions& options, const ContentStore& store);
    /// The URL that artifact references use as location, such as "http://127.0.0.1:4000".
    std::string url() const;
    /// HttpServer::serve()
    void serve(int family, int fd) { server_->serve(family, fd); }
    void stop() { server_->stop(); }

  private:
    std::string address_;
    std::unique_ptr<http::HttpServer> server_;
};

}  // namespace assay::artifacts
