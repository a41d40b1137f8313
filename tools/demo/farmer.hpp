// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tools/demo/narrator.hpp>
#include <tools/demo/outsider.hpp>

/// A coalition that farms jackpots.
namespace assay::demo {

/// Once the demo's own task is over it submits tasks with a program that only its own solver, verifier and watcher have. The
/// three do their work honestly, but the solver serves the program to nobody. Honest verifiers that are drawn cannot fetch the program, miss their verdicts and lose a
/// tenth of a bond for each; the coalition's verifier is drawn in the end, and its watcher wins the jackpots of the
/// verdicts that it is drawn for.
class Farmer final : public Outsider {
  public:
    Farmer(Network& network, Narrator& narrator);

    void act(const contracts::Task& own) override;
    /// Goes on with the farm: it is asked when the demo's own task is over.
    bool is_over() override;
    /// {"tasks", "states", "shares", "verdicts", "missed", "unserved", "jackpots", "tax", "forced_error_bps"}, as
    /// docs/operations/demo.md has it.
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
