// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// Somebody whose tasks wait for nothing, and make others wait.
namespace assay::demo {

/// Submits 600 tasks of value 0 at once. The solver is asked for one of them at a time (TASK-19), declines it and is not drawn
/// for the others (TASK-15), which wait in front of the demo's own task.
class Loiterer final : public Outsider {
  public:
    explicit Loiterer(Network& network);

    /// Submits them before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Submits what the mempool had no room for.
    void act(const contracts::Task& own) override;
    /// {"submitted", "drawn", "waiting"}: how many tasks; for how many a solver was drawn; how many still wait for one.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    bool was_drawn(const contracts::TaskId& task);
    void buy();

    contracts::TaskSpec spec_;
};

}  // namespace assay::demo
