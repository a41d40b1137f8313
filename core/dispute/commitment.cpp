// SPDX-License-Identifier: Apache-2.0
#include <core/dispute/commitment.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/work.hpp>

namespace assay::dispute {
namespace {

using canonical::Graph;
using canonical::Tensor;

template <class Items, class Leaf>
merkle::Tree tree_over(const Items& items, Leaf leaf) {
    std::vector<Hash256> leaves;
    leaves.reserve(items.size());
    for (const auto& item : items) {
        leaves.push_back(leaf(item));
    }
    return merkle::Tree(std::move(leaves));
}

}  // namespace

const crypto::TaggedHash& tile_tag() noexcept {
    static const crypto::TaggedHash kHash("assay/tile");
    return kHash;
}

Hash256 tile_leaf(const canonical::Tile& tile) noexcept { return tile_tag()(tile.data); }

Hash256 tensor_commitment(const canonical::TensorType& type, const Hash256& tile_root) noexcept {
    static const crypto::TaggedHash kHash("assay/tensor");
    return kHash(codec::encode(type), tile_root.view());
}

merkle::Tree tile_tree(const Tensor& tensor) {
    const std::uint64_t count = canonical::tile_count(tensor.shape);
    std::vector<Hash256> leaves;
    leaves.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        leaves.push_back(tile_leaf(canonical::tile_of(tensor, i)));
    }
    return merkle::Tree(std::move(leaves));
}

Hash256 commit_tensor(const Tensor& tensor) {
    if (tensor.shape.element_count() == 0) {
        return merkle::empty_root(0);
    }
    return tensor_commitment({.dtype = tensor.dtype, .shape = tensor.shape}, tile_tree(tensor).root());
}

Hash256 state_root(std::span<const Hash256> tensor_commitments) noexcept {
    ASSERT(!tensor_commitments.empty());
    return state_root_from(static_cast<std::uint32_t>(tensor_commitments.size()), merkle::root_of(tensor_commitments));
}

Hash256 state_root_from(std::uint32_t tensor_count, const Hash256& merkle_root) noexcept {
    static const crypto::TaggedHash kHash("assay/state");
    return kHash(codec::encode(tensor_count), merkle_root.view());
}

Hash256 diverged_root(std::uint64_t step, const Hash256& state_root) noexcept {
    static const crypto::TaggedHash kHash("assay/diverged");
    return kHash(codec::encode(step), state_root.view());
}

Hash256 accumulator_hash(const canonical::Accumulator& accumulator) noexcept {
    static const crypto::TaggedHash kHash("assay/partial");
    return kHash(accumulator.data);
}

Hash256 node_hash(const canonical::Node& node) noexcept {
    if (node.op == canonical::Op::kCommit) {
        return commit_hash(static_cast<std::uint32_t>(node.inputs.size()), input_tree(node).root());
    }
    static const crypto::TaggedHash kHash("assay/node");
    return kHash(codec::encode(node));
}

Hash256 commit_hash(std::uint32_t input_count, const Hash256& inputs_root) noexcept {
    static const crypto::TaggedHash kHash("assay/commit");
    return kHash(codec::encode(input_count), inputs_root.view());
}

Hash256 input_leaf(const canonical::Input& input) noexcept {
    static const crypto::TaggedHash kHash("assay/input");
    return kHash(codec::encode(input));
}

merkle::Tree input_tree(const canonical::Node& commit) {
    ASSERT(commit.op == canonical::Op::kCommit && !commit.inputs.empty());
    return tree_over(commit.inputs, input_leaf);
}

merkle::Tree graph_tree(const Graph& graph) { return tree_over(graph, node_hash); }

Hash256 chunk_leaf(ByteView chunk) noexcept {
    static const crypto::TaggedHash kHash("assay/chunk");
    return kHash(chunk);
}

merkle::Tree dataset_tree(const canonical::RowSource& rows) {
    const std::uint64_t count = canonical::chunk_count(rows.shape());
    std::vector<Hash256> leaves;
    leaves.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        leaves.push_back(chunk_leaf(rows.chunk(i)));
    }
    return merkle::Tree(std::move(leaves));
}

Hash256 program_id(const ProgramCommitment& commitment) noexcept {
    static const crypto::TaggedHash kHash("assay/program");
    return kHash(codec::encode(commitment));
}

ProgramCommitment commit_program(
    const Graph& init, const Graph& step, std::uint32_t state_tensors, std::uint32_t batch_size,
    const canonical::DatasetShape& dataset, const InitialTensors& initial
) {
    return {
        .state_tensors = state_tensors,
        .init_nodes = static_cast<std::uint32_t>(init.size()),
        .step_nodes = static_cast<std::uint32_t>(step.size()),
        .init_root = graph_tree(init).root(),
        .step_root = graph_tree(step).root(),
        .batch_size = batch_size,
        .dataset = dataset,
        .initial_tensors = initial.count,
        .initial_root = initial.root,
        .init_work = work_of(init),
        .step_work = work_of(step),
        .memory = std::max(memory_of(init), memory_of(step)),
        .outputs = std::max(outputs_of(init), outputs_of(step)),
    };
}

}  // namespace assay::dispute
