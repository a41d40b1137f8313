// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay::system {

/// Tells the service manager (systemd, with `Type=notify`) how this process is doing, by the datagrams of sd_notify(3).
/// Without a service manager every call does nothing, so programs need not ask whether there is one.
class ServiceManager {
  public:
    using Clock = std::chrono::steady_clock;
    /// The value of an environment variable; nullopt if it is not set.
    using Environment = std::function<std::optional<std::string>(const char* name)>;

    /// Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID of this process. Values that make no sense count as
    /// not set. Call it before other threads may change the environment.
    static ServiceManager of_this_process();
    explicit ServiceManager(const Environment& environment);

    /// The service serves from now on. `status` is one line that `systemctl status` shows.
    void ready(std::string_view status) const noexcept;
    /// The service ends in order.
    void stopping() const noexcept;
    /// The service works. Sends the watchdog's message if half of its timeout has passed since the last one.
    void alive(Clock::time_point now) noexcept;
    /// The longest time between two messages that the watchdog accepts; nullopt if there is no watchdog.
    std::optional<std::chrono::microseconds> watchdog_timeout() const noexcept { return watchdog_timeout_; }

  private:
    /// Sends one datagram. A failure is ignored: the manager then acts by its own timeouts.
    void send(std::string_view message) const noexcept;

    std::string socket_;  ///< path, or '@' and an abstract name; empty without a service manager
    std::optional<std::chrono::microseconds> watchdog_timeout_;
    std::optional<Clock::time_point> last_alive_;
};

}  // namespace assay::system
