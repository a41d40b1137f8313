// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

/// Connections on which the server speaks first: WebSocket (RFC 6455) and server-sent events.
namespace assay::http {

/// The server's end of such a connection. All members may be called on any thread.
class PushChannel {
  public:
    virtual ~PushChannel() = default;
    /// Queues a message, which for server-sent events is a whole event with its empty line. Does nothing if the client
    /// is gone.
    virtual void send(std::string message) = 0;
    /// Returns how many bytes are queued and not written to the socket yet. A caller that respects a limit keeps the
    /// memory of a client that does not read bounded.
    virtual std::size_t queued_bytes() const noexcept = 0;
    virtual bool is_over() const noexcept = 0;
    /// Closes the connection after what is queued.
    virtual void finish() = 0;
};

/// What a server does with such a connection. Called on the server's I/O thread, so nothing here may block.
class PushHandler {
  public:
    virtual ~PushHandler() = default;
    virtual void opened(std::shared_ptr<PushChannel> channel) = 0;
    /// A text message of a WebSocket client.
    virtual void received(std::string text) = 0;
    /// All that was queued is written.
    virtual void drained() = 0;
    /// The connection is over. Called once, also if it was never opened.
    virtual void closed() = 0;
};

}  // namespace assay::http
