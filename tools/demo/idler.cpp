// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/idler.hpp>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::demo {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kConnections = 2'000;  // to each server
// Each has more of a server's 512 places than the demo's own processes, which share one address: a server that is full
// closes connections of the address that has the most.
constexpr std::uint32_t kAddresses = 16;
constexpr std::uint32_t kFirstAddress = (127U << 24U) + (1U << 16U) + 1;  // 127.1.0.1
constexpr std::uint32_t kOpenedPerRound = 400;
constexpr auto kRound = 100ms;
constexpr auto kAskEvery = 50ms;
constexpr auto kSlowest = 1'000ms;
constexpr std::uint64_t kLeastRequests = 10;
constexpr rlim_t kDescriptors = 8'192;

std::uint16_t port_of(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

void allow_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, kDescriptors));
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < kDescriptors) {
        throw std::runtime_error("idle-sockets needs " + std::to_string(kDescriptors) + " descriptors: ulimit -n");
    }
}

sockaddr_in address_of(std::uint32_t ip, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(ip);
    address.sin_port = htons(port);
    return address;
}

/// A connection that says nothing.
class Idle {
  public:
    Idle(std::uint32_t from, std::uint16_t port) : from_(from), port_(port) {}
    ~Idle() { drop(); }
    Idle(Idle&& other) noexcept : from_(other.from_), port_(other.port_), fd_(std::exchange(other.fd_, -1)) {}
    Idle& operator=(Idle&&) = delete;

    void open() {
        drop();
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const sockaddr_in own = address_of(from_, 0);
        const sockaddr_in server = address_of(INADDR_LOOPBACK, port_);
        const bool is_begun =
            fd_ >= 0 && ::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof(own)) == 0 &&
            (::connect(fd_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) == 0 || errno == EINPROGRESS);
        if (!is_begun) {
            drop();
        }
    }
    /// Closes our end where the server has closed its own.
    bool is_open() {
        char byte = 0;
        if (fd_ >= 0 && (::recv(fd_, &byte, 1, MSG_PEEK) >= 0 || errno != EAGAIN)) {
            drop();
        }
        return fd_ >= 0;
    }

  private:
    void drop() {
        if (fd_ >= 0) {
            ::close(std::exchange(fd_, -1));
        }
    }

    std::uint32_t from_;
    std::uint16_t port_;
    int fd_ = -1;
};

}  // namespace

Idler::Idler(Network& network) : Outsider(network, {}) {}

Idler::~Idler() { stop(); }

void Idler::stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

void Idler::hold(const std::vector<std::uint16_t>& ports) {
    std::vector<Idle> connections;
    for (std::uint32_t i = 0; i < kConnections; ++i) {
        for (const std::uint16_t port : ports) {
            connections.emplace_back(kFirstAddress + i % kAddresses, port);
        }
    }
    std::size_t next = 0;  // in turns, so that both servers have their share
    while (!stopping_) {
        std::uint64_t open = 0;
        std::uint32_t opened = 0;
        for (std::size_t i = 0, first = next; i < connections.size(); ++i) {
            const std::size_t at = (first + i) % connections.size();
            if (connections[at].is_open()) {
                ++open;
            } else if (opened < kOpenedPerRound) {
                connections[at].open();
                ++opened;
                next = at + 1;
            }
        }
        opened_ += opened;
        held_ = std::max<std::uint64_t>(held_, open);
        std::this_thread::sleep_for(kRound);
    }
}

void Idler::ask(const std::string& url) {
    while (!stopping_) {
        const auto began = Clock::now();
        bool has_failed = false;
        try {
            client::RpcClient client(url);  // a connection of its own for each request
            static_cast<void>(client.call("node_status"));
        } catch (const std::exception&) {
            has_failed = true;
        }
        {
            const std::lock_guard lock(mutex_);
            ++answers_.requests;
            answers_.failed += has_failed ? 1U : 0U;
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
            answers_.slowest = std::max(answers_.slowest, took);
        }
        std::this_thread::sleep_for(kAskEvery);
    }
}

void Idler::act(const contracts::Task& own) {
    if (!threads_.empty() || own.checkpoints == 0) {
        return;
    }
    const auto checkpoint = network_.rpc().checkpoint(own.id, 0);
    if (!checkpoint) {
        return;
    }
    allow_descriptors();
    const std::string node = network_.rpc_url();
    const std::vector<std::uint16_t> ports{port_of(node), port_of(checkpoint->location)};
    threads_.emplace_back([this, ports] { hold(ports); });
    threads_.emplace_back([this, node] { ask(node); });
}

bool Idler::is_over() {
    stop();
    return true;
}

json Idler::report() {
    const std::lock_guard lock(mutex_);
    return {{"connections", 2 * kConnections}, {"held", held_.load()},      {"opened", opened_.load()},
            {"requests", answers_.requests},   {"failed", answers_.failed}, {"slowest_ms", answers_.slowest.count()}};
}

std::vector<std::string> Idler::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("opened") < 2 * kConnections || report.at("requests") < kLeastRequests) {
        complaints.emplace_back("too few connections or requests, so nothing was tried");
    }
    if (report.at("failed") != 0 || report.at("slowest_ms") >= kSlowest.count()) {
        complaints.emplace_back(
            "the node did not answer within " + std::to_string(kSlowest.count()) + " ms: " + report.dump()
        );
    }
    return complaints;
}

}  // namespace assay::demo
