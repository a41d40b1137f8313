// SPDX-License-Identifier: Apache-2.0
#include <core/system/service_manager.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace assay::system {
namespace {

/// A whole number without a sign; nullopt for anything else.
std::optional<std::uint64_t> decode_number(const std::optional<std::string>& text) {
    std::uint64_t value = 0;
    if (!text || text->empty()) {
        return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() && end == text->data() + text->size() ? std::optional(value) : std::nullopt;
}

}  // namespace

ServiceManager ServiceManager::of_this_process() {
    return ServiceManager([](const char* name) -> std::optional<std::string> {
        const char* const value = std::getenv(name);
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    });
}

ServiceManager::ServiceManager(const Environment& environment) {
    const auto socket = environment("NOTIFY_SOCKET").value_or("");
    const bool is_named = socket.size() > 1 && (socket[0] == '/' || socket[0] == '@');
    if (!is_named || socket.size() >= sizeof(sockaddr_un::sun_path)) {
        return;
    }
    socket_ = socket;
    const auto owner =
        environment("WATCHDOG_PID");  // a child inherits the variables and is not the one that is watched
    if (owner && decode_number(owner) != static_cast<std::uint64_t>(::getpid())) {
        return;
    }
    constexpr std::uint64_t kMax = std::uint64_t{1} << 62U;
    if (const auto timeout_us = decode_number(environment("WATCHDOG_USEC")); timeout_us > 0U && timeout_us < kMax) {
        watchdog_timeout_ = std::chrono::microseconds(static_cast<std::int64_t>(*timeout_us));
    }
}

void ServiceManager::ready(std::string_view status) const noexcept {
    send("READY=1\nSTATUS=" + std::string(status.substr(0, status.find('\n'))));
}

void ServiceManager::stopping() const noexcept { send("STOPPING=1"); }

void ServiceManager::alive(Clock::time_point now) noexcept {
    if (!watchdog_timeout_ || (last_alive_ && now - *last_alive_ < *watchdog_timeout_ / 2)) {
        return;
    }
    last_alive_ = now;
    send("WATCHDOG=1");
}

void ServiceManager::send(std::string_view message) const noexcept {
    if (socket_.empty()) {
        return;
    }
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    if (socket_[0] == '@') {
        address.sun_path[0] = '\0';  // Linux's abstract names begin with a zero and have the length of the address
    }
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    // MSG_DONTWAIT: a manager that does not read must not hold up the node.
    static_cast<void>(::sendto(
        descriptor, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
        static_cast<const sockaddr*>(static_cast<const void*>(&address)), size
    ));
    ::close(descriptor);
}

}  // namespace assay::system
