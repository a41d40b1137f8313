// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/system/process.hpp>
#include <tools/demo/demo.hpp>
#include <tools/demo/home_routers.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/plain_run.hpp>
#include <tools/demo/surroundings.hpp>

namespace assay::demo {

/// What a demo with --nat has besides: home routers with the solver and the verifiers behind them, a relay outside,
/// which is killed once, and a plain demo to compare with. Node, submitter and whistleblower are outside.
class NatCast final : public Surroundings {
  public:
    /// Builds the homes and starts the relay and the plain demo. HomeRouters::enter() was called.
    NatCast(
        const DemoOptions& options, std::filesystem::path bin, const std::filesystem::path& home, Network& network,
        Narrator& narrator
    );
    ~NatCast() override;
    NatCast(const NatCast&) = delete;
    NatCast& operator=(const NatCast&) = delete;

    std::string submitter_address() const override { return HomeRouters::kOutside; }
    std::vector<std::string> arguments_of(const std::string& worker) override;
    void hear(const WorkerEvent& heard) override;
    void act(const contracts::Task& task) override;
    /// The submitter, who is outside, fetches the result.
    void complete(nlohmann::json& report, const Act& act) override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void start_relay(const std::string& listen);
    void on_relay_line(const std::string& line);
    nlohmann::json stop_relay();
    void await_registrations();
    nlohmann::json fetch_result(const contracts::TaskId& task) const;

    const std::filesystem::path bin_;
    const std::filesystem::path home_;
    Network& network_;
    Narrator& narrator_;
    HomeRouters routers_;
    std::mutex mutex_;
    std::string relay_name_;      ///< HOST:PORT; guarded by mutex_, as is the next
    nlohmann::json relay_ended_;  ///< what a relay said at its end
    std::unique_ptr<system::Process> relay_;
    PlainRun plain_;
    std::map<std::string, std::uint32_t> registered_;  ///< how often, by worker
    bool was_killed_ = false;
};

}  // namespace assay::demo
