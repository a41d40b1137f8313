// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tools/demo/outsider.hpp>

/// An attacker whose tasks are not meant to be solved and make other tasks wait.
namespace assay::demo {

/// Submits 600 tasks of value 0 at once. The solver is drawn for one of them at a time (TASK-19), declines it and is
/// then not drawn for the others (TASK-15), which are in the queue before the demo's own task.
class Loiterer final : public Outsider {
  public:
    explicit Loiterer(Network& network);

    /// Submits them before the demo's own task.
    void prepare(const Packer& pack) override;
    /// Submits the tasks for which the mempool had no room before.
    void act(const contracts::Task& own) override;
    /// {"submitted", "drawn", "waiting"}: number of tasks; of those for which a solver was drawn; of those that still
    /// wait for one.
    nlohmann::json report() override;
    std::vector<std::string> judge(const nlohmann::json& report) const override;

  private:
    bool was_drawn(const contracts::TaskId& task);
    void buy();

    contracts::TaskSpec spec_;
};

}  // namespace assay::demo
