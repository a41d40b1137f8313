// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/compile/program/program.hpp>

/// Where the outer step of a program of local replicas is (docs/protocol/programs.md#local-replicas).
namespace assay::adversary {

/// The nodes of the step graph that make the outer momentum of a parameter, of each; without a momentum, those that
/// make what a parameter moves by. None if the program has no outer step.
std::vector<std::uint32_t> outer_steps(const program::Program& program);

/// The nodes that add the second replica's change of a parameter to the first one's, of each.
std::vector<std::uint32_t> first_sums(const program::Program& program);

}  // namespace assay::adversary
