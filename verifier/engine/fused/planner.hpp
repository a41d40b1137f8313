// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <verifier/engine/fused/plan.hpp>
#include <verifier/engine/fused/product.hpp>

/// Internal to plan.cpp and plan_memory.cpp: how a plan is made.
namespace assay::engine::fused {

/// Size of a tensor in memory.
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// Whether row i of `node` reads of this input nothing but row i.
bool reads_rows(const canonical::Node& node, std::size_t input);

struct ViewOrder {
    bool operator()(const canonical::View* a, const canonical::View* b) const;
};

class Planner {
  public:
    explicit Planner(const PlanInput& input)
        : graph_(input.graph),
          count_(graph_.size() - 1),
          threads_(static_cast<std::uint32_t>(input.threads)),
          wall_(input.wall),
          is_observed_(input.is_observed) {
        plan_.graph = graph_;
        plan_.values.resize(count_ + input.state.size());
        for (std::size_t i = 0; i < input.state.size(); ++i) {
            Value& value = plan_.values[count_ + i];
            value.shape = input.state[i].shape;
            value.format = format_of(input.state[i].dtype);
            value.is_stored = true;
            plan_.state_bytes += aligned(value.size_bytes());
        }
        kept_.assign(count_, false);
        for (const std::uint32_t node : input.kept) {
            kept_[node] = true;
            plan_.kept.emplace(node, node);
        }
    }

    std::optional<Plan> make() {
        find_live();
        choose_formats();
        if (!products_are_bounded()) {
            return std::nullopt;
        }
        find_sums();
        find_depths();
        group_regions();
        find_stored();
        order_stages();
        write_regions();
        place_values();
        return std::move(plan_);
    }

  private:
    void find_live();
    Format wanted_format(std::size_t contract, std::size_t input, std::size_t from) const;
    void choose_formats();
    bool products_are_bounded() const;
    void find_sums();
    bool flows(std::size_t node, std::size_t j, const canonical::Input& input, const canonical::Node& from) const;
    void find_depths();
    void group_regions();
    std::size_t root_of(std::size_t node);
    void find_stored();
    void order_stages();
    void write_regions();
    WorkspaceBytes workspace_of(std::size_t contract) const;
    std::shared_ptr<const ViewRows> rows_of(const canonical::View& view);
    void write_region(Region& region, const std::vector<std::size_t>& nodes);
    std::uint32_t choose_block_rows(const std::vector<std::size_t>& nodes) const;
    static constexpr std::size_t kNoHost = ~std::size_t{0};
    /// When a value is needed, and which one's place it takes.
    struct Span {
        std::size_t first = 0;
        std::size_t last = 0;
        bool is_to_the_end = false;
        std::size_t host = kNoHost;
    };
    std::vector<Span> find_spans() const;
    void find_hosts(std::vector<Span>& spans) const;
    void place_values();

    bool is_alive(std::size_t node) const { return live_[node] && !absorbed_[node]; }
    bool is_in_arena(std::size_t node) const {
        return plan_.values[node].is_stored && plan_.values[node].next_state == kNoState;
    }
    template <class F>
    void for_each_node_input(std::size_t node, F f) const {
        for (std::size_t j = 0; j < graph_[node].inputs.size(); ++j) {
            const canonical::Input& input = graph_[node].inputs[j];
            if (input.source == canonical::Source::kNode) {
                f(j, std::size_t{input.index});
            }
        }
    }
    /// What `node` really reads: a sum that quantises at once reads what the quantisation would.
    const canonical::Node& reader(std::size_t node) const {
        return sums_[node] == kNoSum ? graph_[node] : graph_[sums_[node]];
    }
    template <class F>
    void for_each_read(std::size_t node, F f) const {
        const canonical::Node& from = reader(node);
        for (std::size_t j = 0; j < from.inputs.size(); ++j) {
            f(j, from.inputs[j], from);
        }
    }

    static constexpr std::size_t kNoSum = ~std::size_t{0};

    const canonical::Graph& graph_;
    std::size_t count_;
    std::uint32_t threads_;
    std::uint32_t wall_;
    bool is_observed_;
    Plan plan_;
    std::vector<bool> kept_;
    std::vector<bool> live_;
    std::vector<bool> absorbed_;     // quantisations that a row sum does itself
    std::vector<std::size_t> sums_;  // for a row sum: the quantisation it absorbs
    std::vector<std::size_t> depth_;
    std::vector<std::size_t> parent_;  // union-find over the nodes of a region
    std::vector<std::size_t> stage_;   // of each node, in order of execution
    std::vector<std::vector<std::size_t>> stage_nodes_;
    std::map<const canonical::View*, std::shared_ptr<const ViewRows>, ViewOrder> views_;
};

}  // namespace assay::engine::fused
