// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <optional>
#include <utility>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/compile/program/specialise.hpp>

/// How machines train local replicas (program::LocalReplicas) at the same time. It is found in the program itself: a
/// program of which this says nothing is trained one step after the other.
namespace assay::plan {

/// A graph over some of a program's state tensors, which are numbered from 0 in it.
struct PartialGraph {
    canonical::Graph graph;
    std::vector<std::uint32_t> tensors;  ///< which tensor of the state each of them is
    std::uint32_t loss_node = 0;         ///< the step's, in turn_graph()
};

/// The steps of a round: replica r's turn is the r-th part of it. A turn reads and changes the replica's own tensors
/// and the worked ones, which begin it with the values of common tensors or of the replica's own; common tensors change
/// after the last turn.
struct Turns {
    std::uint32_t replicas = 0;
    std::uint32_t steps = 0;                      ///< of a turn
    std::vector<std::vector<std::uint32_t>> own;  ///< for each replica, tensors that only its turn changes
    /// For each replica, the worked tensors, and the tensor with whose value each begins its turn.
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> worked;
    std::vector<std::uint32_t> common;  ///< the others that change
    std::uint32_t cycle = 1;            ///< rounds after which their ends are of the same kind again
    /// For each round of a cycle and each replica, those of its own that the round's end reads.
    std::vector<std::vector<std::vector<std::uint32_t>>> sent;

    /// The place in a cycle of a step's round.
    std::uint32_t place_of(std::uint64_t step) const {
        return static_cast<std::uint32_t>(step / round_steps() % cycle);
    }
    std::uint64_t round_steps() const { return std::uint64_t{replicas} * steps; }
    std::uint32_t replica_of(std::uint64_t step) const { return static_cast<std::uint32_t>(step / steps % replicas); }
    bool begins_turn(std::uint64_t step) const { return step % steps == 0; }
    bool ends_turn(std::uint64_t step) const { return step % steps == steps - 1; }
};

/// Returns the turns of a program; nothing if it has none, or its turns depend on each other. `program` must pass
/// check_program.
std::optional<Turns> find_turns(const program::Program& program);

/// The step of one replica's turn, without what only the round's end needs: its next state has the replica's own
/// tensors, and before the turn's last step the worked ones. Steps of one kind have the same graph: a turn's last step
/// depends on the round's place in a cycle, the others do not.
PartialGraph turn_graph(
    const program::Program& program, const Turns& turns, std::uint32_t replica, std::optional<std::uint32_t> last_of
);
/// What the end of a round makes of the common tensors and of what all replicas have sent: the next common tensors, in
/// round `place` of a cycle. It reads no batch.
PartialGraph end_graph(const program::Program& program, const Turns& turns, std::uint32_t place);

}  // namespace assay::plan
