// SPDX-License-Identifier: Apache-2.0
#include <array>
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

std::vector<plan::PartSlice> CellExecutor::Impl::slices_of(std::uint32_t node, std::uint32_t of) const {
    return plan::slices_of_part(graph[node], plan.nodes[node].depth[of], is_stated);
}

// What this rank has of some positions of a divided reduction: of a product the exact sums.
Tensor CellExecutor::Impl::compute_part(
    const Work& work, const std::vector<Slot>& inputs, const plan::PartSlice& slice, const StepContext& context
) {
    const Node& n = graph[work.item.node];
    const NodePlan& node_plan = plan.nodes[work.item.node];
    const bool is_all = slice.positions == node_plan.depth[rank];
    const bool is_by_rows = n.op == Op::kScatterAddRows;
    const auto slice_of = [&](std::size_t k) {
        const Block& block = work.needs[k];
        const Block wanted = is_by_rows ? Block{slice.positions, block.cols} : Block{block.rows, slice.positions};
        return cell::take_block(backend->load(inputs[k]), block, wanted);
    };
    if (n.op == Op::kRowExponent) {
        return cell::magnitudes(n, work.block, slice.positions, is_all ? backend->load(inputs[0]) : slice_of(0));
    }
    if (n.op != Op::kContract && is_all) {
        const Slot slot = compute(work, inputs, context);
        Tensor out = backend->load(slot);
        release(slot);
        return out;
    }
    Task task = local_task(work, inputs);
    task.output = first_temporary + 4;
    std::array<Slot, 2> sliced{first_temporary + 5, first_temporary + 6};
    for (std::size_t i = 0; i < sliced.size() && !is_all; ++i) {
        const std::size_t k = n.op == Op::kContract ? 2 * i : i;
        if (k < inputs.size()) {
            store(sliced[i], slice_of(k));
            task.inputs[k] = sliced[i];
            (is_by_rows ? task.node.inputs[k].shape.rows : task.node.inputs[k].shape.cols) = slice.positions.count();
        }
    }
    if (n.op == Op::kContract) {
        backend->accumulate(task);
    } else {
        backend->execute(task);
    }
    Tensor out = backend->load(task.output);
    backend->release(task.output);
    release(sliced[0]);
    release(sliced[1]);
    return out;
}

// This rank's part of a divided reduction.
CellExecutor::Impl::Parts CellExecutor::Impl::compute_parts(
    const Work& work, const std::vector<Slot>& inputs, const StepContext& context
) {
    Parts out;
    for (const plan::PartSlice& slice : work.slices) {
        out.push_back(compute_part(work, inputs, slice, context));
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
        for (const Tensor& tensor : parts) {
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
        expected[other] = slices_of(node, other).size() * node_plan.finished[rank].element_count() * width;
    }
    return exchange(std::move(messages), expected, tag_of(work.item, Message::kParts), work.sent_parts);
}

// The sums of each chunk over all ranks, of what this rank finishes.
std::vector<std::vector<std::int64_t>> CellExecutor::Impl::add_up(
    const Work& work, const Parts& parts, const std::vector<Bytes>& received, std::size_t chunks
) {
    const std::uint32_t node = work.item.node;
    const NodePlan& node_plan = plan.nodes[node];
    const Block& block = node_plan.finished[rank];
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    std::vector<std::vector<std::int64_t>> sums(chunks, std::vector<std::int64_t>(block.element_count()));
    const std::size_t size = block.element_count() * width;
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other == rank) {
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const Tensor own = cell::take_block(parts[i], node_plan.work[rank], block);
                cell::add_narrow(own.data, 8, sums[work.slices[i].chunk].data());
            }
        } else if (!received[other].empty()) {
            const auto theirs = slices_of(node, other);
            for (std::size_t i = 0; i < theirs.size(); ++i) {
                cell::add_narrow(
                    ByteView(received[other]).subspan(i * size, size), width, sums[theirs[i].chunk].data()
                );
            }
        }
    }
    return sums;
}

// The same of maxima: magnitudes order as integers.
Tensor CellExecutor::Impl::combine(const Work& work, const Parts& parts, const std::vector<Bytes>& received) {
    const std::uint32_t node = work.item.node;
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
    for (const Tensor& tensor : parts) {
        take_larger(cell::take_block(tensor, node_plan.work[rank], block));
    }
    for (const Bytes& message : received) {
        const std::size_t size = block.element_count() * sizeof(std::uint32_t);
        for (std::size_t at = 0; at < message.size(); at += size) {
            const ByteView part = ByteView(message).subspan(at, size);
            take_larger(Tensor{graph[node].dtype, block.shape(), {part.begin(), part.end()}});
        }
    }
    ASSERT(out.has_value());
    return graph[node].op == Op::kRowExponent ? cell::exponents_of(*out) : *std::move(out);
}

Tensor CellExecutor::Impl::finish(
    const Work& work, const Parts& parts, const std::vector<Bytes>& received, const std::vector<Slot>& inputs
) {
    const std::uint32_t node = work.item.node;
    const Node& n = graph[node];
    const Block& block = plan.nodes[node].finished[rank];
    if (is_maximum(n.op)) {
        return combine(work, parts, received);
    }
    if (n.op == Op::kContract) {
        const Tensor exponent_a = backend->load(inputs[1]);
        const Tensor exponent_b = backend->load(inputs[3]);
        const auto sums = add_up(work, parts, received, exponent_a.shape.cols);
        return cell::finish_product(n, block, sums, exponent_a, exponent_b);
    }
    const auto sums = add_up(work, parts, received, 1);
    Tensor out = canonical::make_tensor(n.dtype, block.shape());
    std::memcpy(out.data.data(), sums[0].data(), out.data.size());
    return out;
}

}  // namespace assay::engine
