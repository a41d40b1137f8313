// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

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

bool CellExecutor::Impl::shares_parts(std::uint32_t node, std::uint32_t other) const {
    const plan::Placement& work = plan.nodes[node].work;
    return other != rank && !work[rank].is_empty() && work[other] == work[rank];
}

// This rank's part of a divided reduction, as it is sent and as it is added up.
void CellExecutor::Impl::compute_parts(std::size_t index, const std::vector<Slot>& inputs, const StepContext& context) {
    const Work& work = works[index];
    const std::uint32_t node = work.item.node;
    const plan::Placement& finished = plan.nodes[node].finished;
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    Waiting& out = waiting[index];
    out.parts.resize(collective.size());
    std::vector<std::uint32_t> others;
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (shares_parts(node, other) && !finished[other].is_empty()) {
            others.push_back(other);
            out.parts[other].reserve(work.slices.size() * finished[other].element_count() * width);
        }
    }
    std::uint64_t size = 0;
    for (const plan::PartSlice& slice : work.slices) {
        const Tensor part = compute_part(work, inputs, slice, context);
        for (const std::uint32_t other : others) {
            const Tensor block = cell::take_block(part, work.block, finished[other]);
            if (is_maximum(graph[node].op)) {
                append(out.parts[other], block.data);
            } else {
                const auto* values = reinterpret_cast<const std::int64_t*>(block.data.data());
                cell::append_narrow(values, block.shape.element_count(), width, out.parts[other]);
            }
        }
        if (!work.finished.is_empty()) {
            out.own.push_back(cell::take_block(part, work.block, work.finished));
            size += out.own.back().data.size();
        }
    }
    if (graph[node].op == Op::kContract && !work.finished.is_empty()) {
        out.exponents = {backend->load(inputs[1]), backend->load(inputs[3])};
    }
    for (const Bytes& part : out.parts) {
        size += part.size();
    }
    keep(out, size);
}

// The sums of each chunk over all ranks, of what this rank finishes.
std::vector<std::vector<std::int64_t>> CellExecutor::Impl::add_up(
    const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived, std::size_t chunks
) const {
    const std::uint32_t node = work.item.node;
    const std::size_t elements = work.finished.element_count();
    const std::uint32_t width = plan::accumulator_bytes(graph, node);
    std::vector<std::vector<std::int64_t>> sums(chunks, std::vector<std::int64_t>(elements));
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        if (other == rank) {
            for (std::size_t i = 0; i < parts.own.size(); ++i) {
                cell::add_narrow(parts.own[i].data, 8, sums[work.slices[i].chunk].data());
            }
        } else if (share.expected[other] != 0) {
            const auto theirs = slices_of(node, other);
            for (std::size_t i = 0; i < theirs.size(); ++i) {
                const ByteView part = arrived.from(other, i * elements * width, elements * width);
                cell::add_narrow(part, width, sums[theirs[i].chunk].data());
            }
        }
    }
    return sums;
}

// The same of maxima: magnitudes order as integers.
Tensor CellExecutor::Impl::combine(const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived)
    const {
    const std::uint32_t node = work.item.node;
    const Block& block = work.finished;
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
    std::for_each(parts.own.begin(), parts.own.end(), take_larger);
    const std::size_t size = block.element_count() * sizeof(std::uint32_t);
    for (std::uint32_t other = 0; other < collective.size(); ++other) {
        for (std::size_t at = 0; at < share.expected[other]; at += size) {
            const ByteView part = arrived.from(other, at, size);
            take_larger(Tensor{graph[node].dtype, block.shape(), {part.begin(), part.end()}});
        }
    }
    ASSERT(out.has_value());
    return graph[node].op == Op::kRowExponent ? cell::exponents_of(*out) : *std::move(out);
}

Tensor CellExecutor::Impl::finish(const Work& work, const Waiting& parts, const Share& share, const Arrived& arrived)
    const {
    const Node& n = graph[work.item.node];
    if (is_maximum(n.op)) {
        return combine(work, parts, share, arrived);
    }
    if (n.op == Op::kContract) {
        const Tensor& exponent_a = parts.exponents[0];
        const auto sums = add_up(work, parts, share, arrived, exponent_a.shape.cols);
        return cell::finish_product(n, work.finished, sums, exponent_a, parts.exponents[1]);
    }
    const auto sums = add_up(work, parts, share, arrived, 1);
    Tensor out = canonical::make_tensor(n.dtype, work.finished.shape());
    std::memcpy(out.data.data(), sums[0].data(), out.data.size());
    return out;
}

}  // namespace assay::engine
