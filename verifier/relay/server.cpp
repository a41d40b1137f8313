// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/server.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <client/http/listener.hpp>
#include <core/crypto/keys.hpp>
#include <core/crypto/random.hpp>
#include <verifier/relay/connection.hpp>
#include <verifier/relay/counts.hpp>
#include <verifier/relay/head.hpp>
#include <verifier/relay/tunnel.hpp>

namespace assay::relay {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using http::ClientAddress;
using std::chrono::milliseconds;

constexpr milliseconds kSweep{250};
constexpr int kPingsMissed = 3;  // after which a worker counts as gone

/// A worker that can be reached.
struct RegisteredWorker {
    Service service;
    std::shared_ptr<Connection> control;
    std::shared_ptr<Rate> rate;
    RelayClock::time_point pinged_at = RelayClock::now();
    std::deque<std::string> outbox{};
    bool is_writing = false;
    std::uint32_t places = 0;  ///< tunnels, and those that are being made
    std::set<std::shared_ptr<Tunnel>> tunnels{};
};

/// A tunnel of a worker, from the moment at which it is asked for.
class Place {
  public:
    explicit Place(RegisteredWorker& worker) : worker_(worker) { ++worker_.places; }
    ~Place() { --worker_.places; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

  private:
    RegisteredWorker& worker_;
};

/// A client whose worker was asked to connect.
struct WaitingClient {
    explicit WaitingClient(asio::io_context& io) : timer(io) {}
    asio::steady_timer timer;              ///< cancelled when the worker is there
    std::shared_ptr<Connection> worker{};  ///< null: not yet
};

std::string name_of(const RelayOptions& options, std::uint16_t port) {
    const bool is_v6 = options.address.find(':') != std::string::npos;
    return (is_v6 ? "[" + options.address + "]" : options.address) + ":" + std::to_string(port);
}

}  // namespace

class RelayServer::Impl {
  public:
    Impl(RelayOptions options, Told told)
        : options_(std::move(options)), told_(std::move(told)), listener_(io_, options_.address, options_.port) {
        options_.name = options_.name.empty() ? name_of(options_, listener_.port()) : options_.name;
        rlimit descriptors{};
        ::getrlimit(RLIMIT_NOFILE, &descriptors);
        connections_max_ = std::min<std::size_t>(options_.connections_max, descriptors.rlim_cur / 2);
        listener_.start(
            {.accepted = [this](int family, int fd, const ClientAddress& from) { admit(family, fd, from); },
             .out_of_resources = [] {}}
        );
        sweep();
        thread_ = std::thread([this] { run(); });
    }

    std::uint16_t port() const { return listener_.port(); }
    const std::string& name() const { return options_.name; }

    RelayFigures figures() const {
        const std::scoped_lock lock(mutex_);
        return figures_;
    }

    void stop() {
        if (!thread_.joinable()) {
            return;
        }
        asio::post(io_, [this] { end_all(); });
        thread_.join();  // with the last coroutine
    }

  private:
    void run() {
        for (;;) {
            try {
                io_.run();
                return;
            } catch (const std::exception&) {
                // Out of memory for one connection: it is gone, the relay goes on.
            }
        }
    }

    void admit(int family, int fd, const ClientAddress& from) {
        std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
        if (is_stopping_ || connections_.size() >= connections_max_ ||
            heads_.of(from) >= options_.tunnels_per_worker + options_.tunnels_per_address) {
            ::close(fd);
            count_refusal("connections");
            return;
        }
        const auto connection =
            std::make_shared<Connection>(tcp::socket(io_, family == AF_INET6 ? tcp::v6() : tcp::v4(), fd), from);
        connection->socket.set_option(tcp::no_delay(true));
        connections_.push_back(connection);
        asio::co_spawn(io_, greet(connection), asio::detached);
    }

