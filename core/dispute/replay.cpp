// SPDX-License-Identifier: Apache-2.0
// What a party's replay keeps of its hashes.
#include <core/dispute/player.hpp>

#include <utility>

namespace assay::dispute {

using canonical::Tensor;

namespace {

/// The commitment of a tensor whose tiles are the leaves of `tiles`.
Hash256 commit_tiles(const Tensor& tensor, const merkle::Tree& tiles) {
    return tensor_commitment({.dtype = tensor.dtype, .shape = tensor.shape}, tiles.root());
}

}  // namespace

Replay::Trees& Replay::trees_at(std::uint64_t step) {
    std::erase_if(trees_, [step](const auto& item) { return item.first + 1 < step || item.first > step + 1; });
    return trees_[step];
}

const merkle::Tree& Replay::tiles_of(
    std::map<std::uint32_t, merkle::Tree>& trees, std::uint32_t index, const Tensor& tensor
) {
    auto found = trees.find(index);
    if (found == trees.end()) {
        ++tensors_hashed_;
        found = trees.emplace(index, tile_tree(tensor)).first;
    }
    return found->second;
}

std::vector<Hash256> Replay::commit_outputs(std::uint64_t step) {
    std::vector<Hash256> out;
    for (std::uint32_t node = 0; node + 1 < graph().size(); ++node) {
        out.push_back(commit_tensor(node_output(step, node)));
    }
    return out;
}

const std::vector<Hash256>& Replay::output_commitments(std::uint64_t step) {
    constexpr std::size_t kKept = 64;
    if (const auto known = commitments_.find(step); known != commitments_.end()) {
        return known->second;
    }
    std::vector<Hash256> commitments = commit_outputs(step);
    tensors_hashed_ += commitments.size();
    if (committed_.size() == kKept) {
        commitments_.erase(committed_.front());
        committed_.erase(committed_.begin());
    }
    committed_.push_back(step);
    return commitments_.emplace(step, std::move(commitments)).first->second;
}

const merkle::Tree& Replay::output_tiles(std::uint64_t step, std::uint32_t node) {
    return tiles_of(trees_at(step).outputs, node, node_output(step, node));
}

const merkle::Tree& Replay::state_tiles(std::uint64_t step, std::uint32_t tensor) {
    return tiles_of(trees_at(step).tensors, tensor, state_tensor(step, tensor));
}

const merkle::Tree& Replay::state_tree(std::uint64_t step) {
    Trees& trees = trees_at(step);
    if (!trees.state) {
        std::vector<Hash256> leaves;
        const std::size_t count = state_size(step);
        for (std::uint32_t i = 0; i < count; ++i) {
            const Tensor& tensor = state_tensor(step, i);
            // TRC-3: an empty place in a state has no tiles.
            leaves.push_back(
                tensor.shape.element_count() == 0 ? commit_tensor(tensor)
                                                  : commit_tiles(tensor, tiles_of(trees.tensors, i, tensor))
            );
        }
        trees.state.emplace(std::move(leaves));
    }
    return *trees.state;
}

std::vector<Hash256> step_entries(Replay& replay, std::uint64_t step) {
    std::vector<Hash256> entries = replay.output_commitments(step);
    entries.push_back(replay.state_root_after(step));
    return entries;
}

}  // namespace assay::dispute
