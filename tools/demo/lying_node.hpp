// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/transaction/transaction.hpp>
#include <client/http/http.hpp>

/// A node that lies to its clients.
namespace assay::demo {

/// A proxy on loopback in front of a real node. It forwards each JSON-RPC request, may alter the answer, and stores the
/// transactions that its clients submit: these are all that a client has signed. Thread-safe.
class LyingNode {
  public:
    /// Alters the answer to one request. The answer is an object with "result" or "error".
    using Lie = std::function<void(const std::string& method, const nlohmann::json& params, nlohmann::json& answer)>;
    /// Returns the URL of the real node; called once, at the first request.
    using Truth = std::function<std::string()>;

    explicit LyingNode(Truth truth);
    const std::string& url() const { return url_; }
    /// Sets the lie for all later answers; an empty function means no lie.
    void tell(Lie lie);
    /// Returns the transactions that clients submitted since the last call, each once.
    std::vector<contracts::Tx> take_signed();
    /// Returns the number of answers that were altered.
    std::uint64_t altered() const;

  private:
    http::HttpResponse answer(const http::HttpRequest& request);

    Truth truth_;
    mutable std::mutex mutex_;
    std::string truth_url_;
    Lie lie_;
    std::vector<std::string> submitted_;  ///< hex
    std::uint64_t altered_ = 0;
    std::string url_;
    std::unique_ptr<http::HttpServer> server_;  ///< last, because it uses all other members
};

}  // namespace assay::demo
