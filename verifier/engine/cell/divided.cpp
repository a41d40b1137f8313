// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <core/base/assert.hpp>
#include <verifier/engine/cell/block_io.hpp>
#include <verifier/engine/cell/cell_rank.hpp>

// Reductions whose depth the ranks divide.
namespace assay::engine {

using canonical::Node;
using canonical::Op;
using canonical::StepContext;
using canonical::Tensor;
using plan::Block;
using plan::NodePlan;

namespace {

bool is_maximum(Op op) { return op == Op::kRowExponent || op == Op::kRowMax; }

}  // namespace

// This rank's part of a divided reduction: of a product the exact sums of each chunk that it has positions of.
CellExecutor::Impl::Parts CellExecutor::Impl::compute_parts(
    const Work& work, const std::vector<Slot>& inputs, const StepContext& context
) {
    const std::uint32_t node = work.item.node;
    const Node& n = graph[node];
    const NodePlan& node_plan = plan.nodes[node];
    const plan::IndexSet& depth = node_plan.depth[rank];
    Parts out{plan::chunks_of_part(n, depth), {}};
    if (depth.is_empty()) {
        return out;
    }
    if (n.op == Op::kRowExponent) {
        out.tensors.push_back(cell::magnitudes(n, node_plan.work[rank], depth, backend->load(inputs[0])));
    } else if (n.op != Op::kContract) {
        const Slot slot = compute(work, inputs, context);
        out.tensors.push_back(backend->load(slot));
        release(slot);
    } else {
        Task task = local_task(work, inputs);
        task.output = first_temporary + 4;
        const Slot left = first_temporary + 5;
        const Slot right = first_temporary + 6;
        for (const std::uint32_t chunk : out.chunks) {
            const std::uint64_t end = std::min<std::uint64_t>(
                (chunk + std::uint64_t{1}) * n.attributes[1], std::uint64_t{n.inputs[0].shape.cols}
            );
            const plan::IndexSet own =
                intersection(depth, plan::IndexSet(chunk * n.attributes[1], static_cast<std::uint32_t>(end)));
            if (own != depth) {
                const auto slice = [&](std::size_t k, Slot to) {
                    const Block& block = work.needs[k];
                    store(to, cell::take_block(backend->load(inputs[k]), block, {block.rows, own}));
                    task.inputs[k] = to;
                    task.node.inputs[k].shape.cols = own.count();
                };
                slice(0, left);
                slice(2, right);
            }
            backend->accumulate(task);
            out.tensors.push_back(backend->load(task.output));
            backend->release(task.output);
        }
        release(left);
        release(right);
    }
    return out;
}

std::vector<Bytes> CellExecutor::Impl::exchange_parts(const Work& work, const Parts& parts) {
    const std::uint32_t node = work.item.node;
    const NodePlan& node_plan = plan.nodes[node];
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    std::vector<Bytes> messages(collective.size());
    std::vector<std::uint64_t> expected(collective.size());
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other == rank || node_plan.work[other] != node_plan.work[rank] || node_plan.work[rank].is_empty()) {
            continue;
        }
        for (const Tensor& tensor : parts.tensors) {
            if (node_plan.finished[other].is_empty()) {
                break;
            }
            const Tensor block = cell::take_block(tensor, node_plan.work[rank], node_plan.finished[other]);
            if (is_maximum(graph[node].op)) {
                messages[other].insert(messages[other].end(), block.data.begin(), block.data.end());
            } else {
                const auto* values = reinterpret_cast<const std::int64_t*>(block.data.data());
                cell::append_narrow(values, block.shape.element_count(), width, messages[other]);
            }
        }
        expected[other] = plan::chunks_of_part(graph[node], node_plan.depth[other]).size() *
                          node_plan.finished[rank].element_count() * width;
    }
    return exchange(std::move(messages), expected, tag_of(work.item, Message::kParts));
}

// The sums of each chunk over all ranks, of what this rank finishes.
std::vector<std::vector<std::int64_t>> CellExecutor::Impl::add_up(
    std::uint32_t node, const Parts& parts, const std::vector<Bytes>& received, std::size_t chunks
) {
    const NodePlan& node_plan = plan.nodes[node];
    const Block& block = node_plan.finished[rank];
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    std::vector<std::vector<std::int64_t>> sums(chunks, std::vector<std::int64_t>(block.element_count()));
    const std::size_t size = block.element_count() * width;
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other == rank) {
            for (std::size_t i = 0; i < parts.tensors.size(); ++i) {
                const Tensor own = cell::take_block(parts.tensors[i], node_plan.work[rank], block);
                cell::add_narrow(own.data, 8, sums[parts.chunks[i]].data());
            }
        } else if (!received[other].empty()) {
            const auto theirs = plan::chunks_of_part(graph[node], node_plan.depth[other]);
            for (std::size_t i = 0; i < theirs.size(); ++i) {
                cell::add_narrow(ByteView(received[other]).subspan(i * size, size), width, sums[theirs[i]].data());
            }
        }
    }
    return sums;
}

// The same of maxima: magnitudes order as integers.
Tensor CellExecutor::Impl::combine(std::uint32_t node, const Parts& parts, const std::vector<Bytes>& received) {
    const NodePlan& node_plan = plan.nodes[node];
    const Block& block = node_plan.finished[rank];
    std::optional<Tensor> out;
    const bool is_float = graph[node].op == Op::kRowMax && graph[node].dtype == canonical::DType::kF32;
    const auto take_larger = [&](Tensor other) {
        if (!out) {
            out = std::move(other);
            return;
        }
        const auto larger = [&](auto* best, const auto* x) {
            for (std::size_t i = 0; i < out->shape.element_count(); ++i) {
                best[i] = x[i] > best[i] ? x[i] : best[i];
            }
        };
        if (is_float) {
            larger(reinterpret_cast<float*>(out->data.data()), reinterpret_cast<const float*>(other.data.data()));
        } else {
            larger(
                reinterpret_cast<std::int32_t*>(out->data.data()),
                reinterpret_cast<const std::int32_t*>(other.data.data())
            );
        }
    };
    for (const Tensor& tensor : parts.tensors) {
        take_larger(cell::take_block(tensor, node_plan.work[rank], block));
    }
    for (const Bytes& message : received) {
        if (!message.empty()) {
            take_larger(Tensor{graph[node].dtype, block.shape(), message});
        }
    }
    ASSERT(out.has_value());
    return graph[node].op == Op::kRowExponent ? cell::exponents_of(*out) : *std::move(out);
}

Tensor CellExecutor::Impl::finish(
    std::uint32_t node, const Parts& parts, const std::vector<Bytes>& received, const std::vector<Slot>& inputs
) {
    const Node& n = graph[node];
    const Block& block = plan.nodes[node].finished[rank];
    if (is_maximum(n.op)) {
        return combine(node, parts, received);
    }
    if (n.op == Op::kContract) {
        const Tensor exponent_a = backend->load(inputs[1]);
        const Tensor exponent_b = backend->load(inputs[3]);
        const auto sums = add_up(node, parts, received, exponent_a.shape.cols);
        return cell::finish_product(n, block, sums, exponent_a, exponent_b);
    }
    const auto sums = add_up(node, parts, received, 1);
    Tensor out = canonical::make_tensor(n.dtype, block.shape());
    std::memcpy(out.data.data(), sums[0].data(), out.data.size());
    return out;
}

}  // namespace assay::engine
