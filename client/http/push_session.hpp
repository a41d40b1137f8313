// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>

#include <client/http/http_session.hpp>
#include <client/http/push.hpp>

namespace assay::http {

/// The head of a request that asks for a WebSocket.
using UpgradeRequest = boost::beast::http::request<boost::beast::http::empty_body>;

/// A connected socket that an HttpSession gives away.
struct GivenSocket {
    int family = 0;
    int fd = -1;
    ClientAddress address{};
};

/// Sends the head of a stream of events and then what the handler's channel is given.
std::shared_ptr<HttpSession> make_event_stream(
    const std::shared_ptr<boost::asio::io_context>& context, GivenSocket socket, HttpSessionHost& host,
    std::shared_ptr<PushHandler> handler
);

/// Accepts the upgrade and exchanges text messages.
std::shared_ptr<HttpSession> make_web_socket(
    const std::shared_ptr<boost::asio::io_context>& context, GivenSocket socket, HttpSessionHost& host,
    std::shared_ptr<PushHandler> handler, UpgradeRequest request
);

}  // namespace assay::http
