// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/relay/link.hpp>
#include <verifier/relay/server.hpp>
#include <verifier/stores/store.hpp>

/// A relay, workers that come to it, and whoever fetches from them, in one process.
namespace assay::relay::test {

using std::chrono::milliseconds;

inline crypto::SecretKey key_of(std::uint8_t number) {
    return crypto::SecretKey::from_bytes(Bytes(32, number)).value();
}

inline bool eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
}

/// A client without manners.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, const char* from = "127.0.0.1")
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        REQUIRE(::inet_pton(AF_INET, from, &address.sin_addr) == 1);
        REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        REQUIRE(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        const timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    }
    ~RawClient() { ::close(fd_); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    void send(const std::string& text) const { ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
    /// To the end of a line, which is left out; empty if the connection ends before.
    std::string line() const {
        std::string out;
        for (char c = 0; ::recv(fd_, &c, 1, 0) == 1;) {
            if (c == '\n') {
                return out;
            }
            out += c;
        }
        return "";
    }
    /// Whether the other side has closed the connection, once it has.
    bool is_over() const {
        char c = 0;
        while (::recv(fd_, &c, 1, 0) == 1) {
        }
        return true;
    }

  private:
    int fd_;
};

/// What a link was told, in order.
class Told {
  public:
    void add(const std::string& text) {
        const std::scoped_lock lock(mutex_);
        texts_.push_back(text);
    }
    std::vector<std::string> texts() const {
        const std::scoped_lock lock(mutex_);
        return texts_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> texts_;
};

/// A worker with one artifact, which is reached through a relay alone.
class Worker {
  public:
    Worker(
        const std::string& relay, std::uint8_t key, std::size_t size_bytes = 1'000,
        const std::function<void(LinkOptions&)>& change = {}
    )
        : file(size_bytes) {
        for (std::size_t i = 0; i < file.size(); ++i) {
            file[i] = static_cast<std::uint8_t>((i * 2'654'435'761U) >> 13U);
        }
        name = store.put(file);
        LinkOptions options{.relay = relay, .name = "solve", .key = key_of(key), .backoff_first = milliseconds(20)};
        if (change) {
            change(options);
        }
        location =
            stores::RelayLocation{.relay = relay, .service = {.name = "solve", .account = options.key.account()}};
        link = std::make_unique<RelayLink>(
            options, [this](int family, int fd) { server.serve(family, fd); },
            [this](const std::string& trouble) { told.add(trouble); }
        );
    }

    bool is_registered() const {
        return eventually([this] { return link->is_registered(); });
    }

    Bytes file;
    ::assay::test::TemporaryDirectory home;
    ::assay::artifacts::ContentStore store{home.path() / "store"};
    ::assay::artifacts::ArtifactServer server{http::HttpServerOptions{}, store};
    Hash256 name;
    stores::RelayLocation location;
    Told told;
    std::unique_ptr<RelayLink> link;
};

inline http::HttpLimits quick() { return {.timeout = milliseconds(20'000), .connect_timeout = milliseconds(15'000)}; }

/// Bytes `first` to `last` of a worker's artifact, or to its end; nullopt if it is not there.
inline std::optional<Bytes> fetch_part(
    const Worker& worker, std::uint64_t first = 0, std::optional<std::uint64_t> last = std::nullopt
) {
    Bytes out;
    const auto keep = [&out](std::uint64_t, ByteView piece) {
        append(out, piece);
        return true;
    };
    const auto store = stores::open_store(worker.location);
    return store->read({worker.name, false}, first, last, keep, quick()) == stores::ReadEnd::kDone ? std::optional(out)
                                                                                                   : std::nullopt;
}

}  // namespace assay::relay::test
