// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/plan.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/digit_kernel.hpp>
#include <verifier/engine/fused/ordering.hpp>
#include <verifier/engine/fused/planner.hpp>
#include <verifier/engine/fused/product.hpp>

namespace assay::engine::fused {

using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::uint32_t kMaxSumAtOnce = 1U << 22U;

}  // namespace

bool reads_rows(const Node& node, std::size_t input) {
    switch (node.op) {
        case Op::kView:
            return false;
        case Op::kGatherRows:
            return input == 1;
        default:
            return node.inputs[input].shape.rows == node.shape.rows;
    }
}

bool is_row_wise(Op op) {
    switch (op) {
        case Op::kContract:
        case Op::kScatterAddRows:
        case Op::kBatchRows:
        case Op::kCommit:
            return false;
        default:
            return true;
    }
}

void Planner::find_live() {
    live_.assign(count_, is_observed_);
    const auto mark = [&](const Input& input) {
        if (input.source == Source::kNode) {
            live_[input.index] = true;
        }
    };
    for (const Input& input : graph_.back().inputs) {
        mark(input);
    }
    for (std::size_t i = count_; i-- > 0;) {
        live_[i] = live_[i] || kept_[i];
        if (live_[i]) {
            std::for_each(graph_[i].inputs.begin(), graph_[i].inputs.end(), mark);
        }
    }
}

// How the operand `input` of a product, which `from` leaves, is best kept.
Format Planner::wanted_format(std::size_t contract, std::size_t input, std::size_t from) const {
    const Node& node = graph_[contract];
    const Node& operand = graph_[from];
    const bool has_steps = operand.inputs.size() == 2 && (operand.inputs[1].shape.cols == 1 ||
                                                          operand.attributes[1] % DigitKernel::kStepColumns == 0);
    const bool can_lie_ready = has_steps && operand.attributes[0] == node.attributes[0];
    return can_lie_ready && !is_observed_ ? operand_format(node, input) : product_format(node);
}

void Planner::choose_formats() {
    std::vector<bool> only_products(count_, true);
    std::vector<std::optional<Format>> wanted(count_);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (i < count_ && !live_[i]) {
            continue;
        }
        for_each_node_input(i, [&](std::size_t j, std::size_t from) {
            if (graph_[i].op != Op::kContract || j % 2 != 0) {
                only_products[from] = false;
                return;
            }
            const Format format = wanted_format(i, j, from);
            wanted[from] = wanted[from].value_or(format) == format ? format : product_format(graph_[i]);
            if (is_laid_out(format)) {
                plan_.values[from].packed_bytes = packed_bytes(graph_[i], j);
            }
        });
    }
    for (std::size_t i = 0; i < count_; ++i) {
        Value& value = plan_.values[i];
        value.shape = graph_[i].shape;
        value.format = format_of(graph_[i].dtype);
        if (graph_[i].op == Op::kQuantise && only_products[i] && !kept_[i]) {
            value.format = wanted[i].value_or(value.format);
        }
    }
}

bool Planner::products_are_bounded() const {
    for (std::size_t i = 0; i < count_; ++i) {
        const Node& node = graph_[i];
        if (node.op != Op::kContract || !live_[i]) {
            continue;
        }
        const Format plain = product_format(node);
        for (const std::size_t j : {0U, 2U}) {
            const Input& input = node.inputs[j];
            if (plain == Format::kWords || input.source != Source::kNode || graph_[input.index].op != Op::kQuantise ||
                graph_[input.index].attributes[0] > node.attributes[0]) {
                return false;
            }
            const Format format = plan_.values[input.index].format;
            if (format != plain && !is_laid_out(format)) {
                return false;
            }
        }
    }
    return true;
}

void Planner::find_sums() {
    absorbed_.assign(count_, false);
    sums_.assign(count_, kNoSum);
    std::vector<std::size_t> readers(count_, 0);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (i == count_ || live_[i]) {
            for_each_node_input(i, [&](std::size_t, std::size_t from) { ++readers[from]; });
        }
    }
    for (std::size_t i = 0; i < count_; ++i) {
        if (!live_[i] || graph_[i].op != Op::kRowSum || graph_[i].inputs[0].source != Source::kNode) {
            continue;
        }
        const std::size_t from = graph_[i].inputs[0].index;
        const Node& quantise = graph_[from];
        const bool fits = !is_observed_ && quantise.op == Op::kQuantise && readers[from] == 1 && !kept_[from] &&
                          quantise.inputs[1].shape.cols == 1 && quantise.shape.cols <= kMaxSumAtOnce;
        if (fits) {
            absorbed_[from] = true;
            sums_[i] = from;
        }
    }
}

