// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <verifier/schedule/network.hpp>

namespace assay::schedule {

/// How the delays of messages from one machine to several others count.
enum class Delays : std::uint8_t {
    kAdd = 0,      ///< one message after the other, as in arXiv 2206.01288
    kLargest = 1,  ///< messages leave together
};

/// What crosses the network in a step of data x pipeline parallelism. Machines that have the same stage *exchange*
/// gradients; a machine and the one of its replica in the next stage *hand over* activations and their gradients.
struct Crossing {
    double exchange_rounds = 2.0;
    /// Of one machine with all others, as if it sent everything: it sends each of N - 1 others an N-th.
    double exchange_bytes = 0.0;
    double handover_rounds = 2.0;
    double handover_bytes = 0.0;  ///< between the machines of one replica, in both directions together
    Delays delays = Delays::kAdd;
};

/// What a machine sends another one of its stage, which `width` machines have, in seconds.
double exchange_seconds(const Crossing& crossing, const Link& link, std::uint32_t width);
/// What the machines of one replica take to hand over from one stage to the next, and back.
double handover_seconds(const Crossing& crossing, const Link& link);

/// How many machines take part, and as what.
struct Grid {
    std::uint32_t stages = 1;
    std::uint32_t width = 1;  ///< machines of each stage: replicas
    std::uint32_t size() const { return stages * width; }
};

/// Which machine does what: machine[stage * width + replica]. Machines that are not in it stay idle.
struct Arrangement {
    Grid grid;
    std::vector<std::uint32_t> machines{};
    std::uint32_t at(std::uint32_t stage, std::uint32_t replica) const {
        return machines[stage * grid.width + replica];
    }
};

/// The predicted communication of a step, in seconds, and where it takes longest.
struct CommunicationCost {
    double exchange_s = 0.0;  ///< of the slowest machine with the others of its stage
    double handover_s = 0.0;  ///< along the pipeline
    double total() const { return exchange_s + handover_s; }
};

/// Returns what the arrangement costs as it is: stages in their order, replica r of a stage next to replica r of the
/// next one.
CommunicationCost cost_of(const Network& network, const Crossing& crossing, const Arrangement& arrangement);

/// Puts the stages into the order, and each stage's machines to the replicas, that cost the least: a shortest open path
/// through the stages whose lengths are bottleneck matchings between their machines. Which machines are together in a
/// stage stays as it is. Costs nothing more than before.
Arrangement put_in_order(const Network& network, const Crossing& crossing, const Arrangement& arrangement);

struct SearchOptions {
    std::uint64_t seed = 1;
    std::uint32_t starts = 4;      ///< random arrangements from which the search begins
    bool keeps_order = false;      ///< the first start is the machines as they are, so that like ones stay in order
    std::uint32_t tries = 10'000;  ///< swaps of two machines that are tried from each
    /// What each machine needs for its part of the computation; the slowest of those that take part is added to the
    /// cost. Empty: 0.
    std::vector<double> compute_s{};
};
/// Looks for the arrangement of the grid that costs the least, by simulated annealing over swaps of two machines. The
/// network has at least as many machines as the grid, which has at least one and at most 64 replicas. The same options
/// give the same arrangement.
Arrangement search(const Network& network, const Crossing& crossing, const Grid& grid, const SearchOptions& options);

/// The machines in random order, by `seed`: something to compare with.
Arrangement random_arrangement(std::uint32_t machines, const Grid& grid, std::uint64_t seed);

}  // namespace assay::schedule
