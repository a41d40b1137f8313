// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/abci_relay.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <consensus/cometbft/frame.hpp>

#include <consensus/cometbft/abci.pb.h>

namespace assay::demo {
namespace {

constexpr std::size_t kReadBytes = 64U << 10U;
constexpr int kAbciRelayBacklog = 16;

sockaddr_un address_of(const std::filesystem::path& file) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = file.string();
    if (name.size() >= sizeof(address.sun_path)) {
        throw std::runtime_error("the path " + name + " is too long for a socket; give a shorter --home");
    }
    std::memcpy(address.sun_path, name.data(), name.size());
    return address;
}

int open_socket() {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        throw std::runtime_error(std::string("no socket for the relay: ") + std::strerror(errno));
    }
    return fd;
}

const sockaddr* to_sockaddr(const sockaddr_un& address) {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

bool write_all(int fd, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t size = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            return false;
        }
        done += static_cast<std::size_t>(size);
    }
    return true;
}

/// Some bytes; nothing at the end of the connection.
std::string read_some(int fd) {
    std::array<char, kReadBytes> buffer{};
    for (;;) {
        const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        return size <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(size));
    }
}

}  // namespace

AbciRelay::AbciRelay(std::filesystem::path own, std::filesystem::path application, std::uint64_t count)
    : own_(std::move(own)), application_(std::move(application)), count_(count) {
    const sockaddr_un address = address_of(own_);
    static_cast<void>(address_of(application_));
    listener_ = open_socket();
    std::filesystem::remove(own_);
    if (::bind(listener_, to_sockaddr(address), sizeof(address)) != 0 || ::listen(listener_, kAbciRelayBacklog) != 0) {
        const std::string why = std::strerror(errno);
        ::close(listener_);
        throw std::runtime_error("the relay cannot listen at " + own_.string() + ": " + why);
    }
    accepting_ = std::thread([this] { accept(); });
}

AbciRelay::~AbciRelay() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
    accepting_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const Pipe& pipe : pipes_) {
            ::shutdown(pipe.engine, SHUT_RDWR);
            ::shutdown(pipe.application, SHUT_RDWR);
        }
    }
    for (std::thread& carrier : carriers_) {
        carrier.join();
    }
    for (const Pipe& pipe : pipes_) {
        ::close(pipe.engine);
        ::close(pipe.application);
    }
    ::close(listener_);
    std::error_code ignored;
    std::filesystem::remove(own_, ignored);
}

void AbciRelay::accept() {
    while (!stopping_) {
        const int engine = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (engine < 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            continue;
        }
        const int application = open_socket();
        const sockaddr_un address = address_of(application_);
        if (::connect(application, to_sockaddr(address), sizeof(address)) != 0) {
            ::close(application);
            ::close(engine);  // the engine tries again
            continue;
        }
        const std::lock_guard lock(mutex_);
        const Pipe& pipe = pipes_.emplace_back(Pipe{engine, application});
        carriers_.emplace_back([this, pipe] { carry_requests(pipe); });
        carriers_.emplace_back([this, pipe] { carry_answers(pipe); });
    }
}

void AbciRelay::carry_requests(Pipe pipe) const {
    for (;;) {
        const std::string bytes = read_some(pipe.engine);
        if (bytes.empty() || !write_all(pipe.application, bytes)) {
            break;
        }
    }
    ::shutdown(pipe.application, SHUT_RDWR);
}

void AbciRelay::carry_answers(Pipe pipe) {
    cometbft::FrameReader reader;
    try {
        for (;;) {
            const std::string bytes = read_some(pipe.application);
            if (bytes.empty()) {
                break;
            }
            reader.feed(bytes.data(), bytes.size());
            std::string out;
            while (const auto message = reader.next()) {
                cometbft::append_frame(out, altered(*message));
            }
            if (!write_all(pipe.engine, out)) {
                break;
            }
        }
    } catch (const cometbft::FrameError&) {
        // The application is no application: the engine finds its connection closed.
    }
    ::shutdown(pipe.engine, SHUT_RDWR);
}

std::string AbciRelay::altered(const std::string& message) {
    abci::Response response;
    if (!response.ParseFromString(message)) {
        return message;
    }
    if (response.has_process_proposal()) {
        response.mutable_process_proposal()->set_status(abci::ResponseProcessProposal::ACCEPT);
        return response.SerializeAsString();
    }
    if (!response.has_prepare_proposal() || response.prepare_proposal().txs().empty() || doubled_ >= count_) {
        return message;
    }
    abci::ResponsePrepareProposal changed;
    changed.add_txs(response.prepare_proposal().txs(0));
    for (const std::string& tx : response.prepare_proposal().txs()) {
        changed.add_txs(tx);
    }
    *response.mutable_prepare_proposal() = changed;
    ++doubled_;
    return response.SerializeAsString();
}

}  // namespace assay::demo
