// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/schedule/choose.hpp>
#include <verifier/schedule/network.hpp>

namespace assay::schedule {

/// How long a step takes when ranks follow a plan, one step after the other: each computes its part of each node and
/// waits for the messages that it needs, which leave a machine one after the other and arrive at one so too. What the
/// session says around a step is in it. `machines` and `network` are those of the ranks.
double step_seconds(
    const program::Program& program, const plan::Plan& plan, const std::vector<Machine>& machines,
    const Network& network
);

/// More ranks than these are left to the formulas: their messages are many.
inline constexpr std::uint32_t kTimedRanks = 16;

/// Times the plans of a choice, and marks the fastest by that. Local replicas, and plans for more than kTimedRanks,
/// keep what the formulas say. Plans whose stages or columns are divided by speed are timed with alike ones too, and
/// the faster stays, since nodes and heads may follow no speed: unless these shares were asked for. `machines`,
/// `network` and the others are those that the choice was made for.
void time_plans(
    Choice& choice, const program::Program& program, const StepProfile& profile, const std::vector<Machine>& machines,
    const Network& network, const ChoiceOptions& options
);

}  // namespace assay::schedule
