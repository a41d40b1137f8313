// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

/// The slashing events in a task's history: who lost how much, why, on what evidence, and how to reproduce it.
namespace assay::client {

struct Penalty {
    std::uint32_t index = 0;  ///< of the record in the task's history
    Height height;
    Hash256 tx;  ///< zero: caused by a deadline, not by a transaction
    contracts::Reason reason = contracts::Reason::kLostDispute;
    AccountId from;
    Amount amount;
    Amount burned;
    struct Winner {
        AccountId account;
        Amount amount;
    };
    std::vector<Winner> winners;  ///< the accounts that got the rest, the first accuser first (SET-10)
    Amount paid;                  ///< to all winners together
    std::optional<contracts::DisputeId> dispute;
    bool is_over_verdict = false;          ///< the dispute was about a verifier's verdict, not about the solver's claim
    std::optional<std::uint32_t> segment;  ///< of the dispute or of the verdict
    std::vector<std::uint32_t> unserved{};  ///< the segments that the last committee was drawn for
};

/// Returns all penalties in a task's whole history, in order.
std::vector<Penalty> find_penalties(std::span<const contracts::HistoryRecord> history);

/// Returns one sentence: what the penalised account did, and the rule that punishes it.
std::string meaning(const Penalty& penalty);
/// Returns commands that show the evidence or reproduce the finding, the most direct first.
std::vector<std::string> reproductions(const contracts::TaskId& task, const Penalty& penalty);

nlohmann::json to_json(const contracts::TaskId& task, const Penalty& penalty);
std::string explain_penalty(const contracts::TaskId& task, const Penalty& penalty);

}  // namespace assay::client
