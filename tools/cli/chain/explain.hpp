// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <contracts/state/dispute.hpp>

namespace assay::cli {

/// A dispute told in words: who claimed what, how it was narrowed, the ruling, the money, how to see it again.
/// `answer` is dispute_get's; `title` the task's.
std::string explain_dispute(const contracts::Dispute& dispute, const nlohmann::json& answer, const std::string& title);

}  // namespace assay::cli
