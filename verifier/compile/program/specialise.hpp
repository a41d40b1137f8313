// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>

/// What a step's number decides. Programs choose by counting steps: only the last of several accumulated steps changes
/// the parameters, and a step of local replicas is one replica's. A step then needs fewer nodes than the graph has.
namespace assay::program {

/// The truth of each choice that a step's number decides, in the order of the nodes.
using StepKind = std::vector<bool>;

/// A graph for the steps of one kind, with the same next state and the same kept outputs.
struct Specialised {
    canonical::Graph graph;
    std::vector<std::uint32_t> kept;  ///< where the kept nodes are in it, in their order
};

/// The choices of one graph: selections by a condition [1,1] that follows from step counts and constants alone, between
/// two operands of the output's shape.
class StepKinds {
  public:
    /// `graph` must be well-formed.
    explicit StepKinds(const canonical::Graph& graph);

    /// Whether there are any choices.
    bool has_choices() const { return !choices_.empty(); }
    /// The kind of step `step`.
    StepKind kind_of(std::uint64_t step) const;
    /// `graph` without what steps of this kind do not need; well-formed. `graph` must be the constructor's, and the
    /// nodes of `kept` must not be kCommit.
    Specialised graph_of(const canonical::Graph& graph, const StepKind& kind, std::span<const std::uint32_t> kept = {})
        const;

  private:
    canonical::Graph counted_;               // the nodes that conditions need; inputs are places in it
    std::vector<std::uint32_t> conditions_;  // of each choice, in counted_
    std::vector<std::uint32_t> choices_;     // the nodes of the graph, ascending
};

}  // namespace assay::program
