// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/server.hpp>

#include <array>
#include <atomic>
#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <consensus/cometbft/frame.hpp>

#include <consensus/cometbft/abci.pb.h>

namespace assay::cometbft {
namespace {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;
using Endpoint = asio::generic::stream_protocol::endpoint;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

constexpr std::size_t kReadBytes = 64U << 10U;
constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "tcp://";

struct Target {
    Endpoint endpoint;
    std::filesystem::path socket_file;  ///< empty: TCP
};

Target to_target(const std::string& address) {
    if (address.starts_with(kUnix)) {
        const std::filesystem::path file = address.substr(kUnix.size());
        return {asio::local::stream_protocol::endpoint(file.string()), file};
    }
    const std::size_t colon = address.rfind(':');
    if (!address.starts_with(kTcp) || colon < kTcp.size()) {
        throw std::runtime_error(
            "the engine's address \"" + address + "\" is neither tcp://ADDRESS:PORT nor unix://PATH"
        );
    }
    const auto ip = asio::ip::make_address(address.substr(kTcp.size(), colon - kTcp.size()));
    const auto port = static_cast<unsigned short>(std::stoul(address.substr(colon + 1)));
    return {asio::ip::tcp::endpoint(ip, port), {}};
}

/// Whether somebody answers at the socket file.
bool is_served(const Endpoint& endpoint) {
    asio::io_context context;
    Socket socket(context);
    boost::system::error_code error;
    socket.connect(endpoint, error);
    return !error;
}

Acceptor listen(asio::io_context& context, const Target& target, const std::string& address) {
    try {
        if (!target.socket_file.empty() && std::filesystem::exists(target.socket_file)) {
            if (is_served(target.endpoint)) {
                throw std::runtime_error("another process serves it");
            }
            std::filesystem::remove(target.socket_file);
        }
        Acceptor acceptor(context);
        acceptor.open(target.endpoint.protocol());
        if (target.socket_file.empty()) {
            acceptor.set_option(asio::socket_base::reuse_address(true));
        }
        acceptor.bind(target.endpoint);
        acceptor.listen();
        return acceptor;
    } catch (const std::exception& error) {
        throw std::runtime_error("cannot listen for the engine at " + address + ": " + error.what());
    }
}

}  // namespace

struct Server::Impl {
    Impl(Handler& to, ServerOptions with)
        : handler(to),
          options(std::move(with)),
          target(to_target(options.address)),
          acceptor(listen(context, target, options.address)) {
        accepting = std::thread([this] { accept(); });
    }

    struct Connection {
        explicit Connection(Socket s) : socket(std::move(s)) {}
        Socket socket;
        std::thread thread;
        std::atomic<bool> done{false};
    };

    void accept() {
        while (!stopping) {
            boost::system::error_code error;
            Socket socket(context);
            acceptor.accept(socket, error);
            if (stopping) {
                return;
            }
            if (error) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
                continue;
            }
            const std::lock_guard lock(mutex);
            connections.remove_if([](Connection& c) {
                if (c.done && c.thread.joinable()) {
                    c.thread.join();
                    return true;
                }
                return false;
            });
            Connection& connection = connections.emplace_back(std::move(socket));
            connection.thread = std::thread([this, &connection] { serve(connection); });
        }
    }

    void serve(Connection& connection) {
        try {
            answer(connection.socket);
        } catch (const boost::system::system_error&) {
            // The engine went away, or we are stopping.
        } catch (const std::exception& error) {
            fail(error.what());
        }
        boost::system::error_code ignored;
        connection.socket.shutdown(asio::socket_base::shutdown_both, ignored);
        connection.done = true;
    }

    /// Reads whole messages and answers each before the next; answers to what arrived together leave together.
    void answer(Socket& socket) {
        FrameReader reader;
        std::array<char, kReadBytes> buffer{};
        std::string out;
        while (!stopping) {
            const std::size_t size = socket.read_some(asio::buffer(buffer));
            reader.feed(buffer.data(), size);
            while (const auto message = reader.next()) {
                abci::Request request;
                if (!request.ParseFromString(*message)) {
                    throw ProtocolError("the engine sent a message that is no ABCI request");
                }
                append_frame(out, handler.handle(request).SerializeAsString());
            }
            if (!out.empty()) {
                asio::write(socket, asio::buffer(out));
                out.clear();
            }
        }
    }

    void fail(const std::string& why) {
        if (failed.exchange(true)) {
            return;
        }
        close_all();
        if (options.on_failure) {
            options.on_failure(why);
        }
    }

    void close_all() {
        stopping = true;
        boost::system::error_code ignored;
        // A blocked accept() wakes when its socket is shut down.
        ::shutdown(acceptor.native_handle(), SHUT_RDWR);
        const std::lock_guard lock(mutex);
        for (Connection& connection : connections) {
            connection.socket.shutdown(asio::socket_base::shutdown_both, ignored);
        }
    }

    void stop() {
        if (!accepting.joinable()) {
            return;
        }
        close_all();
        accepting.join();
        for (Connection& connection : connections) {
            if (connection.thread.joinable()) {
                connection.thread.join();
            }
        }
        boost::system::error_code ignored;
        acceptor.close(ignored);
        if (!target.socket_file.empty()) {
            std::error_code gone;
            std::filesystem::remove(target.socket_file, gone);
        }
    }

    Handler& handler;
    const ServerOptions options;
    asio::io_context context;
    const Target target;
    Acceptor acceptor;
    std::atomic<bool> stopping{false};
    std::atomic<bool> failed{false};
    mutable std::mutex mutex;
    std::list<Connection> connections;
    std::thread accepting;
};

Server::Server(Handler& handler, ServerOptions options) : impl_(std::make_unique<Impl>(handler, std::move(options))) {}

Server::~Server() { stop(); }

std::string Server::address() const {
    if (!impl_->target.socket_file.empty()) {
        return impl_->options.address;
    }
    const auto endpoint = impl_->acceptor.local_endpoint();
    asio::ip::tcp::endpoint tcp;
    tcp.resize(endpoint.size());
    std::copy_n(
        static_cast<const char*>(static_cast<const void*>(endpoint.data())), endpoint.size(),
        static_cast<char*>(static_cast<void*>(tcp.data()))
    );
    return std::string(kTcp) + tcp.address().to_string() + ":" + std::to_string(tcp.port());
}

std::size_t Server::connections() const {
    const std::lock_guard lock(impl_->mutex);
    std::size_t open = 0;
    for (const Impl::Connection& connection : impl_->connections) {
        open += connection.done ? 0U : 1U;
    }
    return open;
}

void Server::stop() { impl_->stop(); }

}  // namespace assay::cometbft
