// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/socket.h>

/// Names to addresses within a deadline. The system's own call has none, and takes as long as a name server pleases.
namespace assay::http {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    int family() const noexcept { return storage.ss_family; }
    const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// May take any time; throws NetError.
using Resolver = std::function<std::vector<SocketAddress>(const std::string& host, const std::string& port)>;

/// The addresses of `host`, at least one. An IP address is itself, at once; a name is looked up by `resolver`, the
/// system's where there is none, on a thread that is left behind when the deadline passes. Throws NetError, NetTimeout at
/// the deadline.
std::vector<SocketAddress> resolve(
    const std::string& host,
    const std::string& port,
    std::chrono::steady_clock::time_point deadline,
    Resolver resolver = {}
);

}  // namespace assay::http
