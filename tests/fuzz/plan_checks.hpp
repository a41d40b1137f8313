// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::fuzz {

/// One of a few small programs: a perceptron, a convolution, blocks of a transformer, replicas.
const program::Program& plan_program(std::size_t index);

/// Makes the plan and aborts unless it is whole: each element that a rank reads and does not have comes once, from a
/// rank that has it; parts of a reduction are all of its positions, each once; what ranks put together is all of it.
void check_plan(const program::Program& program, const plan::Layout& layout);

}  // namespace assay::fuzz
