// SPDX-License-Identifier: Apache-2.0
#include <client/http/push_session.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

namespace assay::http {

namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using Stream = asio::generic::stream_protocol::socket;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kReceivedMax = 65'536;          // bytes of a client's message
constexpr std::chrono::seconds kKeepAlive{15};        // between comments that keep a stream of events open
constexpr std::chrono::seconds kHandshakeTimeout{5};  // for the upgrade, and for the client's part of a close

Stream take(asio::io_context& context, const GivenSocket& given) {
    Stream out(context);
    ErrorCode ignored;
    out.assign({given.family, given.family == AF_UNIX ? 0 : IPPROTO_TCP}, given.fd, ignored);
    return out;
}

class PushSession;

/// What the handler holds: knows the connection only while there is one.
class Channel final : public PushChannel {
  public:
    explicit Channel(std::shared_ptr<asio::io_context> context) : context_(std::move(context)) {}
    void connect(std::weak_ptr<PushSession> session) { session_ = std::move(session); }
    void send(std::string message) override;
    std::size_t queued_bytes() const noexcept override { return queued_; }
    bool is_over() const noexcept override { return is_over_; }
    void finish() override;

    void count_written(std::size_t bytes) noexcept { queued_ -= bytes; }
    void end() noexcept { is_over_ = true; }

  private:
    std::shared_ptr<asio::io_context> context_;
    std::weak_ptr<PushSession> session_;
    std::atomic<std::size_t> queued_{0};
    std::atomic<bool> is_over_{false};
};

/// What both kinds of connections have in common: a queue of messages of which one is being written. The states are
/// those of other sessions: kSending while something is queued, whose deadline moves with every message, else kWaiting.
class PushSession : public HttpSession, public std::enable_shared_from_this<PushSession> {
  public:
    PushSession(
        const std::shared_ptr<asio::io_context>& context, const ClientAddress& address, HttpSessionHost& host,
        std::shared_ptr<PushHandler> handler
    )
        : HttpSession(address),
          host_(host),
          handler_(std::move(handler)),
          channel_(std::make_shared<Channel>(context)) {}

    std::shared_ptr<HttpSession> shared() override { return shared_from_this(); }
    void wait(std::uint64_t /*exchange*/) override {}
    void answer(std::uint64_t /*exchange*/, HttpResponse /*response*/) override {}

    void start() override {
        channel_->connect(weak_from_this());
        enter(State::kSending);
        begin();
    }
    void close() override {
        if (state_ == State::kClosed) {
            return;
        }
        const auto self = shared_from_this();
        state_ = State::kClosed;
        host_.ended(*this);
        shut();
        channel_->end();
        handler_->closed();
    }
    void push(std::string message) {
        if (state_ == State::kClosed || is_finishing_) {
            return;
        }
        host_.add_memory(*this, message.size());
        queue_.push_back(std::move(message));
        write_next();
    }
    void finish() {
        is_finishing_ = true;
        write_next();
    }

  protected:
    /// Makes the connection ready, then calls ready().
    virtual void begin() = 0;
    /// Writes one message, then calls written().
    virtual void write(const std::string& message) = 0;
    /// Says good-bye, then calls close().
    virtual void end() = 0;
    /// Closes the socket at once.
    virtual void shut() = 0;

    void ready() {
        is_ready_ = true;
        handler_->opened(channel_);
        write_next();
    }
    void written(const ErrorCode& error) {
        is_writing_ = false;
        if (state_ == State::kClosed) {
            return;
        }
        if (error) {
            close();
            return;
        }
        channel_->count_written(queue_.front().size());
        queue_.pop_front();
        if (queue_.empty()) {
            host_.give_memory(*this, bytes());
            handler_->drained();
        }
        write_next();
    }
    PushHandler& handler() { return *handler_; }
    std::chrono::seconds idle_timeout() const { return host_.options().idle_timeout; }

  private:
    void enter(State state) {
        state_ = state;
        progress_at_ = std::chrono::steady_clock::now();
        deadline_ = progress_at_ + host_.options().idle_timeout;
    }
    void write_next() {
        if (!is_ready_ || is_writing_ || state_ == State::kClosed) {
            return;
        }
        if (!queue_.empty()) {
            is_writing_ = true;
            enter(State::kSending);
            write(queue_.front());
        } else if (is_finishing_) {
            is_writing_ = true;
            enter(State::kSending);
            end();
        } else {
            enter(State::kWaiting);
        }
    }

    HttpSessionHost& host_;
    std::shared_ptr<PushHandler> handler_;
    std::shared_ptr<Channel> channel_;
    std::deque<std::string> queue_;  // the first is being written
    bool is_ready_ = false;
    bool is_writing_ = false;
    bool is_finishing_ = false;
};

void Channel::send(std::string message) {
    if (is_over_) {
        return;
    }
    queued_ += message.size();
    asio::post(*context_, [session = session_, message = std::move(message)]() mutable {
        if (const auto there = session.lock()) {
            there->push(std::move(message));
        }
    });
}

void Channel::finish() {
    asio::post(*context_, [session = session_] {
        if (const auto there = session.lock()) {
            there->finish();
        }
    });
}

class EventStream final : public PushSession {
  public:
    EventStream(
        const std::shared_ptr<asio::io_context>& context, const GivenSocket& given, HttpSessionHost& host,
        std::shared_ptr<PushHandler> handler
    )
        : PushSession(context, given.address, host, std::move(handler)),
          socket_(take(*context, given)),
          timer_(*context) {}

