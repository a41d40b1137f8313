// SPDX-License-Identifier: Apache-2.0
#include <verifier/plan/live_bytes.hpp>

#include <algorithm>

#include <verifier/plan/message.hpp>

// What ranks have of a step's values.
namespace assay::plan {

using canonical::Graph;
using canonical::Input;
using canonical::Op;
using canonical::Source;

namespace {

const Placement& held_of(const Plan& plan, const Input& input) {
    return input.source == Source::kState ? plan.state[input.index] : plan.nodes[input.index].held;
}

std::vector<std::uint64_t> bytes_of(const Placement& placement, canonical::DType dtype) {
    std::vector<std::uint64_t> out;
    for (const Block& block : placement) {
        out.push_back(block.element_count() * canonical::size_of(dtype));
    }
    return out;
}

void add(
    const std::vector<Transfer>& all, canonical::DType dtype, std::vector<std::uint64_t>& sent,
    std::vector<std::uint64_t>* received
) {
    for (const Transfer& transfer : all) {
        const std::uint64_t bytes = transfer.block.element_count() * canonical::size_of(dtype);
        sent[transfer.from] += bytes;
        if (received != nullptr) {
            (*received)[transfer.to] += bytes;
        }
    }
}

void add_parts(const Plan& plan, const Graph& graph, std::uint32_t index, NodeBytes& out) {
    const NodePlan& node = plan.nodes[index];
    const std::uint64_t width = accumulator_bytes(graph, index);
    const bool is_maximum = graph[index].op == Op::kRowExponent || graph[index].op == Op::kRowMax;
    const std::uint64_t own_width = is_maximum ? width : 8;
    const std::size_t ranks = node.work.size();
    out.sent_parts.assign(ranks, 0);
    out.computed.assign(ranks, 0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t slices = slices_of_part(graph[index], node.depth[rank], false).size();
        for (std::uint32_t to = 0; to < ranks; ++to) {
            if (to != rank && !node.work[rank].is_empty() && node.work[to] == node.work[rank]) {
                out.sent_parts[rank] += slices * node.finished[to].element_count() * width;
            }
        }
        out.computed[rank] = out.sent_parts[rank] + slices * node.finished[rank].element_count() * own_width;
    }
}

// What a rank has for an item alone: inputs, or parts of them, that are put together for it.
std::uint64_t passing_bytes(const Plan& plan, const Graph& graph, const Item& item, std::uint32_t rank) {
    std::uint64_t out = 0;
    const Share share = share_of(plan, graph, item);
    for (std::size_t k = 0; k < graph[item.node].inputs.size(); ++k) {
        const Input& input = graph[item.node].inputs[k];
        const Block& needs = share.needs[k][rank];
        const bool is_there = held_of(plan, input)[rank] == needs || needs.is_empty();
        out += is_there ? 0 : needs.element_count() * canonical::size_of(input.dtype);
    }
    return out;
}

// How many nodes read each one. The loss is kept until the step's end, and so counts as read there.
std::vector<std::uint32_t> reader_counts(const program::Program& program) {
    std::vector<std::uint32_t> out(program.step.size());
    for (const canonical::Node& node : program.step) {
        for_each_read(node, [&](std::uint32_t read) { ++out[read]; });
    }
    ++out[program.loss_node];
    return out;
}

// A rank's values, one step long.
class Values {
  public:
    Values(const Plan& plan, const program::Program& program, std::uint32_t rank)
        : plan_(plan),
          graph_(program.step),
          rank_(rank),
          unread_(reader_counts(program)),
          held_(state_bytes(plan, program, rank)),
          peak_(held_) {}

    std::uint64_t peak() const { return peak_; }

    // Nodes one after the other: about what ranks do that work on micro-batches.
    void run_program() {
        for (std::uint32_t i = 0; i + 1 < graph_.size(); ++i) {
            std::uint64_t passing = 0;
            for (const Item& item : items_of(plan_, graph_, i)) {
                passing += passing_bytes(plan_, graph_, item, rank_);
            }
            complete(i, plan_.nodes[i].held[rank_].element_count() * canonical::size_of(graph_[i].dtype));
            note(passing);
            read_inputs(i);
        }
    }

