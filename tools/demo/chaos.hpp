// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>
#include <tools/demo/store_server.hpp>

namespace assay::demo {

/// The faults of `assay demo --chaos`: a solver and verifiers that are killed every few steps, also in the middle of a
/// segment, a store that goes away and comes back, and disks that are lost. Nobody cheats.
class Chaos {
  public:
    /// `store` can go.
    Chaos(Network& network, Narrator& narrator, StoreServer& store);

    /// Spans in which workers that were killed have to act.
    static void lengthen(contracts::Params& params);
    static constexpr std::uint32_t kLonger = 4;
    static constexpr std::uint64_t kSteps = 400;  ///< of the task, unless the user says otherwise

    void hear(const WorkerEvent& heard);
    /// Does what is due. Called about once a block.
    void act(const contracts::Task& task);

    nlohmann::json report() const;
    /// What is not as it should be, in words.
    static std::vector<std::string> judge(const nlohmann::json& report);

  private:
    using Clock = std::chrono::steady_clock;
    void kill(const std::string& name, const std::string& when);
    void lose(const std::string& name, const std::string& when);
    void bother_solver(const contracts::Task& task);
    void bother_verifiers(const contracts::Task& task);
    void move_store(const contracts::Task& task);

    Network& network_;
    Narrator& narrator_;
    StoreServer& store_;
    double done_ = 0;            ///< the part of the training that the solver has reported last
    std::size_t next_kill_ = 0;  ///< of the solver
    bool has_lost_solver_ = false;
    bool is_store_away_ = false;
    std::uint32_t away_from_ = 0;  ///< checkpoints on the chain when the store went
    Clock::time_point store_back_at_{};
    std::uint32_t outages_ = 0;
    std::map<std::string, std::uint32_t> kills_;
    std::map<std::string, Clock::time_point> spared_until_;
    std::set<std::string> committed_;  ///< verifiers that were heard to commit
    std::set<std::string> replaying_;  ///< and those in the middle of a replay
    std::optional<std::string> lost_verifier_;
    nlohmann::json recovered_ = nlohmann::json::array();
    std::uint32_t reopened_ = 0;
    std::vector<std::uint32_t> copies_;  ///< of each checkpoint, as the solver posted it
};

}  // namespace assay::demo
