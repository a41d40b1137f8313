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

void CellExecutor::Impl::describe_parts(const Work& work, cell::ContentsOf& out) const {
    const std::uint32_t node = work.item.node;
    const plan::NodePlan& node_plan = plan.nodes[node];
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (!shares_parts(node, other)) {
            continue;
        }
        for (const PartSlice& slice : work.slices) {
            out.send(other, {Source::kNode, node, node_plan.finished[other], width, slice.positions, kComputed});
        }
        for (const PartSlice& slice : slices_of(node, other)) {
            out.receive(other, {Source::kNode, node, node_plan.finished[rank], width, slice.positions, kComputed});
        }
    }
}

void CellExecutor::Impl::describe(const Work& work, plan::Sent what, cell::ContentsOf& out) const {
    const std::uint32_t node = work.item.node;
    const canonical::Node& n = graph[node];
    switch (what) {
        case plan::Sent::kInputs:
            for (std::size_t k = 0; k < work.inputs.size(); ++k) {
                describe(work.inputs[k], n.inputs[k], out);
            }
            break;
        case plan::Sent::kParts:
            describe_parts(work, out);
            break;
        case plan::Sent::kOutput:
            describe(work.output, {.source = Source::kNode, .index = node, .dtype = n.dtype, .shape = n.shape}, out);
            break;
    }
}

void CellExecutor::Impl::describe_loss() {
    const std::uint32_t node = program.loss_node;
    const canonical::Shape shape = graph[node].shape;
    plan::Placement wanted(collective.size());
    wanted[0] = plan::whole(shape);
    cell::ContentsOf out(collective.size());
    const Input loss_value{.source = Source::kNode, .index = node, .dtype = graph[node].dtype, .shape = shape};
    describe(own(plan::transfers(plan.nodes[node].held, wanted, shape)), loss_value, out);
    sent_loss = out.build(graph);
}

}  // namespace assay::engine
