// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <contracts/state/dispute.hpp>

namespace assay::cli {

/// Returns a description of a dispute in words: who claimed what, how it was bisected, the ruling, the money, and
/// how to reproduce it. `answer` is the result of dispute_get, `title` the task's title.
std::string explain_dispute(const contracts::Dispute& dispute, const nlohmann::json& answer, const std::string& title);

}  // namespace assay::cli
