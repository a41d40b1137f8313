// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <client/http/http.hpp>

namespace assay::client {

/// Serves a process's metrics to Prometheus: GET /metrics, on an address of its own. Nothing authenticates callers.
class MetricsServer {
  public:
    /// Returns the text of a scrape. Called on a thread of the server, one call at a time.
    using Scrape = std::function<std::string()>;

    /// Starts to serve. `port` 0: any free one. Throws http::NetError with the address if it cannot be bound.
    MetricsServer(const std::string& address, std::uint16_t port, Scrape scrape);
    std::uint16_t port() const noexcept { return http_.port(); }
    /// Returns the URL to scrape.
    std::string url() const;
    /// Waits for a scrape in progress. Idempotent.
    void stop() { http_.stop(); }

  private:
    const std::string address_;
    http::HttpServer http_;
};

}  // namespace assay::client
