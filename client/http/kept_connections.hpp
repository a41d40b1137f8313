// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <client/http/http.hpp>

namespace assay::http {

/// POSTs JSON to one server that is this operator's own, over connections that stay open between requests; http_post()
/// makes a new one each time. Redirects are not followed. Thread-safe: as many connections as threads that call at
/// once.
class KeptConnections {
  public:
    /// `timeout` is for a whole request. Answers of more than `body_max` bytes are refused.
    KeptConnections(std::string url, std::chrono::milliseconds timeout, std::uint64_t body_max);
    ~KeptConnections();
    KeptConnections(const KeptConnections&) = delete;
    KeptConnections& operator=(const KeptConnections&) = delete;

    /// Returns the body of the answer, whatever its status. Throws NetError. A connection that the server has closed is
    /// made anew.
    std::string post(const std::string& body);

  private:
    class Connection;
    std::unique_ptr<Connection> take();

    const std::string url_;
    const std::chrono::milliseconds timeout_;
    const std::uint64_t body_max_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace assay::http
