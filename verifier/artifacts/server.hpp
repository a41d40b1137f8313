// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <core/base/bytes.hpp>
#include <net/http.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// Serves a store over HTTP (ART-6): GET /artifact/<64 lower-case hex digits> answers the bytes or 404.
class ArtifactServer {
  public:
    /// Whether `hash` may be served; called on the connections' threads.
    using Filter = std::function<bool(const Hash256& hash)>;

    /// Binds at once; throws net::NetError. `store` outlives the server.
    ArtifactServer(const net::HttpServerOptions& options, const ContentStore& store, Filter filter = {});
    /// "http://127.0.0.1:4000": what artifact references name as their location.
    std::string url() const;
    void stop() { server_->stop(); }

  private:
    std::string address_;
    std::unique_ptr<net::HttpServer> server_;
};

}  // namespace assay::artifacts
