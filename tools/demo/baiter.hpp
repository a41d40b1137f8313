// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// Somebody who wants solvers to lose their bonds by tasks that nobody can do in time.
namespace assay::demo {

/// On a chain whose blocks last as long as it states, TASK-16 leaves no deadline that the demo's machine cannot meet. Here they
/// last a part of that.
inline constexpr std::uint32_t kBaitsHaste = 20;

/// Submits tasks with as many steps as fit the shortest deadline that the chain admits (TASK-16), which no machine can do
/// within it. Half of them pay nothing; half of them promise a reward, which is refunded.
class Baiter final : public Outsider {
  public:
    explicit Baiter(Network& network);

    /// Submits them all, so that they are drawn before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Takes them back once the demo's own task is trained.
    void act(const contracts::Task& own) override;
    /// As tally() has it.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    bool has_cancelled_ = false;
};

}  // namespace assay::demo
