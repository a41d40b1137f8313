// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <verifier/plan/plan.hpp>

namespace assay::fuzz {

/// What is wrong with the exchanges of a plan: a rank would read a value that is not there yet, or send one; something
/// is not exchanged, or twice; or ranks that follow one order would wait for each other's other exchanges. Empty if
/// nothing is. Of a plan with micro-batches only whether all is exchanged once.
std::string exchange_fault(const plan::Plan& plan, const canonical::Graph& graph);

}  // namespace assay::fuzz
