// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/link.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <client/http/http.hpp>
#include <client/http/tls_relay.hpp>
#include <verifier/relay/account_certificate.hpp>
#include <verifier/relay/connection.hpp>
#include <verifier/relay/dial.hpp>

namespace assay::relay {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using std::chrono::milliseconds;

}  // namespace

class RelayLink::Impl {
  public:
    Impl(LinkOptions options, Serve serve, Told told)
        : options_(std::move(options)),
          serve_(std::move(serve)),
          told_(std::move(told)),
          wanted_{.service = {.name = options_.name, .account = options_.key.account()}, .relay = options_.relay},
          tls_(std::make_shared<asio::ssl::context>(make_account_context(options_.key))) {
        asio::co_spawn(io_, keep(), asio::detached);
        thread_ = std::thread([this] { run(); });
    }
    ~Impl() {
        is_stopping_ = true;
        asio::post(io_, [this] { end_all(); });
        thread_.join();  // with the last coroutine
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    bool is_registered() const { return is_registered_; }
    std::size_t tunnels() const { return open_; }

  private:
    void run() {
        for (;;) {
            try {
                io_.run();
                return;
            } catch (const std::exception&) {
                // Out of memory for one connection: it is gone, the link goes on.
            }
        }
    }

    void end_all() {
        pause_.cancel();
        if (control_) {
            control_->close();
        }
        for (const auto& weak : dialled_) {
            if (const auto connection = weak.lock()) {
                connection->close();
            }
        }
        const auto left = tunnels_;  // each leaves the map as it is closed
        for (const auto& [key, tunnel] : left) {
            tunnel->close();
        }
    }

    awaitable<void> keep() {
        milliseconds backoff = options_.backoff_first;
        while (!is_stopping_) {
            const std::string trouble = co_await attend();
            backoff = is_registered_.exchange(false) ? options_.backoff_first : backoff;
            if (is_stopping_) {
                co_return;
            }
            tell(trouble);
            // Many workers lose a relay at the same moment, and are not to come back at one.
            std::uniform_real_distribution<double> jitter(0.5, 1.0);
            const milliseconds wait = std::exchange(is_refused_, false) ? options_.after_refusal : backoff;
            pause_.expires_after(std::chrono::duration_cast<milliseconds>(wait * jitter(random_)));
            co_await pause_.async_wait(kReturned);
            backoff = std::min(backoff * 2, options_.backoff_max);
        }
    }

    /// Registers, and attends to what the relay says until it is lost. Returns why it was.
    awaitable<std::string> attend() {
        std::string trouble;
        control_ = co_await dial(trouble);
        if (!control_) {
            co_return trouble;
        }
        control_->expire_after(options_.handshake);
        co_await control_->write(encode_message(wanted_));
        for (;;) {
            const auto line = co_await control_->read_line();
            if (!line) {
                co_return is_registered_ ? "it is lost" : kNoRelay;
            }
            const auto message = decode_message(*line);
            if (!message) {
                co_return std::string(kOtherSpeech) + to_string(message.error());
            }
            if (const auto* refused = std::get_if<Refused>(&*message)) {
                is_refused_ = true;
                co_return std::string(advice_of(refused->reason));
            }
            const std::string answer = answer_to(*message);
            if (!answer.empty()) {
                co_await control_->write(answer);
            }
        }
    }

    /// What is said to a message of the relay; empty: nothing.
    std::string answer_to(const Message& message) {
        if (const auto* challenge = std::get_if<Challenge>(&message); challenge != nullptr && !is_registered_) {
            const Hash256 digest = register_digest(challenge->nonce, wanted_);
            return encode_message(Proof{options_.key.sign(digest.view())});
        }
        if (std::holds_alternative<Registered>(message)) {
            is_registered_ = true;
            tell("");
        }
        control_->expire_after(options_.silence);
        if (const auto* open = std::get_if<Open>(&message); open != nullptr && is_registered_) {
            asio::co_spawn(io_, accept(open->ticket), asio::detached);
        }
        return std::holds_alternative<Ping>(message) ? encode_message(Pong{}) : "";
    }

    /// Looks the relay up and connects to it. Null, and why, if that fails.
    awaitable<std::shared_ptr<Connection>> dial(std::string& trouble) {
        for (const tcp::endpoint& endpoint : endpoints_of(options_.relay, trouble)) {
            auto connection = co_await connect(endpoint, trouble);
            if (connection) {
                co_return connection;
            }
        }
        co_return nullptr;
    }

    awaitable<std::shared_ptr<Connection>> connect(tcp::endpoint endpoint, std::string& trouble) {
        const auto connection = std::make_shared<Connection>(tcp::socket(io_), http::ClientAddress{});
        std::erase_if(dialled_, [](const auto& weak) { return weak.expired(); });
        dialled_.push_back(connection);
        connection->expire_after(options_.handshake);
        const auto [error] = co_await connection->socket.async_connect(endpoint, kReturned);
        if (error || is_stopping_) {
            trouble = unreachable(error);
            co_return nullptr;
        }
        connection->socket.set_option(tcp::no_delay(true));
        co_return connection;
    }

    /// Connects for a client that waits at the relay: at the address that has given the ticket out, which a name may
    /// share with others.
    awaitable<void> accept(Hash256 ticket) {
        boost::system::error_code gone;
        const tcp::endpoint relay = control_->socket.remote_endpoint(gone);
        if (gone || open_ >= options_.tunnels_max) {
            co_return;
        }
        ++open_;
        std::string trouble;
        const auto connection = co_await connect(relay, trouble);
        bool is_open = false;
        if (connection) {
            const bool is_told = co_await connection->write(encode_message(Accept{ticket}));
            is_open = is_told && !is_stopping_ && begin(*connection);
        }
        open_ -= is_open ? 0 : 1;
    }

    /// From here on the client and this worker speak by TLS. Returns false if the system has no sockets left.
    bool begin(Connection& connection) {
        std::array<int, 2> pair{};
        boost::system::error_code error;
        connection.socket.native_non_blocking(true, error);
        const int family = connection.socket.local_endpoint(error).protocol().family();
        if (error || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
            return false;
        }
        connection.expire_never();
        const auto tunnel = http::start_tls_relay(
            io_, tls_, {.family = family, .client = connection.socket.release(), .session = pair[1]},
            [this](http::TlsRelay& ended) {
                tunnels_.erase(&ended);
                --open_;
            }
        );
        tunnels_.emplace(tunnel.get(), tunnel);
        serve_(AF_UNIX, pair[0]);
        return true;
    }

    void tell(const std::string& trouble) {
        if (told_last_ != trouble) {
            told_last_ = trouble;
            told_(trouble);
        }
    }

    const LinkOptions options_;
    const Serve serve_;
    const Told told_;
    const Register wanted_;
    std::atomic<bool> is_stopping_{false};
    std::atomic<bool> is_registered_{false};
    std::atomic<std::size_t> open_{0};  ///< tunnels, and those that are being made

    // Of the link's thread.
    asio::io_context io_{1};
    std::shared_ptr<asio::ssl::context> tls_;
    asio::steady_timer pause_{io_};
    std::shared_ptr<Connection> control_;
    std::vector<std::weak_ptr<Connection>> dialled_;
    std::map<const http::TlsRelay*, std::shared_ptr<http::TlsRelay>> tunnels_;
    std::optional<std::string> told_last_;
    std::minstd_rand random_{std::random_device{}()};
    bool is_refused_ = false;
    std::thread thread_;
};

RelayLink::RelayLink(LinkOptions options, Serve serve, Told told)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(serve), std::move(told))) {}
RelayLink::~RelayLink() = default;
bool RelayLink::is_registered() const noexcept { return impl_->is_registered(); }
std::size_t RelayLink::tunnels() const noexcept { return impl_->tunnels(); }

}  // namespace assay::relay
