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

/// Long-poll requests that wait for a block; one thread serves all of them. A request whose client has disconnected is
/// dropped.
class BlockWaits {
  public:
    /// `api` must outlive this object.
    explicit BlockWaits(node::NodeApi& api);
    ~BlockWaits();
    BlockWaits(const BlockWaits&) = delete;
    BlockWaits& operator=(const BlockWaits&) = delete;

    /// Answers `exchange` when the wait is over; at once if the block is already there or the server is stopping.
    void add(Wait wait, std::shared_ptr<http::HttpExchange> exchange);
    std::size_t count() const;
    /// Answers all waiting requests. Idempotent.
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
    Height height_;  // the latest height that the thread knows
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace assay::rpc
