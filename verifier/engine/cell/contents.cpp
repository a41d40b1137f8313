// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/contents.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/engine/cell/cell_rank.hpp>

namespace assay::engine {

using canonical::Input;
using canonical::Source;
using plan::PartSlice;
using plan::Passage;
using plan::Transfer;

namespace {

// STM-1: whether a rank has computed what it sends, or may have been told it itself.
constexpr std::uint8_t kComputed = 0;
constexpr std::uint8_t kHandedOn = 1;

// A rank that was told something in a step and hands it on in the same step can show who told it only if that one has
// said that it has computed it (STM-9), so whoever has computed it says so.
std::uint8_t hop_of(const plan::Plan& plan, const Input& input, const Transfer& transfer) {
    if (input.source == Source::kState) {
        return kHandedOn;
    }
    const plan::NodePlan& node = plan.nodes[input.index];
    const plan::Placement& own = node.finished.empty() ? node.work : node.finished;
    return own[transfer.from].contains(transfer.block) ? kComputed : kHandedOn;
}

}  // namespace

namespace cell {

void ContentsOf::send(std::uint32_t to, Passage passage) {
    if (!passage.block.is_empty()) {
        to_[to].push_back(std::move(passage));
    }
}

void ContentsOf::receive(std::uint32_t from, Passage passage) {
    if (!passage.block.is_empty()) {
        from_[from].push_back(std::move(passage));
    }
}

void check_statable(const plan::Plan& plan, const canonical::Graph& graph) {
    if (const auto node = plan::unstatable_node(plan, graph)) {
        throw std::runtime_error(
            "ranks that answer for what they send cannot divide node " + std::to_string(*node) + " (" +
            canonical::to_string(graph[*node].op) + ") by the layout " + plan::to_string(plan.layout) +
            ": each rank has to reduce whole tiles of 32 positions; choose another layout, or sizes and parts of the "
            "batch that are multiples of 32"
        );
    }
}

Contents ContentsOf::build(const canonical::Graph& graph) const {
    const auto described = [&](const std::vector<Passages>& all) {
        std::vector<Contents::Message> out;
        for (const Passages& passages : all) {
            const auto same = std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(out.size()), passages);
            const auto index = static_cast<std::size_t>(same - all.begin());
            if (passages.empty()) {
                out.emplace_back();
            } else if (index < out.size()) {
                out.push_back(out[index]);
            } else {
                auto pieces = plan::pieces_of(passages, graph);
                ASSERT(pieces.has_value());  // check_statable() has found no node
                out.push_back(std::make_shared<const plan::MessagePieces>(*std::move(pieces)));
            }
        }
        return out;
    };
    return {.to = described(to_), .from = described(from_)};
}

}  // namespace cell

void CellExecutor::Impl::describe(const std::vector<Transfer>& own, const Input& input, cell::ContentsOf& out) const {
    for (const Transfer& transfer : own) {
        Passage passage{
            .source = input.source,
            .index = input.index,
            .block = transfer.block,
            .width = static_cast<std::uint32_t>(canonical::size_of(input.dtype)),
            .positions = {},
            .hop = hop_of(plan, input, transfer)};
        if (transfer.from == rank) {
            out.send(transfer.to, std::move(passage));
        } else {
            out.receive(transfer.from, std::move(passage));
        }
    }
}

Contents CellExecutor::Impl::output_contents(std::uint32_t node, const std::vector<Transfer>& own) const {
    const canonical::Node& n = graph[node];
    cell::ContentsOf out(collective.size());
    describe(own, {.source = Source::kNode, .index = node, .dtype = n.dtype, .shape = n.shape}, out);
    return out.build(graph);
}

void CellExecutor::Impl::describe(Work& work) const {
    const std::uint32_t node = work.item.node;
    cell::ContentsOf inputs(collective.size());
    for (std::size_t k = 0; k < work.inputs.size(); ++k) {
        describe(work.inputs[k], graph[node].inputs[k], inputs);
    }
    work.sent_inputs = inputs.build(graph);
    work.sent_output = output_contents(node, work.output);
    const plan::NodePlan& node_plan = plan.nodes[node];
    if (!node_plan.is_divided || node_plan.work[rank].is_empty()) {
        return;
    }
    cell::ContentsOf parts(collective.size());
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other == rank || node_plan.work[other] != node_plan.work[rank]) {
            continue;
        }
        for (const PartSlice& slice : work.slices) {
            parts.send(other, {Source::kNode, node, node_plan.finished[other], width, slice.positions, kComputed});
        }
        for (const PartSlice& slice : slices_of(node, other)) {
            parts.receive(other, {Source::kNode, node, node_plan.finished[rank], width, slice.positions, kComputed});
        }
    }
    work.sent_parts = parts.build(graph);
}

// What other ranks send this one in a step, the loss and their word on whether the next state is finite excepted.
std::vector<Ahead> CellExecutor::Impl::incoming() const {
    std::vector<Ahead> out(collective.size(), Ahead{.bytes = 0, .messages = 0});
    const auto add = [&out](std::uint32_t from, std::uint64_t message_bytes) {
        out[from].bytes += message_bytes;
        ++out[from].messages;
    };
    const auto add_all = [&](const std::vector<Transfer>& all, canonical::DType dtype) {
        for (const Transfer& transfer : all) {
            if (transfer.to == rank) {
                add(transfer.from, transfer.block.element_count() * canonical::size_of(dtype));
            }
        }
    };
    for (const Work& work : works) {
        const std::uint32_t node = work.item.node;
        for (std::size_t k = 0; k < work.inputs.size(); ++k) {
            add_all(work.inputs[k], graph[node].inputs[k].dtype);
        }
        add_all(work.output, graph[node].dtype);
        const plan::NodePlan& node_plan = plan.nodes[node];
        if (!node_plan.is_divided || node_plan.work[rank].is_empty()) {
            continue;
        }
        const std::uint64_t values = node_plan.finished[rank].element_count() * plan::accumulator_bytes(graph, node);
        for (std::uint32_t other = 0; other < collective.size(); ++other) {
            if (other != rank && node_plan.work[other] == node_plan.work[rank]) {
                add(other, slices_of(node, other).size() * values);
            }
        }
    }
    return out;
}

void CellExecutor::Impl::describe_loss() {
    const std::uint32_t node = program.loss_node;
    const canonical::Shape shape = graph[node].shape;
    plan::Placement wanted(collective.size());
    wanted[0] = plan::whole(shape);
    sent_loss = output_contents(node, own(plan::transfers(plan.nodes[node].held, wanted, shape)));
}

}  // namespace assay::engine
