// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/nat_cast.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <tools/demo/own_command.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr std::array kAtHome{"solver-1", "verifier-1", "verifier-2"};
constexpr std::chrono::minutes kPlainPatience{5};
constexpr std::chrono::seconds kRelayPatience{60};
constexpr std::string_view kRelayReady = "assay-worker ready: relay ";

bool is_at_home(const std::string& worker) {
    return std::find(kAtHome.begin(), kAtHome.end(), worker) != kAtHome.end();
}

/// Where the checkpoints of a task are said to be.
json locations_of_checkpoints(Network& network, const contracts::TaskId& task, std::uint32_t checkpoints) {
    json out = json::array();
    for (std::uint32_t i = 0; i < checkpoints; ++i) {
        const auto checkpoint = network.rpc().checkpoint(task, i);
        out.push_back(checkpoint ? checkpoint->location : "");
    }
    return out;
}

}  // namespace

NatCast::NatCast(
    const DemoOptions& options, std::filesystem::path bin, const std::filesystem::path& home, Network& network,
    Narrator& narrator
)
    : bin_(std::move(bin)),
      home_(home / "routers"),
      network_(network),
      narrator_(narrator),
      routers_(home_),
      plain_(options, home / "plain") {
    network_.listen_at(HomeRouters::kOutside);
    for (const char* name : kAtHome) {
        routers_.add(name);
        network_.run_by(name, routers_.inside(name));
        narrator_.plain(
            std::string("  ") + name + " is at home behind " + routers_.public_address(name) + ", which lets nobody in"
        );
    }
    start_relay(std::string(HomeRouters::kOutside) + ":0");
    narrator_.plain("  a relay is at " + relay_name_);
}

NatCast::~NatCast() { relay_.reset(); }

void NatCast::start_relay(const std::string& listen) {
    {
        const std::scoped_lock lock(mutex_);
        relay_name_.clear();
    }
    relay_ = std::make_unique<system::Process>(
        "relay",
        std::vector<std::string>{(bin_ / "assay-worker").string(), "relay", "--listen", listen, "--progress", "json"},
        home_ / "relay.log", [this](const std::string& line) { on_relay_line(line); }
    );
    const auto give_up_at = std::chrono::steady_clock::now() + kRelayPatience;
    for (;;) {
        {
            const std::scoped_lock lock(mutex_);
            if (!relay_name_.empty()) {
                return;
            }
        }
        if (relay_->exit_status() || std::chrono::steady_clock::now() > give_up_at) {
            throw std::runtime_error("the relay did not become ready; see " + relay_->log().string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void NatCast::on_relay_line(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    if (line.starts_with(kRelayReady)) {
        relay_name_ = line.substr(kRelayReady.size());
        return;
    }
    auto event = json::parse(line, nullptr, false);
    if (event.is_object() && event.value("event", "") == "stopping") {
        relay_ended_ = std::move(event);
    }
}

json NatCast::stop_relay() {
    const int status = relay_->stop();
    relay_.reset();  // and with it the thread that reads what it printed
    const std::scoped_lock lock(mutex_);
    json out = relay_ended_;
    out["status"] = status;
    return out;
}

std::vector<std::string> NatCast::arguments_of(const std::string& worker) {
    return is_at_home(worker) ? std::vector<std::string>{"--listen", HomeRouters::kListen, "--relay", relay_name_}
                              : std::vector<std::string>{};
}

void NatCast::hear(const WorkerEvent& heard) {
    if (heard.event.value("event", "") == "relay" && heard.event.value("registered", false)) {
        ++registered_[heard.worker];
    }
}

void NatCast::act(const contracts::Task& task) {
    // Who has not registered yet would do so once only.
    const bool are_all_there =
        std::all_of(kAtHome.begin(), kAtHome.end(), [this](const char* name) { return registered_[name] > 0; });
    if (was_killed_ || task.checkpoints == 0 || !are_all_there) {
        return;
    }
    was_killed_ = true;
    const std::string name = relay_name_;
    relay_->kill();
    narrator_.plain("  the relay is killed, and starts again");
    start_relay(name);
}

/// Until all have come back to the relay, which may take longer than the rest of the task.
void NatCast::await_registrations() {
    const auto give_up_at = std::chrono::steady_clock::now() + kRelayPatience;
    const auto is_back = [this](const char* name) { return registered_[name] >= 2; };
    while (!std::all_of(kAtHome.begin(), kAtHome.end(), is_back) && std::chrono::steady_clock::now() < give_up_at) {
        for (const WorkerEvent& heard : network_.take_events()) {
            hear(heard);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// The submitter, who is outside, reads the result and checks it against the chain.
json NatCast::fetch_result(const contracts::TaskId& task) const {
    const auto out = home_ / "result.safetensors";
    const CommandResult result =
        run_own(home_ / "submitter", network_.rpc_url(), {"task", "fetch", to_hex(task.view()), "--out", out.string()});
    return {
        {"status", result.status},
        {"answer", result.answer},
        {"bytes", std::filesystem::exists(out) ? std::filesystem::file_size(out) : 0}};
}

void NatCast::complete(json& report, const Act& act) {
    const contracts::TaskId task = act.story->task();
    const auto checkpoints = static_cast<std::uint32_t>(report.at("tasks").front().at("checkpoints").size());
    await_registrations();
    json homes = json::object();
    for (const char* name : kAtHome) {
        homes[name] = {
            {"router", routers_.public_address(name)},
            {"is_reachable", routers_.is_reachable(name)},
            {"registered", registered_[name]}};
    }
    report["nat"] = {
        {"homes", homes},
        {"locations", locations_of_checkpoints(network_, task, checkpoints)},
        {"relay_killed", was_killed_},
        {"fetched", fetch_result(task)},
        {"relay", stop_relay()}};
    report["honest_lost"] = losses_of(act);
    const json& relay = report.at("nat").at("relay");
    narrator_.plain(
        "  the relay has forwarded " + std::to_string(relay.value("bytes", std::uint64_t{0})) + " bytes in " +
        std::to_string(relay.value("tunnels", std::uint64_t{0})) + " connections since it started again"
    );
    narrator_.plain("  waiting for the plain demo of the same seed");
    report["plain_root"] = plain_.root(kPlainPatience);
}

std::vector<std::string> NatCast::judge(const json& report) const {
    std::vector<std::string> out;
    const auto expect = [&out](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    const json& nat = report.at("nat");
    expect(report.at("root") == report.at("plain_root"), "the root is not that of the plain demo of the same seed");
    expect(report.at("honest_lost") == 0, "somebody lost a stake, although nobody cheats");
    for (const auto& [name, home] : nat.at("homes").items()) {
        expect(home.at("is_reachable") == false, name + " was reached from outside, past its router");
        expect(home.at("registered") >= 2, name + " did not register again at the relay that had been killed");
    }
    for (const json& location : nat.at("locations")) {
        expect(
            location.get<std::string>().starts_with("relay://"), "a checkpoint was posted that names no relay first"
        );
    }
    expect(nat.at("relay_killed") == true, "the relay was never killed");
    expect(nat.at("fetched").at("status") == 0, "the submitter could not fetch the result through the relay");
    expect(
        nat.at("fetched").at("answer").value("state_root", "") == report.at("root"),
        "what the submitter fetched has another root"
    );
    const json& relay = nat.at("relay");
    expect(relay.at("status") == 0, "the relay did not stop in order");
    expect(relay.value("tunnels", 0) > 0, "nothing went through the relay that had started again");
    return out;
}

}  // namespace assay::demo
