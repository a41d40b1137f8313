// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <verifier/compile/program/program.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/plan/placement.hpp>

namespace assay::plan {

/// How one node is executed.
struct NodePlan {
    /// The ranks divide the depth of a reduction: each computes a part, and parts are put together afterwards.
    bool is_divided = false;
    Placement work;  ///< the elements that each rank computes, or has parts of
    std::vector<IndexSet>
        depth;  ///< is_divided only: the positions that each rank reduces; disjoint among equal blocks
    /// The elements that each rank hands out to those that have them in `held`: what it puts together, if is_divided,
    /// or reads of the data set, which rank 0 does for all, or computes where others read it several times. Empty if
    /// nothing is handed out: who reads some of it once is sent it then.
    Placement finished;
    std::vector<Placement> needs;  ///< for each input, what each rank reads of it
    Placement held;                ///< what each rank has of the output afterwards
    /// What each rank computes for each micro-batch, which together are `work` (of kBatchRows `held`); empty if the
    /// node is computed at once, as soon as all micro-batches of its inputs are there.
    std::vector<Placement> pieces;
};

/// What is executed at once: a node, or what a micro-batch needs of it.
struct Item {
    static constexpr std::uint32_t kWhole = 0xffffffffU;
    std::uint32_t node = 0;
    std::uint32_t piece = kWhole;
    bool operator==(const Item&) const = default;
};

/// What ranks send each other of an item.
enum class Sent : std::uint8_t {
    kInputs,  ///< what a rank lacks of its inputs, before it is computed
    kParts,   ///< what ranks have of a divided reduction, before it is put together
    kOutput,  ///< what a rank lacks of its output
};
struct Sending {
    Item item;
    Sent what = Sent::kInputs;
    bool operator==(const Sending&) const = default;
};
/// Messages that ranks send each other at once, before they wait for those of others.
struct Exchange {
    std::size_t after = 0;  ///< how many items of the rank's order have been computed before
    /// Each list is one message from each rank to each other one that any of it is for, in the order of its bytes. What
    /// a rank tells several others alike is in other messages than what it tells one alone, so that it is hashed and
    /// signed once.
    std::vector<std::vector<Sending>> messages{};
    bool operator==(const Exchange&) const = default;
};

/// How a step is executed by several ranks. Its result, the next state, has the bits that one machine computes,
/// whatever the layout.
struct Plan {
    Layout layout;
    std::vector<Placement> state;  ///< what each rank has of each state tensor, before and after a step
    std::vector<NodePlan> nodes;   ///< of the step graph; of kCommit only `needs`, which are `state`
    /// For each rank the order in which it takes part in items, kCommit excepted; the same for all ranks without
    /// micro-batches. Ranks that follow it never wait for each other in a circle if what they send is on its way while
    /// they go on.
    std::vector<std::vector<Item>> order;
    /// For each rank the exchanges that it takes part in, one after the other; those for the inputs of kCommit
    /// excepted, which end a step. The same for all ranks without micro-batches. What is exchanged of an item is
    /// complete then: a divided reduction is put together, and who has the output can compute with it.
    std::vector<std::vector<Exchange>> exchanges;
};

/// Divides the program's step. What cannot be divided is gathered and computed by every rank: slow, never wrong.
Plan make_plan(const program::Program& program, const Layout& layout);

/// What each rank computes for an item, and what it reads of each input for that.
struct Share {
    Placement work;
    std::vector<Placement> needs;
};
/// The items that a node consists of.
std::vector<Item> items_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t node);
Share share_of(const Plan& plan, const canonical::Graph& graph, const Item& item);

/// What is sent of an item's output as soon as it is there.
std::vector<Transfer> output_transfers(const Plan& plan, const canonical::Graph& graph, const Item& item);
/// What is sent for the inputs of an item; one list for each input.
std::vector<std::vector<Transfer>> input_transfers(const Plan& plan, const canonical::Graph& graph, const Item& item);

/// A stage's time is divided into slots, in each of which it takes a micro-batch forward or back or waits; a slot of
/// one stage is as long as any other's.
struct Slots {
    std::uint64_t all = 0;   ///< of all stages, until the last backward pass
    std::uint64_t idle = 0;  ///< GPipe's formula (arXiv 1811.06965) says (p-1)/(m+p-1) of them
};
/// Counts them by the plan's order.
Slots slots_of(const Plan& plan, const program::Program& program);

/// What `rank` computes of a step, in multiply-adds (WRK-1).
std::uint64_t work_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t rank);
/// The same of each stage of a layout, found without a plan. What each rank computes by itself, such as masks, counts
/// where it is read first.
std::vector<std::uint64_t> work_of_stages(const program::Program& program, const Layout& layout);

/// Bytes of the state that `rank` has.
std::uint64_t state_bytes(const Plan& plan, const program::Program& program, std::uint32_t rank);
/// The same by the formulas of ZeRO, which know parts of the batch alone: parameters and the optimizer's slots, each
/// divided by the number of parts if the layout divides it.
std::uint64_t zero_state_bytes(const program::Program& program, const Layout& layout);
/// Whether the loss is computed from a node, of each node of the step.
std::vector<bool> forward_nodes(const program::Program& program);
/// The tensors of the state that the loss is computed from.
std::vector<bool> parameters_of(const program::Program& program);

/// How many bytes of an accumulator cross from rank to rank: enough for the sum of the whole depth (NUM-16, NUM-19) if
/// its operands are quantised, else 8.
std::uint32_t accumulator_bytes(const canonical::Graph& graph, std::uint32_t node);

/// The chunks of a product of which a rank with `depth` has sums, ascending; of another reduction 0 alone, if any.
std::vector<std::uint32_t> chunks_of_part(const canonical::Node& node, const IndexSet& depth);

/// About the most bytes of values, state included, that a rank has at once in a step.
std::uint64_t step_bytes(const Plan& plan, const program::Program& program, std::uint32_t rank);

/// What one rank sends in a step.
struct Traffic {
    std::uint64_t sums = 0;    ///< accumulators of divided reductions
    std::uint64_t maxima = 0;  ///< the same of maxima
    std::uint64_t values = 0;  ///< outputs and state
    std::uint64_t bytes() const { return sums + maxima + values; }
};
/// With `is_stated`, where ranks answer for what they send: each run of positions of a reduction is a sum of its own.
Traffic traffic_of(const Plan& plan, const canonical::Graph& graph, std::uint32_t rank, bool is_stated = false);

}  // namespace assay::plan
