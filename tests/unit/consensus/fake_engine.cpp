// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/consensus/fake_engine.hpp>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include <consensus/cometbft/frame.hpp>

namespace assay::cometbft::test {
namespace {

constexpr int kPatienceMs = 10'000;

int connect_unix(const std::string& path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (path.size() >= sizeof to.sun_path) {
        throw std::runtime_error("the socket's path is too long");
    }
    std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, static_cast<const sockaddr*>(static_cast<const void*>(&to)), sizeof to) != 0) {
        ::close(fd);
        throw std::runtime_error("cannot connect to " + path);
    }
    return fd;
}

int connect_tcp(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
    ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, static_cast<const sockaddr*>(static_cast<const void*>(&to)), sizeof to) != 0) {
        ::close(fd);
        throw std::runtime_error("cannot connect to " + address);
    }
    return fd;
}

template <class Message>
void fill_block(Message& message, std::int64_t height, const std::vector<Bytes>& txs) {
    message.set_height(height);
    message.mutable_time()->set_seconds(1'700'000'000 + height);
    message.mutable_time()->set_nanos(5'000'000);
    message.set_hash(std::string(32, static_cast<char>(height)));
    message.set_proposer_address(std::string(20, static_cast<char>(height % 4)));
    for (const Bytes& tx : txs) {
        message.add_txs(string_of(tx));
    }
}

}  // namespace

struct FakeConnection::Impl {
    int fd = -1;
    FrameReader reader;
    std::array<char, 4096> buffer{};

    ~Impl() { ::close(fd); }
    /// How many bytes came; 0 when the connection has ended.
    std::size_t read_more() {
        pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
        if (::poll(&wait, 1, kPatienceMs) != 1) {
            throw std::runtime_error("the server says nothing");
        }
        const ssize_t size = ::read(fd, buffer.data(), buffer.size());
        if (size > 0) {
            reader.feed(buffer.data(), static_cast<std::size_t>(size));
        }
        return size > 0 ? static_cast<std::size_t>(size) : 0;
    }
};

FakeConnection::FakeConnection(const std::string& address) : impl_(std::make_unique<Impl>()) {
    impl_->fd = address.starts_with("unix://") ? connect_unix(address.substr(7)) : connect_tcp(address.substr(6));
}
FakeConnection::~FakeConnection() = default;
FakeConnection::FakeConnection(FakeConnection&&) noexcept = default;

void FakeConnection::send(const abci::Request& request) {
    std::string out;
    append_frame(out, request.SerializeAsString());
    send_raw(out);
}

void FakeConnection::send_raw(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t size = ::send(impl_->fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) {
            throw std::runtime_error("the server hung up");
        }
        sent += static_cast<std::size_t>(size);
    }
}

abci::Response FakeConnection::receive() {
    while (true) {
        if (const auto message = impl_->reader.next()) {
            abci::Response response;
            if (!response.ParseFromString(*message)) {
                throw std::runtime_error("the server sent no ABCI response");
            }
            return response;
        }
        if (impl_->read_more() == 0) {
            throw std::runtime_error("the server hung up");
        }
    }
}

bool FakeConnection::is_closed() { return impl_->read_more() == 0; }

abci::Request info_request() {
    abci::Request out;
    out.mutable_info()->set_version("0.38.25");
    out.mutable_info()->set_abci_version("2.0.0");
    return out;
}
abci::Request flush_request() {
    abci::Request out;
    out.mutable_flush();
    return out;
}
abci::Request echo_request(const std::string& text) {
    abci::Request out;
    out.mutable_echo()->set_message(text);
    return out;
}
abci::Request init_request(const std::string& chain_id) {
    abci::Request out;
    out.mutable_init_chain()->set_chain_id(chain_id);
    out.mutable_init_chain()->set_initial_height(1);
    return out;
}
abci::Request check_request(const Bytes& tx, bool again) {
    abci::Request out;
    out.mutable_check_tx()->set_tx(string_of(tx));
    out.mutable_check_tx()->set_type(again ? abci::RECHECK : abci::NEW);
    return out;
}
abci::Request prepare_request(const std::vector<Bytes>& txs, std::int64_t max_bytes) {
    abci::Request out;
    out.mutable_prepare_proposal()->set_max_tx_bytes(max_bytes);
    for (const Bytes& tx : txs) {
        out.mutable_prepare_proposal()->add_txs(string_of(tx));
    }
    return out;
}
abci::Request process_request(std::int64_t height, const std::vector<Bytes>& txs) {
    abci::Request out;
    fill_block(*out.mutable_process_proposal(), height, txs);
    return out;
}
abci::Request finalize_request(std::int64_t height, const std::vector<Bytes>& txs) {
    abci::Request out;
    fill_block(*out.mutable_finalize_block(), height, txs);
    return out;
}
abci::Request commit_request() {
    abci::Request out;
    out.mutable_commit();
    return out;
}

}  // namespace assay::cometbft::test
