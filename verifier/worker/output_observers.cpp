// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/output_observers.hpp>

#include <cstring>
#include <span>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/artifacts/hashing.hpp>

namespace assay::worker {
namespace {

canonical::TensorType type_of(const canonical::Node& node) { return {.dtype = node.dtype, .shape = node.shape}; }

}  // namespace

OutputCommitments::OutputCommitments(const canonical::Graph& graph)
    : graph_(graph), partly_(graph.size() - 1), commitments_(graph.size() - 1) {}

void OutputCommitments::see(const engine::OutputRows& rows) {
    const canonical::TensorType type = type_of(graph_[rows.node]);
    Partly& partly = partly_[rows.node];
    std::call_once(partly.begun, [&] {
        partly.leaves.resize(canonical::tile_count(type.shape));
        partly.rows_left = type.shape.rows;
    });
    artifacts::hash_rows(
        {.dtype = type.dtype, .shape = {.rows = rows.count, .cols = type.shape.cols}}, rows.data,
        std::span(partly.leaves).subspan(std::uint64_t{rows.first} / canonical::kTileDim * tile_cols(type.shape))
    );
    if (partly.rows_left.fetch_sub(rows.count) == rows.count) {
        commitments_[rows.node] = artifacts::commit_leaves(type, std::exchange(partly.leaves, {}));
    }
}

std::vector<Hash256> OutputCommitments::take() { return std::move(commitments_); }

CollectedOutputs::CollectedOutputs(const canonical::Graph& graph, const std::set<std::uint32_t>& nodes) {
    for (const std::uint32_t node : nodes) {
        outputs_.emplace(node, canonical::make_tensor(graph[node].dtype, graph[node].shape));
        rows_left_ += graph[node].shape.rows;
    }
}

void CollectedOutputs::see(const engine::OutputRows& rows) {
    const auto found = outputs_.find(rows.node);
    if (found == outputs_.end()) {
        return;
    }
    canonical::Tensor& out = found->second;
    const std::size_t row_bytes = std::size_t{out.shape.cols} * canonical::size_of(out.dtype);
    ASSERT(std::uint64_t{rows.first} + rows.count <= out.shape.rows);
    std::memcpy(out.data.data() + rows.first * row_bytes, rows.data, rows.count * row_bytes);
    rows_left_ -= rows.count;
}

}  // namespace assay::worker