    /// Learns what a connection is for.
    awaitable<void> greet(std::shared_ptr<Connection> connection) {
        std::optional<Counted> head(std::in_place, heads_, connection->client);
        connection->expire_after(options_.handshake);
        while (connection->unread.find('\n') == std::string::npos && connection->unread.size() < kHeadMax) {
            const bool has_more = co_await connection->read_more();
            if (!has_more) {
                co_return;
            }
        }
        const std::string& unread = connection->unread;
        if (!unread.starts_with("register ") && !unread.starts_with("accept ")) {
            const auto request = co_await read_head(*connection);
            head.reset();
            if (request) {
                co_await answer(connection, *request);
            }
            co_return;
        }
        const auto line = co_await connection->read_line();
        const auto message = decode_message(line.value_or(""));
        if (!message) {
            co_return;
        }
        if (const auto* wanted = std::get_if<Register>(&*message)) {
            co_await serve_worker(connection, *wanted, head);
        } else if (const auto* accepted = std::get_if<Accept>(&*message)) {
            hand_over(connection, accepted->ticket);
        }
    }

    awaitable<void> answer(std::shared_ptr<Connection> connection, RequestHead request) {
        constexpr std::string_view kPort = ":443";
        std::string_view host = request.target;
        const bool has_port = host.ends_with(kPort);
        host.remove_suffix(has_port ? kPort.size() : 0);
        const auto service = request.is_connect && has_port ? decode_host(host) : std::nullopt;
        if (service) {
            co_await connect(connection, *service);
            co_return;
        }
        co_await turn_away(
            *connection, request.is_connect ? 400 : 404, request.is_connect ? "Bad Request" : "Not Found",
            "this is a relay of Assay workers: CONNECT NAME.ADDRESS:443"
        );
    }

    /// The last words of a connection.
    awaitable<void> say(Connection& connection, std::string bytes) {
        co_await connection.write(std::move(bytes));
        boost::system::error_code ignored;
        connection.socket.shutdown(tcp::socket::shutdown_send, ignored);
    }

    awaitable<void> refuse(Connection& connection, RefusalReason reason) {
        count_refusal(to_string(reason));
        co_await say(connection, encode_message(Refused{reason}));
    }

    /// Whether there is a place; who registers a service again takes its own.
    bool has_place(const Service& service, const ClientAddress& client) const {
        return workers_.contains(service) ||
               (workers_.size() < options_.workers_max && worker_addresses_.of(client) < options_.workers_per_address);
    }

    awaitable<void> serve_worker(
        std::shared_ptr<Connection> connection, Register wanted, std::optional<Counted>& head
    ) {
        if (wanted.relay != options_.name) {
            co_await refuse(*connection, RefusalReason::kOtherName);
            co_return;
        }
        if (!options_.allowed.empty() && !options_.allowed.contains(wanted.service.account)) {
            co_await refuse(*connection, RefusalReason::kNotAllowed);
            co_return;
        }
        Hash256 nonce;
        crypto::fill_random(nonce.data);
        co_await connection->write(encode_message(Challenge{nonce}));
        const auto line = co_await connection->read_line();
        if (!line) {
            co_return;
        }
        const auto message = decode_message(*line);
        const auto* proof = message ? std::get_if<Proof>(&*message) : nullptr;
        const Hash256 digest = register_digest(nonce, wanted);
        if (proof == nullptr || !crypto::verify_signature(wanted.service.account, digest.view(), proof->signature)) {
            co_await refuse(*connection, RefusalReason::kBadProof);
            co_return;
        }
        if (!has_place(wanted.service, connection->client)) {
            co_await refuse(*connection, RefusalReason::kFull);
            co_return;
        }
        head.reset();
        const Counted counted(worker_addresses_, connection->client);
        co_await attend(enrol(connection, wanted.service));
    }

    std::shared_ptr<RegisteredWorker> enrol(const std::shared_ptr<Connection>& connection, const Service& service) {
        if (const auto found = workers_.find(service); found != workers_.end()) {
            // The newest is right: the earlier one is gone and has not noticed, or has the same key.
            send(found->second, Refused{RefusalReason::kReplaced});
            found->second->control->expire_after(kSweep);
            tell("replaced", service);
        }
        auto worker = std::make_shared<RegisteredWorker>(RegisteredWorker{
            .service = service, .control = connection, .rate = std::make_shared<Rate>(options_.bytes_per_s)});
        workers_[service] = worker;
        note([this](RelayFigures& figures) { figures.workers = workers_.size(); });
        send(worker, Registered{});
        tell("registered", service);
        return worker;
    }

