// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include <client/http/http.hpp>
#include <node/api/node_api.hpp>
#include <node/rpc/work.hpp>

namespace assay::rpc {

/// Requests that wait for a block: one thread for all of them. One whose client is gone is forgotten.
class BlockWaits {
  public:
    /// `api` outlives it.
    explicit BlockWaits(node::NodeApi& api);
    ~BlockWaits();
    BlockWaits(const BlockWaits&) = delete;
    BlockWaits& operator=(const BlockWaits&) = delete;

    /// Answers `exchange` when the wait is over; at once when it is already, or the server stops.
    void add(Wait wait, std::shared_ptr<http::HttpExchange> exchange);
    std::size_t count() const;
    /// Answers all of them. Idempotent.
    void stop();

  private:
    struct Entry {
        Wait wait;
        std::shared_ptr<http::HttpExchange> exchange;
    };

    void run();
    bool settle(const Entry& entry) const;

    node::NodeApi& api_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Entry> entries_;
    Height height_;  // that the thread has seen
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace assay::rpc
