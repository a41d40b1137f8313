// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/home_routers.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include <client/http/http.hpp>
#include <core/system/file.hpp>
#include <tools/demo/demo.hpp>

namespace assay::demo {
namespace {

constexpr const char* kMachine = "192.168.1.2";  // the same in every home
constexpr const char* kRouterInside = "192.168.1.1";
constexpr std::chrono::seconds kPatience{20};
constexpr std::chrono::milliseconds kTry{700};
constexpr std::array kPrograms{"ip", "nft", "nsenter", "unshare"};

/// Masquerades what leaves, and lets nothing in that was not asked for from inside.
constexpr const char* kRules = R"(table ip router {
    chain leaving {
        type nat hook postrouting priority srcnat; policy accept;
        oifname "wan" masquerade
    }
    chain passing {
        type filter hook forward priority filter; policy drop;
        iifname "lan" accept
        ct state established,related accept
    }
    chain entering {
        type filter hook input priority filter; policy drop;
        iifname "lo" accept
        ct state established,related accept
    }
}
)";

bool is_on_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const std::size_t end = rest.find(':');
        if (::access((std::string(rest.substr(0, end)) + "/" + program).c_str(), X_OK) == 0) {
            return true;
        }
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return false;
}

/// Runs a command to its end. Throws std::runtime_error with its log's name if it fails.
void run(const std::vector<std::string>& command, const std::filesystem::path& log) {
    std::vector<std::string> found{"/usr/bin/env"};
    found.insert(found.end(), command.begin(), command.end());
    system::Process process(command.front(), found, log, [](const std::string&) {});
    const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
    while (!process.exit_status()) {
        if (std::chrono::steady_clock::now() > give_up_at) {
            throw std::runtime_error(command.front() + " does not end; see " + log.string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (*process.exit_status() != 0) {
        std::string all;
        for (const std::string& word : command) {
            all += (all.empty() ? "" : " ") + word;
        }
        const auto said = system::read_file(log);
        throw std::runtime_error("`" + all + "` failed: " + said.value_or(""));
    }
}

void write_text(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

std::filesystem::path namespace_of(pid_t pid) { return "/proc/" + std::to_string(pid) + "/ns/net"; }

std::vector<std::string> within(pid_t pid, std::vector<std::string> command) {
    command.insert(command.begin(), {"nsenter", "--net=" + namespace_of(pid).string(), "--"});
    return command;
}

}  // namespace

void HomeRouters::enter() {
    // Where users have no folder of administrators on their path.
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (std::string(path == nullptr ? "/usr/bin:/bin" : path) + ":/usr/sbin:/sbin").c_str(), 1);
    for (const char* program : kPrograms) {
        if (!is_on_path(program)) {
            throw NotHere(
                std::string("the command `") + program +
                "` is missing, which makes home routers: install iproute2, nftables and util-linux"
            );
        }
    }
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    const bool is_root = ::geteuid() == 0;
    if (::unshare(is_root ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        throw NotHere(
            std::string("this machine lets the demo have no network namespaces: ") + std::strerror(errno) +
            "; run it as root, or allow unprivileged user namespaces"
        );
    }
    if (!is_root) {
        write_text("/proc/self/setgroups", "deny");
        write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
        write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    }
    const auto log = std::filesystem::temp_directory_path() / ("assay-demo-network-" + std::to_string(::getpid()));
    try {
        run({"ip", "link", "set", "lo", "up"}, log);
        run({"ip", "address", "add", std::string(kOutside) + "/32", "dev", "lo"}, log);
        run({"nft", "list", "ruleset"}, log);
    } catch (const std::runtime_error& error) {
        std::filesystem::remove(log);
        throw NotHere(std::string("this machine has no network of its own for the demo: ") + error.what());
    }
    std::filesystem::remove(log);
}

HomeRouters::HomeRouters(std::filesystem::path logs) : logs_(std::move(logs)) {
    std::filesystem::create_directories(logs_);
    write_text(logs_ / "router.nft", kRules);
}

/// A process that sleeps in a namespace of its own.
std::unique_ptr<system::Process> HomeRouters::hold(const std::string& name) const {
    auto out = std::make_unique<system::Process>(
        name, std::vector<std::string>{"/usr/bin/env", "unshare", "--net", "sleep", "infinity"},
        logs_ / (name + ".log"), [](const std::string&) {}
    );
    std::error_code error;
    const auto ours = std::filesystem::read_symlink("/proc/self/ns/net", error);
    const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        const auto its = std::filesystem::read_symlink(namespace_of(out->pid()), error);
        if (!error && its != ours) {
            return out;
        }
        if (out->exit_status() || std::chrono::steady_clock::now() > give_up_at) {
            throw std::runtime_error("`unshare --net` failed; see " + out->log().string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void HomeRouters::add(const std::string& name) {
    // Each router has a link of its own to the outside, of four addresses.
    const std::size_t number = homes_.size();
    const std::string subnet = "203.0.113.";
    const std::string outside = subnet + std::to_string(4 * number + 1);
    Home home{
        .public_address = subnet + std::to_string(4 * number + 2),
        .router = hold(name + "-router"),
        .machine = hold(name + "-machine")};
    const auto log = logs_ / (name + "-network.log");
    const pid_t router = home.router->pid();
    const pid_t machine = home.machine->pid();
    const std::string device = "home" + std::to_string(number);
    const auto here = [&log](const std::vector<std::string>& command) { run(command, log); };
    const auto at = [&log](pid_t pid, const std::vector<std::string>& command) { run(within(pid, command), log); };
    here({"ip", "link", "add", device, "type", "veth", "peer", "name", "wan", "netns", std::to_string(router)});
    here({"ip", "address", "add", outside + "/30", "dev", device});
    here({"ip", "link", "set", device, "up"});
    at(router, {"ip", "link", "set", "lo", "up"});
    at(router, {"ip", "address", "add", home.public_address + "/30", "dev", "wan"});
    at(router, {"ip", "link", "set", "wan", "up"});
    at(router, {"ip", "route", "add", "default", "via", outside});
    at(router, {"ip", "link", "add", "lan", "type", "veth", "peer", "name", "eth0", "netns", std::to_string(machine)});
    at(router, {"ip", "address", "add", std::string(kRouterInside) + "/24", "dev", "lan"});
    at(router, {"ip", "link", "set", "lan", "up"});
    at(router, {"sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"});
    at(router, {"nft", "-f", (logs_ / "router.nft").string()});
    at(machine, {"ip", "link", "set", "lo", "up"});
    at(machine, {"ip", "address", "add", std::string(kMachine) + "/24", "dev", "eth0"});
    at(machine, {"ip", "link", "set", "eth0", "up"});
    at(machine, {"ip", "route", "add", "default", "via", kRouterInside});
    homes_.emplace(name, std::move(home));
}

std::vector<std::string> HomeRouters::inside(const std::string& name) const {
    std::vector<std::string> out = within(homes_.at(name).machine->pid(), {});
    out.insert(out.begin(), "/usr/bin/env");
    return out;
}

bool HomeRouters::is_reachable(const std::string& name) const {
    const auto log = logs_ / (name + "-network.log");
    const std::vector<std::string> route{std::string(kMachine) + "/32", "via", public_address(name)};
    const auto change = [&](const char* what) {
        std::vector<std::string> command{"ip", "route", what};
        command.insert(command.end(), route.begin(), route.end());
        run(command, log);
    };
    change("add");
    bool is_answered = true;
    try {
        const http::HttpLimits limits{.timeout = kTry, .connect_timeout = kTry};
        http::http_get(std::string("http://") + kListen + "/", limits);
    } catch (const http::NetError&) {
        is_answered = false;
    }
    change("del");
    return is_answered;
}

}  // namespace assay::demo