  private:
    std::shared_ptr<EventStream> self() { return std::static_pointer_cast<EventStream>(shared_from_this()); }

    void begin() override {
        static constexpr std::string_view kHead =
            "HTTP/1.1 200 OK\r\nServer: assay\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
        read();
        asio::async_write(socket_, asio::buffer(kHead), [self = self()](const ErrorCode& error, std::size_t) {
            if (error) {
                self->close();
            } else if (self->state() != State::kClosed) {
                self->ready();
                self->keep_alive();
            }
        });
    }
    void write(const std::string& message) override {
        asio::async_write(socket_, asio::buffer(message), [self = self()](const ErrorCode& error, std::size_t) {
            self->written(error);
        });
    }
    void end() override { close(); }
    void shut() override {
        ErrorCode ignored;
        timer_.cancel();
        socket_.shutdown(Stream::shutdown_both, ignored);
        socket_.close(ignored);
    }
    /// The client has nothing more to say; only that it goes is of interest.
    void read() {
        socket_.async_read_some(asio::buffer(ignored_), [self = self()](const ErrorCode& error, std::size_t) {
            if (error) {
                self->close();
            } else {
                self->read();
            }
        });
    }
    void keep_alive() {
        timer_.expires_after(kKeepAlive);
        timer_.async_wait([self = self()](const ErrorCode& error) {
            if (error || self->state() == State::kClosed) {
                return;
            }
            if (self->state() == State::kWaiting) {
                self->push(":\n\n");
            }
            self->keep_alive();
        });
    }

    Stream socket_;
    asio::steady_timer timer_;
    std::array<char, 256> ignored_{};
};

class WebSocket final : public PushSession {
  public:
    WebSocket(
        const std::shared_ptr<asio::io_context>& context, const GivenSocket& given, HttpSessionHost& host,
        std::shared_ptr<PushHandler> handler, UpgradeRequest request
    )
        : PushSession(context, given.address, host, std::move(handler)),
          request_(std::move(request)),
          stream_(take(*context, given)) {}

  private:
    std::shared_ptr<WebSocket> self() { return std::static_pointer_cast<WebSocket>(shared_from_this()); }

    void begin() override {
        stream_.set_option(websocket::stream_base::timeout{
            .handshake_timeout = kHandshakeTimeout, .idle_timeout = idle_timeout(), .keep_alive_pings = true});
        stream_.set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
            response.set(boost::beast::http::field::server, "assay");
        }));
        stream_.read_message_max(kReceivedMax);
        stream_.text(true);
        stream_.async_accept(request_, [self = self()](const ErrorCode& error) {
            if (error) {
                self->close();
            } else if (self->state() != State::kClosed) {
                self->ready();
                self->read();
            }
        });
    }
    void write(const std::string& message) override {
        stream_.async_write(asio::buffer(message), [self = self()](const ErrorCode& error, std::size_t) {
            self->written(error);
        });
    }
    void end() override {
        stream_.async_close(websocket::close_code::going_away, [self = self()](const ErrorCode&) { self->close(); });
    }
    void shut() override {
        ErrorCode ignored;
        stream_.next_layer().shutdown(Stream::shutdown_both, ignored);
        stream_.next_layer().close(ignored);
    }
    void read() {
        stream_.async_read(input_, [self = self()](const ErrorCode& error, std::size_t) {
            if (self->state() == State::kClosed) {
                return;
            }
            if (error || !self->stream_.got_text()) {
                self->close();
                return;
            }
            std::string text = boost::beast::buffers_to_string(self->input_.data());
            self->input_.consume(self->input_.size());
            self->handler().received(std::move(text));
            self->read();
        });
    }

    const UpgradeRequest request_;
    websocket::stream<Stream> stream_;
    boost::beast::flat_buffer input_;
};

}  // namespace

std::shared_ptr<HttpSession> make_event_stream(
    const std::shared_ptr<asio::io_context>& context, GivenSocket socket, HttpSessionHost& host,
    std::shared_ptr<PushHandler> handler
) {
    return std::make_shared<EventStream>(context, socket, host, std::move(handler));
}

std::shared_ptr<HttpSession> make_web_socket(
    const std::shared_ptr<asio::io_context>& context, GivenSocket socket, HttpSessionHost& host,
    std::shared_ptr<PushHandler> handler, UpgradeRequest request
) {
    return std::make_shared<WebSocket>(context, socket, host, std::move(handler), std::move(request));
}

}  // namespace assay::http
