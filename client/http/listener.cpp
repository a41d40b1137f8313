// SPDX-License-Identifier: Apache-2.0
#include <client/http/listener.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <client/http/listen_error.hpp>

namespace assay::http {

namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using asio::ip::tcp;

constexpr std::chrono::milliseconds kPause{50};  // when no connection can be accepted
constexpr int kAcceptedAtOnce = 64;

ClientAddress to_client(const asio::ip::address& address) {
    ClientAddress out{};
    const auto v6 = address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()) : address.to_v6();
    const auto bytes = v6.to_bytes();
    std::copy_n(bytes.begin(), v6.is_v4_mapped() ? bytes.size() : bytes.size() / 2, out.begin());
    return out;
}

[[noreturn]] void fail(const std::string& where, const std::string& why) { throw ListenError(where, why); }

/// Removes a socket that nobody listens on any more.
void remove_stale(const std::filesystem::path& file, const sockaddr_un& address) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) {
        return;
    }
    if (!S_ISSOCK(status.st_mode)) {
        fail(file.string(), "there is a file of that name that is no socket: remove it, or name another");
    }
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    const bool is_taken = fd >= 0 && ::connect(fd, generic, sizeof(address)) == 0;
    ::close(fd);
    if (is_taken) {
        fail(file.string(), "another process listens there");
    }
    ::unlink(file.c_str());
}

sockaddr_un to_address(const std::filesystem::path& file) {
    sockaddr_un out{};
    out.sun_family = AF_UNIX;
    const std::string path = file.string();
    if (path.size() >= sizeof(out.sun_path)) {
        fail(path, "the path of a socket has at most " + std::to_string(sizeof(out.sun_path) - 1) + " bytes");
    }
    std::memcpy(out.sun_path, path.c_str(), path.size() + 1);
    return out;
}

/// Runs the steps until one of them fails.
template <class... Steps>
ErrorCode in_turn(Steps... steps) {
    ErrorCode error;
    static_cast<void>(((steps(error), !error) && ...));
    return error;
}

}  // namespace

Listener::Listener(asio::io_context& context, const std::string& address, std::uint16_t port)
    : acceptor_(context), pauser_(context) {
    const std::string name = address + ":" + std::to_string(port);
    ErrorCode unknown;
    const auto ip = asio::ip::make_address(address, unknown);
    if (unknown) {
        fail(name, "it is not an IP address");
    }
    const tcp::endpoint endpoint(ip, port);
    const ErrorCode error = in_turn(
        [&](ErrorCode& e) {
            acceptor_.open({endpoint.protocol().family(), IPPROTO_TCP}, e);
        },
        [&](ErrorCode& e) { acceptor_.set_option(Acceptor::reuse_address(true), e); },
        [&](ErrorCode& e) { acceptor_.bind(endpoint, e); }, [&](ErrorCode& e) { acceptor_.listen(SOMAXCONN, e); },
        [&](ErrorCode& e) { acceptor_.native_non_blocking(true, e); }
    );
    if (error) {
        fail(name, error.message());
    }
    ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
    tcp::endpoint bound;
    auto size = static_cast<socklen_t>(bound.capacity());
    ::getsockname(acceptor_.native_handle(), bound.data(), &size);
    bound.resize(size);
    port_ = bound.port();
}

Listener::Listener(asio::io_context& context, std::filesystem::path file)
    : acceptor_(context), pauser_(context), file_(std::move(file)) {
    const std::string name = file_.string();
    remove_stale(file_, to_address(file_));
    const ErrorCode error = in_turn(
        [&](ErrorCode& e) {
            acceptor_.open({AF_UNIX, 0}, e);
        },
        [&](ErrorCode& e) { acceptor_.bind(asio::local::stream_protocol::endpoint(name), e); },
        // Nobody can connect before listen(), so there is no moment in which others could.
        [&](ErrorCode& e) {
            if (::chmod(name.c_str(), 0600) != 0) {
                e = ErrorCode(errno, boost::system::system_category());
            }
        },
        [&](ErrorCode& e) { acceptor_.listen(SOMAXCONN, e); },
        [&](ErrorCode& e) { acceptor_.native_non_blocking(true, e); }
    );
    if (error) {
        fail(name, error.message());
    }
    ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
}

Listener::~Listener() { close(); }

void Listener::start(Events events) {
    events_ = std::move(events);
    accept();
}

void Listener::close() {
    if (!acceptor_.is_open()) {
        return;
    }
    ErrorCode ignored;
    acceptor_.close(ignored);
    pauser_.cancel();
    if (!file_.empty()) {
        ::unlink(file_.c_str());
    }
}

void Listener::accept() {
    acceptor_.async_wait(Acceptor::wait_read, [this](const ErrorCode& error) {
        if (error == asio::error::operation_aborted || !acceptor_.is_open()) {
            return;
        }
        for (int i = 0; i < kAcceptedAtOnce; ++i) {
            tcp::endpoint from;
            auto size = static_cast<socklen_t>(from.capacity());
            const int fd = ::accept4(acceptor_.native_handle(), from.data(), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (fd < 0 && errno == EAGAIN) {
                break;
            }
            if (fd < 0 && errno != EINTR && errno != ECONNABORTED) {
                pause();
                return;
            }
            if (fd >= 0 && file_.empty()) {
                from.resize(size);
                events_.accepted(from.protocol().family(), fd, to_client(from.address()));
            } else if (fd >= 0) {
                events_.accepted(AF_UNIX, fd, kSocketClient);
            }
        }
        accept();
    });
}

/// Out of descriptors or memory: an idle connection gives up its own.
void Listener::pause() {
    events_.out_of_resources();
    pauser_.expires_after(kPause);
    pauser_.async_wait([this](const ErrorCode& error) {
        if (!error) {
            accept();
        }
    });
}

}  // namespace assay::http
