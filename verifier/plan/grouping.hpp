// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <verifier/plan/plan.hpp>

/// Internal to verifier/plan.
namespace assay::plan {

/// How much ranks put off.
struct GroupLimits {
    /// When a rank would send others so much in one exchange, they exchange it.
    std::uint64_t message_bytes = std::uint64_t{2} << 20U;
    /// So much more than nodes in the order of the program leave may a rank have of values, or the peak of that order
    /// over `peak_share` if that is more.
    std::uint64_t waiting_bytes = std::uint64_t{4} << 20U;
    std::uint64_t peak_share = 16;
};

/// Sets the order and the exchanges of a plan whose ranks all follow one order. Ranks put off what they exchange until
/// a node needs it, and meanwhile execute the nodes that do not, in the order of the program; then they exchange all of
/// it. The order and the exchanges follow from the plan alone, so that all ranks have the same ones.
void group_exchanges(Plan& plan, const program::Program& program, const GroupLimits& limits = {});

/// Sets the exchanges of a plan in whose order each item's are made by themselves, at once.
void exchange_at_once(Plan& plan, const canonical::Graph& graph);

}  // namespace assay::plan
