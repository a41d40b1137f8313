// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <client/http/push.hpp>
#include <node/api/node_api.hpp>
#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

/// Tells subscribers what happens, by WebSocket or server-sent events (docs/rpc.md#push). Each subscription has a place
/// in the chain from which it goes on, so a client that reads slowly is told later, not less, and the node keeps at
/// most kQueueMax bytes for it. One thread does all the work.
class Subscriptions {
  public:
    static constexpr std::size_t kQueueMax = 256U << 10U;  ///< bytes that may wait for a client before it gets more
    static constexpr std::size_t kPerConnection = 16;      ///< subscriptions
    static constexpr std::size_t kUnansweredMax = 32;      ///< messages of a client; it is disconnected beyond

    /// `api` must outlive this object.
    explicit Subscriptions(node::NodeApi& api);
    ~Subscriptions();
    Subscriptions(const Subscriptions&) = delete;
    Subscriptions& operator=(const Subscriptions&) = delete;

    /// Returns the handler of a new WebSocket, on which the client calls subscribe and unsubscribe.
    std::shared_ptr<http::PushHandler> web_socket();
    /// Returns the handler of a stream of one subscription's events. `params` are those of subscribe. Throws a Fault.
    std::shared_ptr<http::PushHandler> event_stream(const Json& params);

    /// Returns the number of open connections.
    std::size_t count() const;
    /// Says good-bye to all clients. Idempotent.
    void stop();

    struct Hub;

  private:
    std::shared_ptr<Hub> hub_;
};

/// Returns the parameters of subscribe in a query such as "topic=task&task=ab12&after=7". Throws a Fault.
Json query_arguments(std::string_view query);

}  // namespace assay::rpc
