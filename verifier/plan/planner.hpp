// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <verifier/plan/node_rules.hpp>
#include <verifier/plan/plan.hpp>

/// Internal to verifier/plan.
namespace assay::plan {

/// What is known of a value before anything is placed.
struct Origin {
    bool is_free = true;              ///< of no state and no batch: any rank can compute it
    bool is_of_state = true;          ///< of the state alone
    std::set<std::uint32_t> roots{};  ///< the tensors of the state that it is computed from, if is_of_state
};

/// Returns the stage of each node. Forward nodes go to stages in their order, so that each has about its share of the
/// multiply-adds and little crosses; backward ones to a stage that has what they read, or to the first of those.
std::vector<std::uint32_t> stages_of(const program::Program& program, const Layout& layout);

/// Returns for each forward product into how many parts its columns, or those of its queries, may be cut so that
/// attention needs nothing of another part: the number of heads, or 0 if there are none.
std::vector<std::uint32_t> heads_of(const program::Program& program);

/// `total` times `part` over `whole`, rounded down; `part` is at most `whole`, which is more than 0.
std::uint64_t proportion(std::uint64_t total, std::uint64_t part, std::uint64_t whole);

/// Places the nodes of a step one after the other, where their inputs are if possible.
class Planner {
  public:
    Planner(const program::Program& program, const Layout& layout);
    Plan run();

  private:
    struct Attempt {
        bool is_divided = false;
        Placement work;
        std::vector<IndexSet> depth;
    };

    void find_origins();
    /// Places the node, or puts it off until the state tensor that it is computed from has a place.
    void visit(std::uint32_t node);
    void place(std::uint32_t node);
    void place_batch(std::uint32_t node);
    /// The tensor of the state without a place that `input` is computed from.
    std::optional<std::uint32_t> open_root(const canonical::Input& input) const;
    /// Decides where a tensor of the state is, by the node that first reads it with something else.
    void settle(std::uint32_t root, std::uint32_t node, std::size_t input);
    void settle_default(std::uint32_t root, std::uint32_t stage);
    void set_state(std::uint32_t root, Placement placement);
    /// Which of the `section` columns of a product each part of its layer has.
    std::vector<IndexSet> column_parts(std::uint32_t node, std::uint32_t section) const;
    std::optional<Placement> tensor_cut(std::uint32_t root, std::uint32_t node, std::size_t input) const;
    std::optional<Placement> like_partner(std::uint32_t root, std::uint32_t node, std::size_t input) const;
    /// Divides what replicas have alike (ZeRO).
    Placement divided(std::uint32_t root, Placement placement) const;

    const Placement& placement_of(const canonical::Input& input) const;
    /// Where `input` is, seen from the ranks of a stage: another stage's ranks hand it on.
    Placement seen_from(const canonical::Input& input, std::uint32_t stage) const;
    Placement seen_from(const Placement& held, std::uint32_t stage) const;
    std::optional<Attempt> attempt(std::uint32_t node, const std::set<std::size_t>& gathered) const;
    std::optional<Attempt> divide(std::uint32_t node, const std::vector<Placement>& held) const;
    std::set<std::size_t> small_inputs(std::uint32_t node) const;
    std::vector<std::set<std::size_t>> gatherings(std::uint32_t node) const;
    void accept(std::uint32_t node, Attempt attempt);
    void accept_divided(std::uint32_t node);
    bool keeps_divided(std::uint32_t node) const;
    void trim();
    /// Hands a node's output on to ranks that would be sent it several times.
    void hand_on();
    void cut_into_pieces();
    void cut_node(std::uint32_t node);
    /// The micro-batch's part of what ranks that compute nothing of a node have of it.
    void add_received(std::uint32_t node, std::vector<Placement>& pieces) const;
    void cut_batch(std::uint32_t node);
    Placement piece_of(std::uint32_t node, std::uint32_t piece) const;
    /// Nothing if the input is a tensor of the state, or a node that is computed at once.
    const std::vector<Placement>* pieces_of(const canonical::Input& input) const;

    std::uint32_t stage(std::uint32_t node) const { return stages_[node]; }
    bool is_on(std::uint32_t rank, std::uint32_t stage) const { return layout_.stage_index(rank) == stage; }

    const program::Program& program_;
    const canonical::Graph& graph_;
    Layout layout_;
    std::uint32_t ranks_;
    std::vector<std::uint32_t> stages_;
    std::vector<std::uint32_t> heads_;  // of the forward nodes, if parts of layers are unequal
    std::vector<Origin> origins_;
    std::vector<bool> is_parameter_;  // of the state
    std::vector<bool> is_forward_;    // of the nodes
    std::vector<bool> is_placed_;     // of the state
    std::map<std::uint32_t, std::vector<std::uint32_t>>
        waiting_;  // nodes, by the tensor of the state that they wait for
    Plan plan_;
};

/// The part `index` of `count` of a block: of its rows, or of its columns if it has too few rows, or all of it for the
/// first and nothing for the others.
Block part_of(const Block& block, std::uint32_t index, std::uint32_t count);

}  // namespace assay::plan
