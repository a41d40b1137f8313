// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <tools/demo/narrator.hpp>
#include <tools/demo/network.hpp>

namespace assay::demo {

/// Formats an amount as "12.5 ASY".
std::string format_amount(Amount amount);

/// Returns all records of a task's history.
std::vector<contracts::HistoryRecord> history_of(Network& network, const contracts::TaskId& task);

/// Follows a task's history on the chain and reports each transition once.
class Story {
  public:
    Story(std::string label, contracts::TaskId task, Network& network, Narrator& narrator);
    /// Reports what is new. Returns the task's state.
    contracts::TaskState follow();
    const std::string& label() const { return label_; }
    const contracts::TaskId& task() const { return task_; }
    const std::vector<contracts::HistoryRecord>& records() const { return records_; }
    const nlohmann::json& records_json() const { return records_json_; }

  private:
    void tell(const contracts::HistoryRecord& record);

    std::string label_;
    contracts::TaskId task_;
    Network& network_;
    Narrator& narrator_;
    std::vector<contracts::HistoryRecord> records_;
    nlohmann::json records_json_ = nlohmann::json::array();
    std::string cursor_;
    std::uint32_t segments_ = 0;
};

}  // namespace assay::demo