    void run_order() {
        for (std::uint32_t i = 0; i + 1 < graph_.size(); ++i) {
            bytes_.push_back(bytes_of(plan_, graph_, i));
        }
        auto next = plan_.exchanges[rank_].begin();
        const std::vector<Item>& order = plan_.order[rank_];
        for (std::size_t i = 0; i <= order.size(); ++i) {
            for (; next != plan_.exchanges[rank_].end() && next->after == i; ++next) {
                for (const std::vector<Sending>& message : next->messages) {
                    std::for_each(message.begin(), message.end(), [&](const Sending& each) { pass(each); });
                }
            }
            if (i < order.size()) {
                compute(order[i]);
            }
        }
    }

  private:
    std::uint64_t own(const std::vector<std::uint64_t>& bytes) const { return bytes.empty() ? 0 : bytes[rank_]; }
    void note(std::uint64_t passing) { peak_ = std::max(peak_, held_ + passing); }

    void compute(const Item& item) {
        const NodeBytes& bytes = bytes_[item.node];
        const std::uint64_t passing = passing_bytes(plan_, graph_, item, rank_);
        note(passing);
        held_ += own(bytes.computed) - own(bytes.received);
        note(passing);
        if (!plan_.nodes[item.node].is_divided) {
            hand_out(item.node);
        }
        read_inputs(item.node);
    }
    void pass(const Sending& sending) {
        const std::uint32_t node = sending.item.node;
        const NodeBytes& bytes = bytes_[node];
        switch (sending.what) {
            case Sent::kInputs:
                held_ += own(bytes.received);
                break;
            case Sent::kParts:
                held_ = held_ - own(bytes.computed) + own(bytes.finished);
                hand_out(node);
                break;
            case Sent::kOutput:
                held_ -= own(bytes.finished);
                complete(node, own(bytes.held));
                break;
        }
        note(0);
    }
    void hand_out(std::uint32_t node) {
        if (bytes_[node].sent_output.empty()) {
            held_ -= own(bytes_[node].finished);
            complete(node, own(bytes_[node].held));
        }
    }
    void complete(std::uint32_t node, std::uint64_t bytes) { held_ += unread_[node] > 0 ? bytes : 0; }
    void read_inputs(std::uint32_t node) {
        for_each_read(graph_[node], [&](std::uint32_t read) {
            if (--unread_[read] == 0) {
                held_ -= plan_.nodes[read].held[rank_].element_count() * canonical::size_of(graph_[read].dtype);
            }
        });
    }

    const Plan& plan_;
    const Graph& graph_;
    std::uint32_t rank_;
    std::vector<std::uint32_t> unread_;
    std::vector<NodeBytes> bytes_;
    std::uint64_t held_;
    std::uint64_t peak_;
};

}  // namespace

NodeBytes bytes_of(const Plan& plan, const Graph& graph, std::uint32_t index) {
    const NodePlan& node = plan.nodes[index];
    const canonical::DType dtype = graph[index].dtype;
    const std::size_t ranks = plan.layout.ranks();
    NodeBytes out{.held = bytes_of(node.held, dtype)};
    const auto inputs = input_transfers(plan, graph, {index, Item::kWhole});
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (!inputs[k].empty()) {
            out.received.resize(ranks);
            out.sent_inputs.resize(ranks);
            add(inputs[k], graph[index].inputs[k].dtype, out.sent_inputs, &out.received);
        }
    }
    const auto output = output_transfers(plan, graph, {index, Item::kWhole});
    if (!output.empty()) {
        out.sent_output.resize(ranks);
        add(output, dtype, out.sent_output, nullptr);
    }
    out.finished = bytes_of(node.finished.empty() ? node.work : node.finished, dtype);
    out.computed = out.finished;
    if (node.is_divided) {
        add_parts(plan, graph, index, out);
    }
    return out;
}

std::uint64_t step_bytes(const Plan& plan, const program::Program& program, std::uint32_t rank) {
    Values values(plan, program, rank);
    if (plan.layout.micro_batches > 1) {
        values.run_program();
    } else {
        values.run_order();
    }
    return values.peak();
}

}  // namespace assay::plan
