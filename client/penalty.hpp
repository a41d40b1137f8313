// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/task.hpp>

/// Every loss of stake in a task's history: who, how much, why, on what evidence, and how to see it again.
namespace assay::client {

struct Penalty {
    std::uint32_t index = 0;  ///< of the record in the task's history
    Height height;
    Hash256 tx;               ///< zero: a deadline did it
    contracts::Reason reason = contracts::Reason::kLostDispute;
    AccountId from;
    Amount amount;
    Amount burned;
    struct Winner {
        AccountId account;
        Amount amount;
    };
    std::vector<Winner> winners;  ///< who got the rest, the first accuser first (SET-10)
    Amount paid;                  ///< to all of them
    std::optional<contracts::DisputeId> dispute;
    bool is_over_verdict = false;  ///< the dispute was over a verifier's verdict, not over the solver's claim
    std::optional<std::uint32_t> segment;   ///< of the dispute, or the verdict
    std::vector<std::uint32_t> unserved{};  ///< the segments that the last committee was drawn for
};

/// Those in a task's whole history, in its order.
std::vector<Penalty> find_penalties(std::span<const contracts::HistoryRecord> history);

/// One sentence: what the loser did, and the rule that makes it a loss.
std::string meaning(const Penalty& penalty);
/// Commands that show the evidence or reproduce the finding, the most direct first.
std::vector<std::string> reproductions(const contracts::TaskId& task, const Penalty& penalty);

nlohmann::json to_json(const contracts::TaskId& task, const Penalty& penalty);
std::string explain_penalty(const contracts::TaskId& task, const Penalty& penalty);

}  // namespace assay::client
