// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/transaction.hpp>
#include <client/http/http.hpp>

/// A node that lies to its clients.
namespace assay::demo {

/// A proxy on loopback in front of a real node. It forwards each JSON-RPC request, may alter the answer, and keeps the
/// transactions that its clients submitted: that is all that a client has signed. Thread-safe.
class LyingNode {
  public:
    /// Alters the answer, an object with "result" or "error", to one request.
    using Lie = std::function<void(const std::string& method, const nlohmann::json& params, nlohmann::json& answer)>;
    /// Where the real node is; asked once, with the first request.
    using Truth = std::function<std::string()>;

    explicit LyingNode(Truth truth);
    const std::string& url() const { return url_; }
    /// From now on this is what it says; an empty function: the truth.
    void tell(Lie lie);
    /// The transactions that clients submitted, each once, since this was asked last.
    std::vector<contracts::Tx> take_signed();
    /// How many answers were not what the real node said.
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
    std::unique_ptr<http::HttpServer> server_;  ///< last, for it uses all the others
};

}  // namespace assay::demo
