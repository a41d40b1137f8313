// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <core/system/service_manager.hpp>

namespace assay::system {
namespace {

using std::chrono::microseconds;

/// The manager's end: a datagram socket by a path, or by an abstract name that begins with '@'.
class Manager {
  public:
    explicit Manager(const std::string& name) : name_(name) {
        descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name[0] == '@') {
            address.sun_path[0] = '\0';
        }
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        REQUIRE(::bind(descriptor_, static_cast<const sockaddr*>(static_cast<const void*>(&address)), size) == 0);
    }
    ~Manager() {
        ::close(descriptor_);
        if (name_[0] == '/') {
            std::filesystem::remove(name_);
        }
    }
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;
    /// The next message; nullopt if none is there. Datagrams of this machine arrive before sendto returns.
    std::optional<std::string> next() const {
        std::array<char, 512> buffer{};
        const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        return got < 0 ? std::nullopt : std::optional(std::string(buffer.data(), static_cast<std::size_t>(got)));
    }

  private:
    std::string name_;
    int descriptor_ = -1;
};

ServiceManager make(std::map<std::string, std::string> variables) {
    return ServiceManager([variables = std::move(variables)](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string unique(const std::string& head) { return head + "assay-notify-" + std::to_string(::getpid()); }

TEST_CASE("a service manager is told of ready and stopping by a path and by an abstract name") {
    for (const std::string& name : {unique(std::filesystem::temp_directory_path().string() + "/"), unique("@")}) {
        CAPTURE(name);
        const Manager manager(name);
        const auto service = make({{"NOTIFY_SOCKET", name}});
        service.ready("chain a, height 3\nMAINPID=1");
        CHECK(manager.next() == "READY=1\nSTATUS=chain a, height 3");  // a second line could be another message
        service.stopping();
        CHECK(manager.next() == "STOPPING=1");
        CHECK_FALSE(manager.next());
    }
}

TEST_CASE("the watchdog is told twice within its timeout and not more often") {
    const Manager manager(unique("@"));
    auto service =
        make({{"NOTIFY_SOCKET", unique("@")}, {"WATCHDOG_USEC", "1000"}, {"WATCHDOG_PID", std::to_string(::getpid())}});
    CHECK(service.watchdog_timeout() == microseconds(1'000));
    const ServiceManager::Clock::time_point start{};
    std::string told;
    for (int now_us = 0; now_us < 1'600; now_us += 100) {
        service.alive(start + microseconds(now_us));
        if (const auto message = manager.next()) {
            CHECK(*message == "WATCHDOG=1");
            told += std::to_string(now_us) + " ";
        }
    }
    CHECK(told == "0 500 1000 1500 ");
}

TEST_CASE("a watchdog of another process, without a timeout or with a wrong one is not told") {
    const Manager manager(unique("@"));
    const std::string self = std::to_string(::getpid());
    for (const auto& [owner, timeout] : std::map<std::string, std::string>{
             {"1", "1000"}, {"x", "1000"}, {self, "0"}, {self + " ", "1000"}, {"", "1000"}}) {
        auto service = make({{"NOTIFY_SOCKET", unique("@")}, {"WATCHDOG_USEC", timeout}, {"WATCHDOG_PID", owner}});
        CHECK_FALSE(service.watchdog_timeout());
        service.alive({});
        CHECK_FALSE(manager.next());
    }
    for (const char* timeout : {"-5", "5s", "18446744073709551616", "9223372036854775808"}) {
        CHECK_FALSE(make({{"NOTIFY_SOCKET", unique("@")}, {"WATCHDOG_USEC", timeout}}).watchdog_timeout());
    }
}

TEST_CASE("without a service manager, or with one that is gone, nothing happens") {
    for (const std::string& name :
         {std::string(), std::string("relative"), std::string("@"), std::string(200, '/'), unique("/nonexistent/"),
          unique("@gone-")}) {
        CAPTURE(name);
        auto service = make({{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "1000"}});
        service.ready("");
        service.alive({});
        service.stopping();
    }
    CHECK_FALSE(make({{"WATCHDOG_USEC", "1000"}}).watchdog_timeout());
}

}  // namespace
}  // namespace assay::system