    bool is_current(const std::shared_ptr<RegisteredWorker>& worker) const {
        const auto found = workers_.find(worker->service);
        return found != workers_.end() && found->second == worker;
    }

    /// Until the worker leaves, or says nothing for too long.
    awaitable<void> attend(std::shared_ptr<RegisteredWorker> worker) {
        for (;;) {
            worker->control->expire_after(options_.ping * kPingsMissed);
            const auto line = co_await worker->control->read_line();
            const auto message = decode_message(line.value_or(""));
            if (!message || !std::holds_alternative<Pong>(*message)) {
                break;
            }
            if (!is_current(worker)) {
                co_return;  // replaced, and has answered a question from before
            }
        }
        worker->control->close();
        if (is_current(worker)) {
            workers_.erase(worker->service);
            note([this](RelayFigures& figures) { figures.workers = workers_.size(); });
            tell("left", worker->service);
        }
    }

    void send(const std::shared_ptr<RegisteredWorker>& worker, const Message& message) {
        worker->outbox.push_back(encode_message(message));
        if (worker->outbox.size() > 2 * options_.tunnels_per_worker + 2) {
            worker->control->close();  // it does not read
        } else if (!std::exchange(worker->is_writing, true)) {
            asio::co_spawn(io_, write_out(worker), asio::detached);
        }
    }

    static awaitable<void> write_out(std::shared_ptr<RegisteredWorker> worker) {
        bool is_open = true;
        while (is_open && !worker->outbox.empty()) {
            std::string line = std::move(worker->outbox.front());
            worker->outbox.pop_front();
            is_open = co_await worker->control->write(std::move(line));
        }
        worker->is_writing = false;
    }

    /// A worker has come for a client.
    void hand_over(const std::shared_ptr<Connection>& connection, const Hash256& ticket) {
        if (const auto found = waiting_.find(ticket); found != waiting_.end() && !found->second->worker) {
            found->second->worker = connection;
            found->second->timer.cancel();
        }
    }

    /// Makes room at a worker: of the address with the most tunnels there, the one that has been silent for longest
    /// goes, if that address then still has as many as the new one.
    bool make_place(RegisteredWorker& worker, const ClientAddress& client) const {
        if (worker.places < options_.tunnels_per_worker) {
            return true;
        }
        std::map<ClientAddress, std::uint32_t> counts;
        for (const auto& tunnel : worker.tunnels) {
            ++counts[tunnel->address()];
        }
        std::shared_ptr<Tunnel> chosen;
        for (const auto& tunnel : worker.tunnels) {
            const auto rank = [&](const Tunnel& one) {
                return std::pair(counts[one.address()], RelayClock::now() - one.active_at());
            };
            if (!chosen || rank(*tunnel) > rank(*chosen)) {
                chosen = tunnel;
            }
        }
        if (!chosen || counts[chosen->address()] <= counts[client] + 1) {
            return false;
        }
        chosen->close();
        return true;
    }

    awaitable<void> connect(std::shared_ptr<Connection> client, Service service) {
        const auto found = workers_.find(service);
        if (found == workers_.end()) {
            co_await turn_away(*client, 404, "Not Found", "no such worker is registered here");
            co_return;
        }
        if (tunnel_addresses_.of(client->client) >= options_.tunnels_per_address) {
            co_await turn_away(*client, 429, "Too Many Requests", "this address has as many tunnels as it may");
            co_return;
        }
        const std::shared_ptr<RegisteredWorker> worker = found->second;
        if (!make_place(*worker, client->client)) {
            co_await turn_away(*client, 503, "Service Unavailable", "this worker has as many tunnels as it may");
            co_return;
        }
        client->expire_after(2 * options_.handshake);
        const Counted counted(tunnel_addresses_, client->client);
        const Place place(*worker);
        const auto far = co_await await_worker(worker);
        if (far) {
            co_await join(worker, client, far);
        } else {
            co_await turn_away(*client, 504, "Gateway Timeout", "the worker does not answer");
        }
    }

    awaitable<void> turn_away(Connection& client, unsigned status, std::string_view phrase, std::string_view text) {
        count_refusal(std::to_string(status));
        co_await say(client, answer_of(status, phrase, text));
    }

