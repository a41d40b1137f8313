// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/plan.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/digit_kernel.hpp>
#include <verifier/engine/fused/placing.hpp>
#include <verifier/engine/fused/product.hpp>
#include <verifier/engine/fused/row_op.hpp>

namespace assay::engine::fused {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Source;

namespace {

constexpr std::size_t kBlockBytes = std::size_t{48} * 1024;  // of a block's widest operation: about a first-level cache
constexpr std::uint32_t kTransposeRows = 16;
constexpr std::uint32_t kMaxSumAtOnce = 1U << 22U;

std::size_t aligned(std::size_t bytes) { return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }

// Whether row i of `node` reads of this input nothing but row i.
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

class Planner {
  public:
    Planner(
        const Graph& graph, std::span<const canonical::TensorType> state, std::span<const std::uint32_t> kept,
        int threads
    )
        : graph_(graph), count_(graph.size() - 1), threads_(static_cast<std::uint32_t>(threads)) {
        plan_.graph = graph;
        plan_.values.resize(count_ + state.size());
        for (std::size_t i = 0; i < state.size(); ++i) {
            plan_.values[count_ + i] = {
                .shape = state[i].shape,
                .format = state[i].dtype == DType::kI64 ? Format::kWide : Format::kWords,
                .is_stored = true,
            };
        }
        kept_.assign(count_, false);
        for (const std::uint32_t node : kept) {
            kept_[node] = true;
        }
    }

