// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/socket.h>

/// Name resolution with a deadline. The system call has none and takes as long as a name server likes.
namespace assay::http {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    int family() const noexcept { return storage.ss_family; }
    const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Looks up a name. May take any time; throws NetError.
using Resolver = std::function<std::vector<SocketAddress>(const std::string& host, const std::string& port)>;

/// Returns the addresses of `host`, at least one. An IP address is returned at once. A name is looked up by `resolver`
/// (default: the system's) on a separate thread, which is left running if the deadline passes. Throws NetError;
/// NetTimeout at the deadline.
std::vector<SocketAddress> resolve(
    const std::string& host, const std::string& port, std::chrono::steady_clock::time_point deadline,
    Resolver resolver = {}
);

}  // namespace assay::http