    /// Asks the worker to connect. Null if it does not in time.
    awaitable<std::shared_ptr<Connection>> await_worker(std::shared_ptr<RegisteredWorker> worker) {
        if (is_stopping_) {
            co_return nullptr;
        }
        Hash256 ticket;
        crypto::fill_random(ticket.data);
        const auto waiting = std::make_shared<WaitingClient>(io_);
        waiting_[ticket] = waiting;
        send(worker, Open{ticket});
        waiting->timer.expires_after(options_.handshake);
        co_await waiting->timer.async_wait(kReturned);
        waiting_.erase(ticket);
        co_return waiting->worker;
    }

    awaitable<void> join(
        std::shared_ptr<RegisteredWorker> worker, std::shared_ptr<Connection> client, std::shared_ptr<Connection> far
    ) {
        client->expire_never();
        far->expire_never();
        const auto tunnel = std::make_shared<Tunnel>(client, far, worker->rate);
        worker->tunnels.insert(tunnel);
        tunnels_.insert(tunnel);
        note([](RelayFigures& figures) { ++figures.tunnels, ++figures.tunnels_total; });
        const bool is_told = co_await client->write("HTTP/1.1 200 Connection established\r\n\r\n");
        if (is_told && !is_stopping_) {
            co_await tunnel->run([this](std::size_t bytes) {
                note([bytes](RelayFigures& figures) { figures.bytes_total += bytes; });
            });
        }
        tunnel->close();
        tunnels_.erase(tunnel);
        worker->tunnels.erase(tunnel);
        note([](RelayFigures& figures) { --figures.tunnels; });
    }

    /// Ends tunnels that are idle, and asks workers whether they are there.
    void sweep() {
        const auto now = RelayClock::now();
        for (const auto& tunnel : tunnels_) {
            if (now - tunnel->active_at() >= options_.idle) {
                tunnel->close();
            }
        }
        for (const auto& [service, worker] : workers_) {
            if (now - worker->pinged_at >= options_.ping) {
                worker->pinged_at = now;
                send(worker, Ping{});
            }
        }
        sweeper_.expires_after(std::min(kSweep, options_.ping));
        sweeper_.async_wait([this](const boost::system::error_code& error) {
            if (!error && !is_stopping_) {
                sweep();
            }
        });
    }

    void end_all() {
        is_stopping_ = true;
        listener_.close();
        sweeper_.cancel();
        for (const auto& tunnel : tunnels_) {
            tunnel->close();
        }
        for (const auto& [ticket, waiting] : waiting_) {
            waiting->timer.cancel();
        }
        for (const auto& weak : connections_) {
            if (const auto connection = weak.lock()) {
                connection->close();
            }
        }
    }

    template <class Change>
    void note(const Change& change) {
        const std::scoped_lock lock(mutex_);
        change(figures_);
    }
    void count_refusal(const std::string& reason) {
        note([&](RelayFigures& figures) { ++figures.refused[reason]; });
    }
    void tell(std::string_view what, const Service& service) const {
        if (told_) {
            told_(what, service);
        }
    }

    RelayOptions options_;
    const Told told_;
    mutable std::mutex mutex_;
    RelayFigures figures_;  // guarded by mutex_

    // Of the relay's thread.
    asio::io_context io_{1};
    http::Listener listener_;
    asio::steady_timer sweeper_{io_};
    std::size_t connections_max_ = 0;
    bool is_stopping_ = false;
    std::vector<std::weak_ptr<Connection>> connections_;
    AddressCounts heads_;  // connections of which nobody knows yet what they are for
    AddressCounts worker_addresses_;
    AddressCounts tunnel_addresses_;
    std::map<Service, std::shared_ptr<RegisteredWorker>> workers_;
    std::map<Hash256, std::shared_ptr<WaitingClient>> waiting_;
    std::set<std::shared_ptr<Tunnel>> tunnels_;
    std::thread thread_;
};

RelayServer::RelayServer(RelayOptions options, Told told)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(told))) {}
RelayServer::~RelayServer() { stop(); }
std::uint16_t RelayServer::port() const noexcept { return impl_->port(); }
const std::string& RelayServer::name() const noexcept { return impl_->name(); }
RelayFigures RelayServer::figures() const { return impl_->figures(); }
void RelayServer::stop() { impl_->stop(); }

}  // namespace assay::relay