    std::optional<Plan> make() {
        find_live();
        choose_formats();
        if (!products_are_bounded()) {
            return std::nullopt;
        }
        find_sums();
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
    void group_regions();
    std::size_t root_of(std::size_t node);
    void find_stored();
    void order_stages();
    void write_regions();
    void write_region(Region& region, const std::vector<std::size_t>& nodes);
    std::uint32_t choose_block_rows(const std::vector<std::size_t>& nodes) const;
    void place_values();

    bool is_alive(std::size_t node) const { return live_[node] && !absorbed_[node]; }
    template <class F>
    void for_each_node_input(std::size_t node, F f) const {
        for (std::size_t j = 0; j < graph_[node].inputs.size(); ++j) {
            const Input& input = graph_[node].inputs[j];
            if (input.source == Source::kNode) {
                f(j, std::size_t{input.index});
            }
        }
    }
    /// What `node` really reads: a sum that quantises at once reads what the quantisation would.
    const Node& reader(std::size_t node) const { return sums_[node] == kNoSum ? graph_[node] : graph_[sums_[node]]; }
    template <class F>
    void for_each_read(std::size_t node, F f) const {
        const Node& from = reader(node);
        for (std::size_t j = 0; j < from.inputs.size(); ++j) {
            f(j, from.inputs[j], from);
        }
    }

    static constexpr std::size_t kNoSum = ~std::size_t{0};

    const Graph& graph_;
    std::size_t count_;
    std::uint32_t threads_;
    Plan plan_;
    std::vector<bool> kept_;
    std::vector<bool> live_;
    std::vector<bool> absorbed_;     // quantisations that a row sum does itself
    std::vector<std::size_t> sums_;  // for a row sum: the quantisation it absorbs
    std::vector<std::size_t> depth_;
    std::vector<std::size_t> parent_;  // union-find over the nodes of a region
    std::vector<std::size_t> stage_;   // of each node, in order of execution
    std::vector<std::vector<std::size_t>> stage_nodes_;
};

void Planner::find_live() {
    live_.assign(count_, false);
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
    return can_lie_ready ? operand_format(node, input) : product_format(node);
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
        value.format = graph_[i].dtype == DType::kI64 ? Format::kWide : Format::kWords;
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
        const bool fits = quantise.op == Op::kQuantise && readers[from] == 1 && !kept_[from] &&
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

// A node's depth is the number of stages that must have ended before its own: one more than that of what it reads,
// except along the rows of a region. So regions are what such edges connect, and no circle can arise between them.
void Planner::group_regions() {
    depth_.assign(count_, 0);
    parent_.resize(count_);
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        const auto flows = [&](std::size_t j, const Input& input, const Node& from) {
            return is_row_wise(graph_[i].op) && is_row_wise(graph_[input.index].op) && reads_rows(from, j) &&
                   graph_[input.index].shape.rows == graph_[i].shape.rows;
        };
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (input.source == Source::kNode) {
                depth_[i] = std::max(depth_[i], depth_[input.index] + (flows(j, input, from) ? 0 : 1));
            }
        });
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (input.source == Source::kNode && flows(j, input, from) && depth_[input.index] == depth_[i]) {
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
    const std::vector<Input>& next = graph_.back().inputs;
    for (std::uint32_t i = 0; i < next.size(); ++i) {
        if (next[i].source == Source::kNode) {
            Value& value = plan_.values[next[i].index];
            value.is_stored = true;
            value.next_state = std::min(value.next_state, i);
        }
    }
}

// In the program's own order as far as what is read allows: it writes things shortly before they are used.
void Planner::order_stages() {
    std::map<std::size_t, std::vector<std::size_t>> members;  // by root, in node order
    for (std::size_t i = 0; i < count_; ++i) {
        if (is_alive(i)) {
            members[root_of(i)].push_back(i);
        }
    }
    std::map<std::size_t, std::set<std::size_t>> readers;
    std::map<std::size_t, std::size_t> missing;
    for (const auto& [root, nodes] : members) {
        std::set<std::size_t> sources;
        for (const std::size_t i : nodes) {
            for_each_read(i, [&, root = root](std::size_t, const Input& input, const Node&) {
                if (input.source == Source::kNode && root_of(input.index) != root) {
                    sources.insert(root_of(input.index));
                }
            });
        }
        missing[root] = sources.size();
        for (const std::size_t source : sources) {
            readers[source].insert(root);
        }
    }
    std::set<std::pair<std::size_t, std::size_t>> ready;  // last node, root
    for (const auto& [root, nodes] : members) {
        if (missing[root] == 0) {
            ready.emplace(nodes.back(), root);
        }
    }
    stage_.assign(count_, 0);
    while (!ready.empty()) {
        const std::size_t root = ready.begin()->second;
        ready.erase(ready.begin());
        for (const std::size_t i : members[root]) {
            stage_[i] = stage_nodes_.size();
        }
        stage_nodes_.push_back(members[root]);
        for (const std::size_t reader : readers[root]) {
            if (--missing[reader] == 0) {
                ready.emplace(members[reader].back(), reader);
            }
        }
    }
    ASSERT(stage_nodes_.size() == members.size());
}

void Planner::write_regions() {
    for (const std::vector<std::size_t>& nodes : stage_nodes_) {
        Stage stage{.node = static_cast<ValueId>(nodes.front())};
        switch (graph_[nodes.front()].op) {
            case Op::kContract:
                stage.kind = Stage::Kind::kProduct;
                break;
            case Op::kScatterAddRows:
                stage.kind = Stage::Kind::kScatter;
                break;
            case Op::kBatchRows:
                stage.kind = Stage::Kind::kBatch;
                break;
            default:
                stage.region = plan_.regions.size();
                write_region(plan_.regions.emplace_back(), nodes);
                break;
        }
        plan_.stages.push_back(stage);
    }
}

std::uint32_t Planner::choose_block_rows(const std::vector<std::size_t>& nodes) const {
    const std::uint32_t rows = graph_[nodes.front()].shape.rows;
    std::size_t widest = 1;
    bool transposes = false;
    for (const std::size_t i : nodes) {
        std::size_t width = graph_[i].shape.cols * size_of(plan_.values[i].format);
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            if (reads_rows(from, j)) {
                width += input.shape.cols * size_of(plan_.values[plan_.value_of(input)].format);
            }
        });
        widest = std::max(widest, width);
        transposes = transposes || graph_[i].op == Op::kView || plan_.values[i].format == Format::kRightDigits;
    }
    std::size_t block = std::clamp<std::size_t>(kBlockBytes / widest, 1, rows);
    // Every thread gets something to do, but no block is so small that its loops do not pay.
    const std::size_t share = (rows + 2 * threads_ - 1) / (2 * threads_);
    if (threads_ > 1 && share * widest >= std::size_t{16} * 1024) {
        block = std::min(block, share);
    }
    if (transposes) {
        block = std::max<std::size_t>(block / kTransposeRows * kTransposeRows, kTransposeRows);
    }
    return static_cast<std::uint32_t>(std::min<std::size_t>(block, rows));
}

void Planner::write_region(Region& region, const std::vector<std::size_t>& nodes) {
    region.rows = graph_[nodes.front()].shape.rows;
    region.block_rows = choose_block_rows(nodes);
    std::map<std::size_t, std::size_t> last_use;
    for (const std::size_t i : nodes) {
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode) {
                last_use[input.index] = i;
            }
        });
    }
    SameSize scratch;
    std::map<std::size_t, std::size_t> offset;  // node, where it lies
    const auto size_of_node = [&](std::size_t i) {
        return aligned(std::size_t{region.block_rows} * graph_[i].shape.cols * size_of(plan_.values[i].format));
    };
    const auto is_here = [&](const Input& input) {
        return input.source == Source::kNode && stage_[input.index] == stage_[nodes.front()] && is_alive(input.index);
    };
    for (const std::size_t i : nodes) {
        RegionOp op;
        op.node = static_cast<ValueId>(i);
        op.sums_at_once = sums_[i] != kNoSum;
        if (graph_[i].op == Op::kView) {
            op.view = std::make_shared<const ViewRows>(*graph_[i].view);
        }
        for_each_read(i, [&](std::size_t j, const Input& input, const Node& from) {
            const ValueId value = plan_.value_of(input);
            Operand& operand = op.inputs[j];
            operand.value = value;
            if (is_here(input) && !plan_.values[value].is_stored) {
                operand.place = Operand::Place::kScratch;
                operand.scratch = offset.at(input.index);
            } else {
                operand.place = reads_rows(from, j) ? Operand::Place::kRows : Operand::Place::kWhole;
            }
        });
        op.output.value = static_cast<ValueId>(i);
        op.output.place = is_laid_out(plan_.values[i].format) ? Operand::Place::kWhole
                          : plan_.values[i].is_stored         ? Operand::Place::kRows
                                                              : Operand::Place::kScratch;
        if (op.output.place == Operand::Place::kScratch) {
            offset[i] = scratch.take(size_of_node(i));
            op.output.scratch = offset[i];
        }
        region.ops.push_back(std::move(op));
        std::set<std::size_t> dead;
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (is_here(input) && !plan_.values[input.index].is_stored && last_use[input.index] == i) {
                dead.insert(input.index);
            }
        });
        for (const std::size_t value : dead) {
            scratch.give_back(size_of_node(value), offset.at(value));
        }
    }
    region.scratch_bytes = scratch.size_bytes();
}

