// SPDX-License-Identifier: Apache-2.0
#include <client/http/resolve.hpp>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <netdb.h>

#include <client/http/http.hpp>

namespace assay::http {

namespace {

/// Threads that a slow name server may hold at once.
constexpr int kLookupsMax = 32;
std::atomic<int> lookups{0};

/// getaddrinfo's error, or 0.
int look_up(const std::string& host, const std::string& port, int flags, std::vector<SocketAddress>& out) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    for (const addrinfo* info = found; error == 0 && info != nullptr; info = info->ai_next) {
        SocketAddress address;
        if (info->ai_addrlen <= sizeof(address.storage)) {
            std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
            address.size = info->ai_addrlen;
            out.push_back(address);
        }
    }
    if (found != nullptr) {
        ::freeaddrinfo(found);
    }
    return error;
}

std::vector<SocketAddress> system_lookup(const std::string& host, const std::string& port) {
    std::vector<SocketAddress> out;
    if (const int error = look_up(host, port, AI_NUMERICSERV | AI_ADDRCONFIG, out); error != 0) {
        throw NetError("cannot resolve " + host + ": " + ::gai_strerror(error));
    }
    return out;
}

struct Lookup {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::vector<SocketAddress>> found;
    std::exception_ptr error;
};

}  // namespace

std::vector<SocketAddress> resolve(
    const std::string& host, const std::string& port, std::chrono::steady_clock::time_point deadline, Resolver resolver
) {
    std::vector<SocketAddress> literal;
    if (look_up(host, port, AI_NUMERICHOST | AI_NUMERICSERV, literal) == 0 && !literal.empty()) {
        return literal;
    }
    if (lookups.fetch_add(1) >= kLookupsMax) {
        --lookups;
        throw NetError("cannot resolve " + host + ": too many names are being looked up already");
    }
    const auto lookup = std::make_shared<Lookup>();
    try {
        std::thread([lookup, host, port, resolver = resolver ? std::move(resolver) : Resolver(system_lookup)] {
            std::vector<SocketAddress> found;
            std::exception_ptr error;
            try {
                found = resolver(host, port);
            } catch (...) {
                error = std::current_exception();
            }
            --lookups;
            const std::lock_guard lock(lookup->mutex);
            lookup->found = std::move(found);
            lookup->error = error;
            lookup->changed.notify_all();
        }).detach();
    } catch (const std::system_error&) {
        --lookups;
        throw NetError("cannot resolve " + host + ": no thread can be had");
    }
    std::unique_lock lock(lookup->mutex);
    if (!lookup->changed.wait_until(lock, deadline, [&] { return lookup->found.has_value(); })) {
        throw NetTimeout("cannot resolve " + host + ": timed out");
    }
    if (lookup->error) {
        std::rethrow_exception(lookup->error);
    }
    if (lookup->found->empty()) {
        throw NetError("cannot resolve " + host + ": it has no address");
    }
    return *std::move(lookup->found);
}

}  // namespace assay::http