std::size_t Planner::root_of(std::size_t node) {
    while (parent_[node] != node) {
        parent_[node] = parent_[parent_[node]];
        node = parent_[node];
    }
    return node;
}

bool Planner::flows(std::size_t node, std::size_t j, const Input& input, const Node& from) const {
    return (node < wall_) == (input.index < wall_) && is_row_wise(graph_[node].op) &&
           is_row_wise(graph_[input.index].op) && reads_rows(from, j) &&
           graph_[input.index].shape.rows == graph_[node].shape.rows;
}

// A node's depth is the number of stages that must have ended before its own: one more than that of what it reads,
// except along the rows of a region.
void Planner::find_depths() {
    depth_.assign(count_, 0);
    for (std::size_t i = 0; i < count_; ++i) {
        if (is_alive(i)) {
            for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
                if (input.source == Source::kNode) {
                    depth_[i] = std::max(depth_[i], depth_[input.index] + (flows(i, j, input, from) ? 0 : 1));
                }
            });
        }
    }
    // What is no smaller than what it is made of is made as late as its readers allow, in their region if it can be.
    constexpr std::size_t kNobody = ~std::size_t{0};
    std::vector<std::size_t> latest(count_, kNobody);
    for (std::size_t i = count_; i-- > 0;) {
        if (!is_alive(i)) {
            continue;
        }
        std::uint64_t read_bytes = 0;
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            read_bytes += input.source == Source::kNode ? plan_.values[input.index].size_bytes() : 0;
        });
        if (is_row_wise(graph_[i].op) && latest[i] != kNobody && plan_.values[i].size_bytes() >= read_bytes) {
            depth_[i] = latest[i];
        }
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (input.source == Source::kNode) {
                latest[input.index] = std::min(latest[input.index], depth_[i] - (flows(i, j, input, from) ? 0 : 1));
            }
        });
    }
}

// Regions are what edges between nodes of one depth connect, so no circle can arise between them.
void Planner::group_regions() {
    parent_.resize(count_);
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (input.source == Source::kNode && flows(i, j, input, from) && depth_[input.index] == depth_[i]) {
                parent_[root_of(i)] = root_of(input.index);
            }
        });
    }
}

void Planner::find_stored() {
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        Value& own = plan_.values[i];
        own.is_stored = own.is_stored || kept_[i] || !is_row_wise(graph_[i].op);
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode && root_of(input.index) != root_of(i)) {
                plan_.values[input.index].is_stored = true;
            }
        });
    }
    // A step that reads no state, as an initialisation, leaves none to be kept until the next is known to be finite.
    const bool reads_state = std::any_of(graph_.begin(), graph_.end(), [](const Node& node) {
        return std::any_of(node.inputs.begin(), node.inputs.end(), [](const Input& input) {
            return input.source == Source::kState;
        });
    });
    const std::vector<Input>& next = graph_.back().inputs;
    for (std::uint32_t i = 0; i < next.size(); ++i) {
        if (next[i].source == Source::kNode) {
            Value& value = plan_.values[next[i].index];
            value.is_stored = true;
            value.next_state = reads_state ? kNoState : std::min(value.next_state, i);
        }
    }
}

void Planner::order_stages() {
    std::map<std::size_t, UnorderedStage> stages;  // by root
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        UnorderedStage& stage = stages[root_of(i)];
        stage.nodes.push_back(i);
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode && root_of(input.index) != root_of(i)) {
                stage.sources.insert(root_of(input.index));
            }
        });
    }
    stage_nodes_ = in_order(stages);
    stage_.assign(count_, 0);
    for (std::size_t stage = 0; stage < stage_nodes_.size(); ++stage) {
        for (const std::size_t i : stage_nodes_[stage]) {
            stage_[i] = stage;
        }
    }
}

std::optional<Plan> plan_graph(const PlanInput& input) { return Planner(input).make(); }

}  // namespace assay::engine::fused
