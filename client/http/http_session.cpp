// SPDX-License-Identifier: Apache-2.0
#include <client/http/http_session.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <netinet/in.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <client/http/growing_body.hpp>
#include <client/http/http_range.hpp>
#include <client/http/push_session.hpp>
#include <client/http/sent_file.hpp>

namespace assay::http {

namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Stream = asio::generic::stream_protocol::socket;

constexpr std::uint32_t kHeaderMax = 16'384;
constexpr std::size_t kReadBytes = 8'192;
constexpr std::size_t kAheadMax = std::size_t{2} * kHeaderMax;  // of requests that follow one that is being answered
constexpr std::size_t kFilePiece = 256U << 10U;
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr std::uint64_t kLingerBytes = 16U << 20U;

using Parser = beast_http::request_parser<GrowingBody>;

class Session final : public HttpSession, public std::enable_shared_from_this<Session> {
  public:
    Session(
        const std::shared_ptr<asio::io_context>& context, int family, int fd, const ClientAddress& address,
        HttpSessionHost& host
    )
        : HttpSession(address),
          host_(host),
          context_(context),
          family_(family),
          socket_(*context, {family, family == AF_UNIX ? 0 : IPPROTO_TCP}, fd) {
        socket_.native_non_blocking(true);
    }

    std::shared_ptr<HttpSession> shared() override { return shared_from_this(); }
    void start() override;
    void close() override;
    void wait(std::uint64_t exchange) override;
    void answer(std::uint64_t exchange, HttpResponse response) override;

  private:
    void enter(State state, std::chrono::milliseconds limit);
    void next_request();
    void read();
    void received(const ErrorCode& error, std::size_t size);
    void end_of_input();
    void feed();
    bool advance(ErrorCode& error);
    bool begin_body();
    void begin_exchange();
    void give_socket(std::shared_ptr<PushHandler> handler);
    void refuse(const HttpResponse& response);
    std::string choose_range(HttpResponse& response);
    void send(HttpResponse response);
    void send_text();
    void send_file();
    void file_piece();
    void sent();

