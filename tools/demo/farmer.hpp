// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>

/// A coalition that tries to win jackpots from its own tasks.
namespace assay::demo {

/// When the demo's own task is over, submits tasks with a program that only its own solver, verifier and watcher have.
/// These three work honestly, but the solver serves the program to nobody. Honest verifiers that are drawn cannot fetch
/// it, miss their verdicts and lose a tenth of a bond each time. In the end the coalition's verifier is drawn, and its
/// watcher wins the jackpots of the verdicts for which it is drawn.
class Farmer final : public Outsider {
  public:
    Farmer(Network& network, Narrator& narrator);

    void act(const contracts::Task& own) override;
    /// Continues the attack, because it is called when the demo's own task is over. Returns true when the attack is
    /// over.
    bool is_over() override;
    /// {"tasks", "states", "shares", "verdicts", "missed", "unserved", "jackpots", "tax", "forced_error_bps"}; see
    /// docs/operations/demo.md.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    void begin();
    contracts::TaskSpec pack_privately();
    void hire();

    Narrator& narrator_;
    bool has_begun_ = false;
    std::size_t ended_ = 0;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace assay::demo
