// SPDX-License-Identifier: Apache-2.0
#include <net/http.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/file_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <net/socket.hpp>

namespace assay::net {

namespace {

namespace beast_http = boost::beast::http;
using boost::asio::ip::tcp;

constexpr std::uint32_t kHeaderMax = 16'384;
constexpr std::chrono::milliseconds kGrace{1'000};     // for clients to take their answers when the server stops
constexpr std::chrono::milliseconds kLinger{1'000};    // to read what a refused client is still sending
constexpr std::uint64_t kLingerBytes = 16U << 20U;

struct Exchange {
    unsigned version = 11;
    bool keep_alive = true;
    bool head_only = false;
};

template <class Body>
void set_fields(beast_http::response<Body>& message, const HttpResponse& response, const Exchange& exchange) {
    message.result(response.status);
    message.version(exchange.version);
    message.set(beast_http::field::server, "assay");
    if (!response.content_type.empty()) {
        message.set(beast_http::field::content_type, response.content_type);
    }
    message.set("X-Content-Type-Options", "nosniff");
    message.keep_alive(exchange.keep_alive);
}

/// Piece by piece, each with the whole idle time: large files to slow clients may take long, stalled ones may not.
template <class Body>
bool send(Socket& socket, beast_http::response<Body>& message, bool head_only, std::chrono::seconds idle_timeout) {
    beast_http::response_serializer<Body> serializer(message);
    serializer.split(head_only);
    while (!serializer.is_done() && !(head_only && serializer.is_header_done())) {
        ErrorCode error;
        socket.expires_after(idle_timeout);
        beast_http::write_some(socket, serializer, error);
        if (error) {
            return false;
        }
    }
    return true;
}

HttpResponse text_response(unsigned status, std::string text) {
    return HttpResponse{.status = status, .content_type = "text/plain", .body = std::move(text)};
}

}  // namespace

struct HttpServer::Impl {
    Impl(HttpServerOptions server_options, Handler server_handler)
        : options(std::move(server_options)), handler(std::move(server_handler)) {}

    void bind();
    void accept_loop();
    void admit(int fd);
    void serve(Socket& socket);
    bool answer(Socket& socket, const HttpResponse& response, Exchange exchange);
    bool serve_one(Socket& socket, boost::beast::flat_buffer& buffer);
    HttpResponse handle(const HttpRequest& request);
    void refuse(Socket& socket, const HttpResponse& response);

    HttpServerOptions options;
    Handler handler;
    std::uint16_t port = 0;
    int listener = -1;
    std::atomic<bool> stopping{false};
    std::thread acceptor;

    std::mutex mutex;
    std::condition_variable ended;
    std::list<int> connections;  // sockets that are open, guarded by mutex
};

void HttpServer::Impl::bind() {
    ErrorCode error;
    const auto address = boost::asio::ip::make_address(options.address, error);
    const std::string name = options.address + ":" + std::to_string(options.port);
    if (error) {
        throw NetError("cannot listen on " + name + ": not an IP address");
    }
    const tcp::endpoint endpoint(address, options.port);
    listener = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const auto size = static_cast<socklen_t>(endpoint.size());
    if (listener < 0 || ::bind(listener, endpoint.data(), size) != 0 || ::listen(listener, SOMAXCONN) != 0) {
        const ErrorCode cause(errno, boost::system::system_category());
        if (listener >= 0) {
            ::close(listener);
        }
        throw NetError("cannot listen on " + name + ": " + cause.message());
    }
    tcp::endpoint bound;
    socklen_t bound_size = static_cast<socklen_t>(bound.capacity());
    ::getsockname(listener, bound.data(), &bound_size);
    bound.resize(bound_size);
    port = bound.port();
}

void HttpServer::Impl::accept_loop() {
    while (!stopping) {
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) {
            admit(fd);
        } else if (errno != EINTR && errno != ECONNABORTED && !stopping) {
            // Out of descriptors or memory: what is open goes on, and frees them.
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
}

void HttpServer::Impl::admit(int fd) {
    auto socket = std::make_shared<Socket>(fd);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    std::unique_lock lock(mutex);
    if (stopping) {
        return;
    }
    if (connections.size() >= options.connections_max) {
        lock.unlock();
        static constexpr std::string_view kBusy =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        ::send(fd, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::shutdown(fd, SHUT_WR);
        return;
    }
    const auto place = connections.insert(connections.end(), fd);
    try {
        std::thread([this, socket, place]() mutable {
            serve(*socket);
            const std::lock_guard guard(mutex);
            connections.erase(place);
            socket.reset();
            ended.notify_all();
        }).detach();
    } catch (const std::system_error&) {
        connections.erase(place);  // no thread to be had: the client is cut off and may try again
    }
}

void HttpServer::Impl::serve(Socket& socket) {
    try {
        boost::beast::flat_buffer buffer;
        while (serve_one(socket, buffer)) {
        }
    } catch (const std::exception&) {
        // Out of memory for this connection: it is dropped, the server goes on.
    }
    ::shutdown(socket.fd(), SHUT_RDWR);
}

/// One request and its answer; false when the connection is over.
bool HttpServer::Impl::serve_one(Socket& socket, boost::beast::flat_buffer& buffer) {
    beast_http::request_parser<beast_http::string_body> parser;
    parser.header_limit(kHeaderMax);
    parser.body_limit(options.body_max);
    ErrorCode error;
    socket.expires_after(options.idle_timeout);
    beast_http::read_header(socket, buffer, parser, error);
    if (!error && boost::beast::iequals(parser.get()[beast_http::field::expect], "100-continue")) {
        beast_http::response<beast_http::empty_body> go_on(beast_http::status::continue_, parser.get().version());
        beast_http::write(socket, go_on, error);
    }
    if (!error) {
        beast_http::read(socket, buffer, parser, error);
    }
    if (error == beast_http::error::body_limit) {
        refuse(socket, options.too_large);
        return false;
    }
    if (error.category() == beast_http::make_error_code(beast_http::error::bad_method).category() &&
        error != beast_http::error::end_of_stream && error != beast_http::error::partial_message) {
        refuse(socket, text_response(400, "bad request: " + error.message() + "\n"));
        return false;
    }
    if (error) {
        return false;
    }
    auto& message = parser.get();
    HttpRequest request{std::string(message.method_string()), std::string(message.target()), std::move(message.body())};
    const Exchange exchange{message.version(), message.keep_alive(), request.method == "HEAD"};
    return answer(socket, handle(request), exchange);
}

HttpResponse HttpServer::Impl::handle(const HttpRequest& request) {
    try {
        return handler(request);
    } catch (const std::exception&) {
        return text_response(500, "internal error\n");
    }
}

bool HttpServer::Impl::answer(Socket& socket, const HttpResponse& response, Exchange exchange) {
    exchange.keep_alive = exchange.keep_alive && !stopping;
    bool sent = false;
    if (response.file) {
        beast_http::response<beast_http::file_body> message;
        ErrorCode error;
        message.body().open(response.file->c_str(), boost::beast::file_mode::scan, error);
        if (error) {
            return answer(socket, text_response(404, "not found\n"), exchange);
        }
        set_fields(message, response, exchange);
        message.prepare_payload();
        sent = send(socket, message, exchange.head_only, options.idle_timeout);
    } else {
        beast_http::response<beast_http::string_body> message;
        set_fields(message, response, exchange);
        message.body() = response.body;
        message.prepare_payload();
        sent = send(socket, message, exchange.head_only, options.idle_timeout);
    }
    return sent && exchange.keep_alive;
}

/// Answers, then reads a while what the client is still sending: closing at once would destroy the answer.
void HttpServer::Impl::refuse(Socket& socket, const HttpResponse& response) {
    Exchange exchange;
    exchange.keep_alive = false;
    answer(socket, response, exchange);
    ::shutdown(socket.fd(), SHUT_WR);
    socket.expires_after(kLinger);
    std::vector<char> sink(65'536);
    std::uint64_t total = 0;
    ErrorCode error;
    while (!error && total < kLingerBytes && !stopping) {
        total += socket.read_some(boost::asio::buffer(sink), error);
    }
}

HttpServer::HttpServer(HttpServerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {
    impl_->bind();
    impl_->acceptor = std::thread([impl = impl_.get()] { impl->accept_loop(); });
}

HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const noexcept { return impl_->port; }

void HttpServer::stop() {
    if (impl_->stopping.exchange(true)) {
        return;
    }
    ::shutdown(impl_->listener, SHUT_RDWR);  // wakes accept
    impl_->acceptor.join();
    ::close(impl_->listener);
    std::unique_lock lock(impl_->mutex);
    const auto all_ended = [this] { return impl_->connections.empty(); };
    for (const int fd : impl_->connections) {
        ::shutdown(fd, SHUT_RD);  // idle ones see the end; answers in progress still go out
    }
    while (!impl_->ended.wait_for(lock, kGrace, all_ended)) {
        for (const int fd : impl_->connections) {
            ::shutdown(fd, SHUT_RDWR);
        }
    }
}

}  // namespace assay::net