    HttpSessionHost& host_;
    std::shared_ptr<asio::io_context> context_;
    int family_ = 0;
    Stream socket_;
    std::optional<UpgradeRequest> upgrade_;  // of the request that is being answered
    std::array<char, kReadBytes> piece_{};
    std::string input_;  // received and not parsed
    std::optional<Parser> parser_;
    bool is_reading_ = false;
    bool has_ended_ = false;  // no more will come
    std::uint64_t exchange_ = 0;
    unsigned version_ = 11;
    bool keep_alive_ = true;
    bool head_only_ = false;
    std::string range_;  // the request's field Range
    std::string head_;
    std::string body_;
    std::size_t text_sent_ = 0;  // of head and body together
    SentFile file_;
    std::uint64_t dropped_ = 0;
};

void Session::enter(State state, std::chrono::milliseconds limit) {
    state_ = state;
    progress_at_ = std::chrono::steady_clock::now();
    deadline_ = progress_at_ + limit;
}

void Session::start() {
    // A client that connects has something to ask.
    enter(State::kIdle, host_.options().header_timeout);
    parser_.emplace();
    parser_->header_limit(kHeaderMax);
    parser_->body_limit(host_.options().body_max);
    read();
}

void Session::close() {
    if (state_ == State::kClosed) {
        return;
    }
    const auto self = shared_from_this();
    state_ = State::kClosed;
    host_.ended(*this);
    ErrorCode ignored;
    socket_.shutdown(Stream::shutdown_both, ignored);
    socket_.close(ignored);
    file_.reset();
}

void Session::next_request() {
    parser_.emplace();
    parser_->header_limit(kHeaderMax);
    parser_->body_limit(host_.options().body_max);
    enter(State::kIdle, host_.options().idle_timeout);
    feed();
}

/// One read is always under way, for a client that goes is noticed by nothing else; unless it sends far ahead.
void Session::read() {
    if (is_reading_ || has_ended_ || state_ == State::kClosed || input_.size() >= kAheadMax) {
        return;
    }
    is_reading_ = true;
    socket_.async_read_some(
        asio::buffer(piece_),
        [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
            self->is_reading_ = false;
            self->received(error, size);
        }
    );
}

void Session::received(const ErrorCode& error, std::size_t size) {
    if (state_ == State::kClosed) {
        return;
    }
    if (error == asio::error::eof) {
        end_of_input();
        return;
    }
    if (error) {
        close();
        return;
    }
    if (state_ == State::kLingering) {
        dropped_ += size;
        if (dropped_ >= kLingerBytes) {
            close();
            return;
        }
        read();
        return;
    }
    input_.append(piece_.data(), size);
    if (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody) {
        progress_at_ = std::chrono::steady_clock::now();
        feed();
    } else {
        read();
    }
}

/// The client has closed its half. What is being computed for it is given up, what is being sent still goes out.
void Session::end_of_input() {
    has_ended_ = true;
    if (state_ == State::kRunning) {
        host_.abandon(*this);
    } else if (state_ != State::kSending) {
        close();
    }
}

/// Parses what is there, until a request is whole or more is needed.
void Session::feed() {
    while (!parser_->is_done() && !input_.empty()) {
        ErrorCode error;
        if (!advance(error)) {
            return;
        }
        if (error == beast_http::error::need_more) {
            break;
        }
        if (error == beast_http::error::body_limit) {
            refuse(host_.options().too_large);
            return;
        }
        if (error) {
            refuse(text_response(400, "bad request: " + error.message() + "\n"));
            return;
        }
    }
    if (parser_->is_done()) {
        begin_exchange();
    } else if (has_ended_) {
        close();
        return;
    } else if (input_.size() >= kAheadMax) {
        refuse(text_response(400, "bad request: too long a line\n"));
        return;
    }
    read();
}

/// One step of the parser; false when the connection has been dealt with.
bool Session::advance(ErrorCode& error) {
    if (state_ == State::kIdle) {
        // A fresh connection's time runs already.
        const auto from_now = std::chrono::steady_clock::now() + host_.options().header_timeout;
        state_ = State::kHead;
        deadline_ = std::min(deadline_, from_now);
    }
    const std::size_t before = parser_->get().body().size();
    const std::size_t used = parser_->put(asio::buffer(input_), error);
    input_.erase(0, used);
    const std::size_t grown = parser_->get().body().size() - before;
    if (grown > 0 && !host_.take_memory(*this, grown)) {
        refuse(text_response(503, "the server's memory is used up: try again\n"));
        return false;
    }
    return error || state_ != State::kHead || !parser_->is_header_done() || begin_body();
}

bool Session::begin_body() {
    enter(State::kBody, host_.options().idle_timeout);
    if (boost::beast::iequals(parser_->get()[beast_http::field::expect], "100-continue")) {
        static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
        ::send(socket_.native_handle(), kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return true;
}

void Session::begin_exchange() {
    auto& message = parser_->get();
    version_ = message.version();
    keep_alive_ = message.keep_alive();
    HttpRequest request{
        .method = std::string(message.method_string()),
        .target = std::string(message.target()),
        .body = std::move(message.body()),
        .host = std::string(message[beast_http::field::host]),
        .content_type = std::string(message[beast_http::field::content_type]),
        .origin = std::string(message[beast_http::field::origin]),
        .last_event_id = std::string(message["Last-Event-ID"]),
        .is_upgrade = boost::beast::websocket::is_upgrade(message),
        .if_none_match = std::string(message[beast_http::field::if_none_match]),
        .authorization = std::string(message[beast_http::field::authorization]),
        .client = address()};
    upgrade_ = request.is_upgrade ? std::optional(UpgradeRequest(message.base())) : std::nullopt;
    head_only_ = request.method == "HEAD";
    // No answer has a validator that If-Range could name, so the field makes every condition false.
    const bool has_range = request.method == "GET" && message[beast_http::field::if_range].empty();
    range_ = has_range ? std::string(message[beast_http::field::range]) : std::string();
    parser_.reset();
    enter(State::kRunning, {});
    host_.begin(*this, ++exchange_, std::move(request));
}

void Session::wait(std::uint64_t exchange) {
    if (exchange != exchange_ || state_ != State::kRunning) {
        return;
    }
    enter(State::kWaiting, {});
    if (has_ended_ || host_.is_stopping()) {
        close();
    }
}

void Session::answer(std::uint64_t exchange, HttpResponse response) {
    if (exchange == exchange_ && (state_ == State::kRunning || state_ == State::kWaiting)) {
        host_.give_memory(*this, bytes());  // the request's
        if (response.push) {
            give_socket(std::move(response.push));
        } else {
            send(std::move(response));
        }
    }
}

/// Ends this session; another one goes on with its connection.
void Session::give_socket(std::shared_ptr<PushHandler> handler) {
    const auto self = shared_from_this();
    if (has_ended_ || host_.is_stopping()) {
        handler->closed();
        close();
        return;
    }
    ErrorCode error;
    const int fd = socket_.release(error);
    if (error) {
        handler->closed();
        close();
        return;
    }
    state_ = State::kClosed;
    host_.ended(*this);
    const GivenSocket given{.family = family_, .fd = fd, .address = address()};
    host_.adopt(
        upgrade_ ? make_web_socket(context_, given, host_, std::move(handler), *std::move(upgrade_))
                 : make_event_stream(context_, given, host_, std::move(handler))
    );
}

void Session::refuse(const HttpResponse& response) {
    keep_alive_ = false;
    head_only_ = false;
    range_.clear();
    parser_.reset();
    input_.clear();
    host_.give_memory(*this, bytes());
    send(response);
}

/// Makes the answer one about the part of the file that was asked for, and returns the header lines that say so.
std::string Session::choose_range(HttpResponse& response) {
    if (!response.file || response.status != 200) {
        return {};
    }
    const auto size = static_cast<std::uint64_t>(file_.size);
    const RangeDecision decision = decide_range(range_, size);
    if (!decision.is_satisfiable) {
        file_.reset();
        response = text_response(416, "the file has " + std::to_string(size) + " bytes\n");
        return "Content-Range: bytes */" + std::to_string(size) + "\r\n";
    }
    if (!decision.range) {
        return "Accept-Ranges: bytes\r\n";
    }
    response.status = 206;
    file_.offset = static_cast<off_t>(decision.range->first);
    file_.end = static_cast<off_t>(decision.range->last) + 1;
    return "Accept-Ranges: bytes\r\nContent-Range: " + content_range(*decision.range, size) + "\r\n";
}

void Session::send(HttpResponse response) {
    if (response.file && !file_.open(*response.file)) {
        response = text_response(404, "not found\n");
    }
    const std::string ranges = choose_range(response);
    keep_alive_ = keep_alive_ && !has_ended_ && !host_.is_stopping();
    const auto size = response.file ? static_cast<std::uint64_t>(file_.end - file_.offset) : response.body.size();
    const auto reason = beast_http::obsolete_reason(beast_http::int_to_status(response.status));
    head_ = std::string(version_ == 10 ? "HTTP/1.0 " : "HTTP/1.1 ") + std::to_string(response.status) + " " +
            std::string(reason) + "\r\nServer: assay\r\n";
    if (!response.content_type.empty()) {
        head_ += "Content-Type: " + response.content_type + "\r\n";
    }
    head_ += "X-Content-Type-Options: nosniff\r\n" + ranges;
    for (const auto& [name, value] : response.fields) {
        head_ += name + ": " + value + "\r\n";
    }
    const bool says_when = std::any_of(response.fields.begin(), response.fields.end(), [](const auto& field) {
        return field.first == "Retry-After";
    });
    if (response.status == 503 && !says_when) {
        head_ += "Retry-After: 1\r\n";
    }
    if (response.status != 204 && response.status != 304) {
        head_ += "Content-Length: " + std::to_string(size) + "\r\n";
    }
    if (!keep_alive_ || version_ == 10) {
        head_ += keep_alive_ ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
    }
    head_ += "\r\n";
    if (head_only_ || response.status == 204) {
        response.body.clear();
        file_.reset();
    }
    body_ = std::move(response.body);
    text_sent_ = 0;
    host_.add_memory(*this, body_.size());
    enter(State::kSending, host_.options().idle_timeout);
    send_text();
}

void Session::send_text() {
    const std::size_t of_head = std::min(text_sent_, head_.size());
    const std::size_t of_body = text_sent_ - of_head;
    const std::array<asio::const_buffer, 2> pieces{
        asio::buffer(head_) + of_head, asio::const_buffer(body_.data() + of_body, body_.size() - of_body)};
    socket_.async_write_some(pieces, [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
        if (self->state_ == State::kClosed) {
            return;
        }
        if (error) {
            self->close();
            return;
        }
        self->text_sent_ += size;
        self->enter(State::kSending, self->host_.options().idle_timeout);
        if (self->text_sent_ < self->head_.size() + self->body_.size()) {
            self->send_text();
        } else if (self->file_.fd >= 0) {
            self->send_file();
        } else {
            self->sent();
        }
    });
}

/// From the page cache to the socket, without a buffer of ours.
void Session::send_file() {
    socket_.async_wait(Stream::wait_write, [self = shared_from_this()](const ErrorCode& error) {
        if (self->state_ == State::kClosed) {
            return;
        }
        if (error) {
            self->close();
            return;
        }
        self->file_piece();
    });
}

void Session::file_piece() {
    const auto left = static_cast<std::size_t>(file_.end - file_.offset);
    if (left > 0) {
        const ssize_t count = ::sendfile(socket_.native_handle(), file_.fd, &file_.offset, std::min(left, kFilePiece));
        if (count > 0) {
            enter(State::kSending, host_.options().idle_timeout);
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            close();  // the client is gone, or the file has become shorter
            return;
        }
    }
    if (file_.offset < file_.end) {
        send_file();
    } else {
        file_.reset();
        sent();
    }
}

void Session::sent() {
    host_.give_memory(*this, bytes());
    body_ = std::string();
    if (keep_alive_) {
        next_request();
        return;
    }
    ErrorCode ignored;
    socket_.shutdown(Stream::shutdown_send, ignored);
    if (has_ended_ || host_.is_stopping()) {
        close();
        return;
    }
    // Closing while the client still sends would destroy the answer.
    input_.clear();
    dropped_ = 0;
    enter(State::kLingering, kLinger);
    read();
}

}  // namespace

HttpResponse text_response(unsigned status, std::string text) {
    return HttpResponse{.status = status, .content_type = "text/plain", .body = std::move(text)};
}

std::shared_ptr<HttpSession> make_http_session(
    const std::shared_ptr<asio::io_context>& context, int family, int fd, const ClientAddress& address,
    HttpSessionHost& host
) {
    return std::make_shared<Session>(context, family, fd, address, host);
}

}  // namespace assay::http
