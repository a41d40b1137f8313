// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <contracts/transaction/transaction.hpp>

/// Formats tasks from the RPC as text for people.
namespace assay::cli {

std::string task_text(const nlohmann::json& task);
std::string task_list_text(const nlohmann::json& tasks);
std::string history_text(const nlohmann::json& records);

std::string lineage_text(const nlohmann::json& lineage);
nlohmann::json to_json(const contracts::TaskSpec& spec);
std::string spec_text(const contracts::TaskSpec& spec);

}  // namespace assay::cli
