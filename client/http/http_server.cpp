// SPDX-License-Identifier: Apache-2.0
#include <client/http/http.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>

#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <netinet/tcp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <client/http/http_places.hpp>
#include <client/http/http_session.hpp>
#include <client/http/listener.hpp>
#include <client/http/tls_files.hpp>
#include <client/http/tls_relay.hpp>

namespace assay::http {

namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using State = HttpSession::State;

constexpr std::uint32_t kPerAddress = 16;
constexpr std::uint32_t kPerLoopbackAddress = 256;
constexpr std::chrono::milliseconds kSweep{
    250};  // between looks for connections whose time is up, and at the files of TLS
constexpr std::chrono::milliseconds kGrace{1'000};  // for clients to take their answers when the server stops

/// What a handler is given to answer later: knows its connection only while there is one.
class Exchange final : public HttpExchange {
  public:
    Exchange(std::shared_ptr<asio::io_context> context, std::weak_ptr<HttpSession> session, std::uint64_t number)
        : context_(std::move(context)), session_(std::move(session)), number_(number) {}
    bool is_over() const noexcept override { return is_over_ || session_.expired(); }
    void answer(HttpResponse response) override {
        if (!is_over_.exchange(true)) {
            asio::post(*context_, [session = session_, number = number_, response = std::move(response)]() mutable {
                if (const auto there = session.lock()) {
                    there->answer(number, std::move(response));
                }
            });
        }
    }
    void give_up() noexcept { is_over_ = true; }

  private:
    std::shared_ptr<asio::io_context> context_;
    std::weak_ptr<HttpSession> session_;
    std::uint64_t number_;
    std::atomic<bool> is_over_{false};
};

struct Job {
    std::shared_ptr<HttpSession> session;
    std::shared_ptr<Exchange> exchange;
    std::uint64_t number = 0;
    HttpRequest request;
};

HttpPlaces::Limits limits_of(const HttpServerOptions& options) {
    ErrorCode error;
    const bool is_loopback = asio::ip::make_address(options.address, error).is_loopback();
    const std::uint32_t otherwise = is_loopback ? kPerLoopbackAddress : kPerAddress;
    // Connections are descriptors, and the process needs others.
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    return {
        .connections = std::min<std::size_t>(options.connections_max, descriptors.rlim_cur / 2),
        .per_address = options.connections_per_address != 0 ? options.connections_per_address : otherwise,
        .of_socket = std::max(kPerLoopbackAddress, options.connections_per_address),
        .memory = options.memory_max};
}

}  // namespace

struct HttpServer::Impl final : HttpSessionHost {
    Impl(HttpServerOptions server_options, LateHandler server_handler)
        : settings(std::move(server_options)),
          handler(std::move(server_handler)),
          places(limits_of(settings)),
          pool(std::max(1U, settings.threads)) {
        bind();
        thread = std::thread([this] { run(); });
    }

    // HttpSessionHost
    const HttpServerOptions& options() const override { return settings; }
    bool is_stopping() const override { return stopping; }
    bool take_memory(HttpSession& session, std::size_t bytes) override;
    void add_memory(HttpSession& session, std::size_t bytes) override;
    void give_memory(HttpSession& session, std::size_t bytes) override;
    void begin(HttpSession& session, std::uint64_t exchange, HttpRequest request) override;
    void abandon(HttpSession& session) override;
    void ended(HttpSession& session) override;
    void adopt(const std::shared_ptr<HttpSession>& session) override;

    void bind();
    void run();
    void admit(int family, int fd, const ClientAddress& address);
    void begin_session(int family, int fd, const ClientAddress& address);
    void begin_tls(int family, int fd, const ClientAddress& address);
    void note_end();
    void sweep();
    void dispatch_soon();
    void dispatch();
    std::deque<Job>::iterator next_job();
    void execute(Job job);
    std::optional<HttpResponse> handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
    void begin_stop();
    void cut_off();

    HttpServerOptions settings;
    LateHandler handler;
    std::atomic<bool> stopping{false};
    std::atomic<std::size_t> open{0};  ///< places.count(), for other threads

    // Of the I/O thread.
    std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
    std::optional<Listener> listener;         // the port
    std::optional<Listener> socket_listener;  // the Unix socket
    std::optional<TlsFiles> tls;
    std::map<const TlsRelay*, std::shared_ptr<TlsRelay>> relays;
    asio::steady_timer sweeper{*context};
    HttpPlaces places;
    std::map<const HttpSession*, std::shared_ptr<Exchange>> exchanges;  // the last of each connection
    std::deque<Job> queue;                                              // requests that wait for a thread
    std::uint32_t running = 0;                                          // handlers
    bool will_dispatch = false;

