// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/hashing.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>

namespace assay::artifacts {

using canonical::Tensor;

namespace {

constexpr std::uint64_t kTilesAtOnce = 64;  // a quarter of a MiB: a thread takes so many at a time

/// Hashes the tiles of all tensors; leaves[i] are those of tensor i.
std::vector<std::vector<Hash256>> hash_tiles(std::span<const Tensor* const> tensors, int threads) {
    struct Part {
        std::size_t tensor = 0;
        std::uint64_t first = 0;
    };
    std::vector<std::vector<Hash256>> leaves(tensors.size());
    std::vector<Part> parts;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        leaves[i].resize(canonical::tile_count(tensors[i]->shape));
        for (std::uint64_t first = 0; first < leaves[i].size(); first += kTilesAtOnce) {
            parts.push_back({.tensor = i, .first = first});
        }
    }
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < parts.size(); i = next++) {
            std::vector<Hash256>& out = leaves[parts[i].tensor];
            const std::uint64_t end = std::min<std::uint64_t>(parts[i].first + kTilesAtOnce, out.size());
            for (std::uint64_t tile = parts[i].first; tile < end; ++tile) {
                out[tile] = dispute::tile_leaf(canonical::tile_of(*tensors[parts[i].tensor], tile));
            }
        }
    };
    {
        const std::size_t wanted = threads > 0 ? static_cast<unsigned>(threads) : std::thread::hardware_concurrency();
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < std::min(wanted, parts.size() / 2); ++i) {
            others.emplace_back(work);
        }
        work();
    }
    return leaves;
}

Hash256 commit_leaves(const Tensor& tensor, std::vector<Hash256> leaves) {
    const merkle::Tree tiles(std::move(leaves));
    return dispute::tensor_commitment({.dtype = tensor.dtype, .shape = tensor.shape}, tiles.root());
}

}  // namespace

Hash256 commit_tensor(const Tensor& tensor, int threads) {
    if (tensor.shape.element_count() == 0) {
        return dispute::commit_tensor(tensor);
    }
    const Tensor* const only = &tensor;
    return commit_leaves(tensor, std::move(hash_tiles({&only, 1}, threads).front()));
}

Hash256 state_root_of(std::span<const Tensor> state, int threads) {
    std::vector<const Tensor*> tensors;
    for (const Tensor& tensor : state) {
        tensors.push_back(&tensor);
    }
    std::vector<std::vector<Hash256>> leaves = hash_tiles(tensors, threads);
    std::vector<Hash256> commitments;
    for (std::size_t i = 0; i < state.size(); ++i) {
        commitments.push_back(
            leaves[i].empty() ? dispute::commit_tensor(state[i]) : commit_leaves(state[i], std::move(leaves[i]))
        );
    }
    return dispute::state_root(commitments);
}

}  // namespace assay::artifacts
