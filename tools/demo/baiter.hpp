// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker that makes solvers lose their bonds with tasks that nobody can complete in time.
namespace assay::demo {

/// Blocks in this demo are this many times shorter than the chain's stated block_ms. With blocks of the stated length,
/// TASK-16 would allow no deadline that the demo's machine cannot meet.
inline constexpr std::uint32_t kBaitsHaste = 20;

/// Submits tasks with as many steps as the shortest deadline that the chain admits allows (TASK-16); no machine can do
/// them in that time. Half of them pay nothing; the other half promise a reward, which is refunded.
class Baiter final : public Outsider {
  public:
    explicit Baiter(Network& network);

    /// Submits all of them, so that they are drawn before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Cancels them once the demo's own task is trained.
    void act(const contracts::Task& own) override;
    /// Returns tally().
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    bool has_cancelled_ = false;
};

}  // namespace assay::demo