    asio::thread_pool pool;
    std::thread thread;
    std::mutex mutex;
    std::condition_variable changed;
    bool all_ended = false;  // guarded by mutex
};

void HttpServer::Impl::bind() {
    if (!settings.tls_certificate.empty()) {
        tls.emplace(settings.tls_certificate, settings.tls_key);
    }
    listener.emplace(*context, settings.address, settings.port);
    if (!settings.socket.empty()) {
        socket_listener.emplace(*context, settings.socket);
    }
}

void HttpServer::Impl::run() {
    // sendfile() to a client that is gone raises SIGPIPE in this thread, which would end the process.
    sigset_t pipe{};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    const Listener::Events events{
        .accepted = [this](int family, int fd, const ClientAddress& from) { admit(family, fd, from); },
        .out_of_resources = [this] { places.free_any(); }};
    listener->start(events);
    if (socket_listener) {
        socket_listener->start(events);
    }
    sweep();
    for (;;) {
        try {
            context->run();
            return;
        } catch (const std::exception&) {
            // Out of memory for one connection: the sweep closes it, the server goes on.
        }
    }
}

void HttpServer::Impl::admit(int family, int fd, const ClientAddress& address) {
    if (!places.make_place(address)) {
        static constexpr std::string_view kBusy =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        ::send(fd, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        ::shutdown(fd, SHUT_WR);
        ::close(fd);
        return;
    }
    if (family != AF_UNIX) {
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    // Who connects to the Unix socket is on this machine.
    if (tls && address != kSocketClient) {
        begin_tls(family, fd, address);
    } else {
        begin_session(family, fd, address);
    }
}

void HttpServer::Impl::begin_tls(int family, int fd, const ClientAddress& address) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
        ::close(fd);
        return;
    }
    const auto relay = start_tls_relay(
        *context, tls->context(), {.family = family, .client = fd, .session = pair[1]},
        [this](TlsRelay& ended) {
            relays.erase(&ended);
            note_end();
        }
    );
    relays.emplace(relay.get(), relay);
    begin_session(AF_UNIX, pair[0], address);
}

void HttpServer::Impl::note_end() {
    if (stopping && places.count() == 0 && relays.empty()) {
        const std::lock_guard lock(mutex);
        all_ended = true;
        changed.notify_all();
    }
}

void HttpServer::Impl::begin_session(int family, int fd, const ClientAddress& address) {
    const auto session = make_http_session(context, family, fd, address, *this);
    places.add(session);
    open = places.count();
    session->start();
}

bool HttpServer::Impl::take_memory(HttpSession& session, std::size_t bytes) {
    return places.take_memory(session, bytes);
}

void HttpServer::Impl::add_memory(HttpSession& session, std::size_t bytes) { places.add_memory(session, bytes); }

void HttpServer::Impl::give_memory(HttpSession& session, std::size_t bytes) {
    places.give_memory(session, bytes);
    dispatch_soon();
}

void HttpServer::Impl::begin(HttpSession& session, std::uint64_t exchange, HttpRequest request) {
    const auto shared = session.shared();
    const auto begun = std::make_shared<Exchange>(context, shared, exchange);
    exchanges[&session] = begun;
    queue.push_back({shared, begun, exchange, std::move(request)});
    dispatch_soon();
}

void HttpServer::Impl::abandon(HttpSession& session) {
    const auto found = exchanges.find(&session);
    if (found != exchanges.end()) {
        found->second->give_up();
    }
}

void HttpServer::Impl::ended(HttpSession& session) {
    abandon(session);
    exchanges.erase(&session);
    places.remove(session);
    open = places.count();
    note_end();
    dispatch_soon();
}

void HttpServer::Impl::adopt(const std::shared_ptr<HttpSession>& session) {
    places.add(session);
    open = places.count();
    session->start();
}

void HttpServer::Impl::sweep() {
    const auto now = Clock::now();
    for (const auto& session : places.all()) {
        const bool has_deadline = session->state() != State::kRunning && session->state() != State::kWaiting;
        if (has_deadline && now >= session->deadline()) {
            session->close();
        }
    }
    if (const auto news = tls ? tls->look() : std::nullopt; news && settings.on_tls_files) {
        settings.on_tls_files(*news);
    }
    sweeper.expires_after(kSweep);
    sweeper.async_wait([this](const ErrorCode& error) {
        if (!error) {
            sweep();
        }
    });
}

/// The request whose address was served least recently. While memory is used up, none of the address that holds most.
std::deque<Job>::iterator HttpServer::Impl::next_job() {
    auto best = queue.end();
    std::uint64_t best_turn = 0;
    for (auto job = queue.begin(); job != queue.end(); ++job) {
        const ClientAddress& address = job->session->address();
        if (places.is_memory_used_up() && places.holds_most(address)) {
            continue;
        }
        if (best == queue.end() || places.served_at(address) < best_turn) {
            best = job;
            best_turn = places.served_at(address);
        }
    }
    return best;
}

/// Never from within a session's own call.
void HttpServer::Impl::dispatch_soon() {
    if (!will_dispatch) {
        will_dispatch = true;
        asio::post(*context, [this] {
            will_dispatch = false;
            dispatch();
        });
    }
}

void HttpServer::Impl::dispatch() {
    std::erase_if(queue, [](const Job& job) { return job.session->state() == State::kClosed; });
    while (running < std::max(1U, settings.threads)) {
        const auto next = next_job();
        if (next == queue.end()) {
            return;
        }
        if (places.is_memory_used_up() && !places.shed_memory(next->session->address())) {
            return;
        }
        Job job = std::move(*next);
        queue.erase(next);
        places.serve(job.session->address());
        execute(std::move(job));
    }
}

void HttpServer::Impl::execute(Job job) {
    ++running;
    asio::post(pool, [this, job = std::move(job)]() mutable {
        auto response = handle(job.request, job.exchange);
        asio::post(
            *context,
            [this, session = job.session, number = job.number, response = std::move(response)]() mutable {
                --running;
                if (response) {
                    session->answer(number, *std::move(response));
                } else {
                    session->wait(number);
                }
                dispatch_soon();
            }
        );
    });
}

std::optional<HttpResponse> HttpServer::Impl::handle(
    const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange
) {
    try {
        return handler(request, exchange);
    } catch (const std::exception&) {
        return text_response(500, "internal error\n");
    }
}

/// On the I/O thread: what has not begun is refused, what is idle or waits is closed.
void HttpServer::Impl::begin_stop() {
    listener->close();
    if (socket_listener) {
        socket_listener->close();
    }
    std::deque<Job> refused;
    refused.swap(queue);
    for (const Job& job : refused) {
        job.session->answer(job.number, text_response(503, "stopping\n"));
    }
    for (const auto& session : places.all()) {
        if (session->state() != State::kRunning && session->state() != State::kSending) {
            session->close();
        }
    }
    note_end();
}

void HttpServer::Impl::cut_off() {
    for (const auto& session : places.all()) {
        if (session->state() != State::kRunning) {
            session->close();
        }
    }
    // With the last session its relay has sent what it had, or its client does not read.
    const auto left = places.count() == 0 ? relays : decltype(relays)();
    for (const auto& [key, relay] : left) {
        relay->close();
    }
}

HttpServer::HttpServer(HttpServerOptions options, LateHandler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

HttpServer::HttpServer(HttpServerOptions options, Handler handler)
    : HttpServer(
          std::move(options),
          LateHandler([handler = std::move(handler)](const HttpRequest& request, const std::shared_ptr<HttpExchange>&) {
              return std::optional(handler(request));
          })
      ) {}

HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const noexcept { return impl_->listener->port(); }

std::size_t HttpServer::connections() const noexcept { return impl_->open; }

void HttpServer::serve(int family, int fd) {
    // Closed with the context, should it be stopped already.
    const std::shared_ptr<int> owner(new int(fd), [](const int* held) {
        if (*held >= 0) {
            ::close(*held);
        }
        delete held;
    });
    asio::post(*impl_->context, [impl = impl_.get(), family, owner] {
        if (!impl->stopping) {
            impl->admit(family, std::exchange(*owner, -1), kSocketClient);
        }
    });
}

void HttpServer::stop() {
    Impl& impl = *impl_;
    if (impl.stopping.exchange(true)) {
        return;
    }
    asio::post(*impl.context, [&impl] { impl.begin_stop(); });
    {
        std::unique_lock lock(impl.mutex);
        while (!impl.changed.wait_for(lock, kGrace, [&impl] { return impl.all_ended; })) {
            asio::post(*impl.context, [&impl] { impl.cut_off(); });
        }
    }
    impl.pool.join();
    impl.context->stop();
    impl.thread.join();
    // Operations that were aborted hold their sessions, and these hold the context: they end here.
    impl.context->restart();
    impl.context->poll();
}

}  // namespace assay::http
