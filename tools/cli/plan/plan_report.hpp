// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <tools/cli/plan/members_file.hpp>
#include <verifier/schedule/choose.hpp>

namespace assay::cli {

/// What `assay plan` answers.
struct PlanReport {
    std::string title;  ///< of the task
    const Members& members;
    const schedule::StepProfile& profile;
    const schedule::Choice& choice;  ///< with at least one plan
    const schedule::ChoiceOptions& options;
};

/// Returns {"title", "members", "bytes", "turn_steps", "sent_bits", "fragments", "exchange_bytes", "micro_batches",
/// "plans": [...]}.
nlohmann::json to_json(const PlanReport& report);
std::string plan_report_text(const PlanReport& report);
/// Draws the plan `prediction`: stages from left to right, replicas below each other, links in colours from green to
/// red by what they take, and what the step waits for in black.
std::string plan_svg(const PlanReport& report, const schedule::Prediction& prediction);

/// Says what would be needed, for machines that no plan fits.
std::string shortage_text(const schedule::Shortage& shortage, std::size_t members);

}  // namespace assay::cli