// Values in the arena by first fit, each from the stage that writes it to the last that reads it.
void Planner::place_values() {
    std::vector<std::size_t> last(count_, 0);
    for (std::size_t i = 0; i < count_; ++i) {
        if (!is_alive(i)) {
            continue;
        }
        last[i] = std::max(last[i], kept_[i] ? stage_nodes_.size() - 1 : stage_[i]);
        for_each_read(i, [&](std::size_t, const Input& input, const Node&) {
            if (input.source == Source::kNode) {
                last[input.index] = std::max(last[input.index], stage_[i]);
            }
        });
    }
    std::vector<std::size_t> nodes;
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = 0; i < count_; ++i) {
        if (is_alive(i) && plan_.values[i].is_stored && plan_.values[i].next_state == kNoState) {
            nodes.push_back(i);
            lifetimes.push_back({.size = aligned(plan_.values[i].size_bytes()), .first = stage_[i], .last = last[i]});
        }
    }
    plan_.arena_bytes = place(lifetimes);
    plan_.needed_bytes = needed_at_once(lifetimes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        plan_.values[nodes[i]].offset = lifetimes[i].offset;
    }
}

}  // namespace

std::optional<Plan> make_plan(
    const Graph& graph, std::span<const canonical::TensorType> state, std::span<const std::uint32_t> kept, int threads
) {
    return Planner(graph, state, kept, threads).make();
}

}  // namespace assay::engine::fused
