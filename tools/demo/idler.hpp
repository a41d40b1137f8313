// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker that tries to use up the connection slots of servers.
namespace assay::demo {

/// Holds 2,000 connections to the node's RPC and as many to the solver's artifact server, from 16 addresses of this
/// machine. Sends nothing, and reopens what a server closes. Meanwhile an honest client asks the node for its status.
class Idler final : public Outsider {
  public:
    explicit Idler(Network& network);
    ~Idler() override;

    /// Starts once the first checkpoint shows the address of the solver's artifact server.
    void act(const contracts::Task& own) override;
    /// Ends the attack; called when the demo's own task is over.
    bool is_over() override;
    /// {"connections", "held", "opened", "requests", "failed", "slowest_ms"}: wanted number of connections at one time;
    /// highest number held; total opened; status requests; how many of those failed; the slowest answer.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    struct Answers {
        std::uint64_t requests = 0;
        std::uint64_t failed = 0;
        std::chrono::milliseconds slowest{};
    };
    void hold(const std::vector<std::uint16_t>& ports);
    void ask(const std::string& url);
    void stop();

    std::atomic<bool> stopping_{false};
    std::atomic<std::uint64_t> opened_{0};
    std::atomic<std::uint64_t> held_{0};
    std::mutex mutex_;
    Answers answers_;
    std::vector<std::thread> threads_;
};

}  // namespace assay::demo
