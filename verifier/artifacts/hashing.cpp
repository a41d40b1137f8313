// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/hashing.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <core/base/assert.hpp>
#include <core/crypto/hash_batch.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/tile_leaves.hpp>
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
            std::ranges::copy(
                dispute::tile_leaves(*tensors[parts[i].tensor], parts[i].first, end),
                out.begin() + static_cast<std::ptrdiff_t>(parts[i].first)
            );
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

}  // namespace

Hash256 commit_leaves(const canonical::TensorType& type, std::vector<Hash256> leaves) {
    if (leaves.empty()) {
        return dispute::commit_tensor(canonical::make_tensor(type.dtype, type.shape));
    }
    const merkle::Tree tiles(std::move(leaves));
    return dispute::tensor_commitment(type, tiles.root());
}

void hash_rows(const canonical::TensorType& rows, const std::byte* data, std::span<Hash256> leaves) {
    const std::size_t size = canonical::size_of(rows.dtype);
    const std::uint64_t count = canonical::tile_count(rows.shape);
    const std::uint32_t across = canonical::tile_cols(rows.shape);
    ASSERT(leaves.size() >= count);
    crypto::HashBatch batch(dispute::tile_tag());
    canonical::Tile tile = canonical::make_tile(rows.dtype);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t row = i / across * canonical::kTileDim;
        const std::size_t col = i % across * canonical::kTileDim;
        const std::size_t height = std::min<std::size_t>(canonical::kTileDim, rows.shape.rows - row);
        const std::size_t width = std::min<std::size_t>(canonical::kTileDim, rows.shape.cols - col);
        if (height < canonical::kTileDim || width < canonical::kTileDim) {
            std::fill(tile.data.begin(), tile.data.end(), std::uint8_t{0});
        }
        for (std::size_t r = 0; r < height; ++r) {
            const std::byte* from = data + ((row + r) * rows.shape.cols + col) * size;
            std::memcpy(tile.data.data() + r * canonical::kTileDim * size, from, width * size);
        }
        batch.add(tile.data);
    }
    std::ranges::copy(batch.finish(), leaves.begin());
}

Hash256 commit_tensor(const Tensor& tensor, int threads) {
    if (tensor.shape.element_count() == 0) {
        return dispute::commit_tensor(tensor);
    }
    const Tensor* const only = &tensor;
    return commit_leaves(
        {.dtype = tensor.dtype, .shape = tensor.shape}, std::move(hash_tiles({&only, 1}, threads).front())
    );
}

Leaves leaves_of(std::span<const Tensor> state, int threads) {
    std::vector<const Tensor*> tensors;
    for (const Tensor& tensor : state) {
        tensors.push_back(&tensor);
    }
    return hash_tiles(tensors, threads);
}

Leaves leaves_of(std::span<const Tensor> state, const Leaves& known) {
    std::vector<const Tensor*> tensors;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (known.empty() || known[i].empty()) {
            tensors.push_back(&state[i]);
            places.push_back(i);
        }
    }
    Leaves hashed = hash_tiles(tensors, 0);
    Leaves out = known;
    out.resize(state.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        out[places[i]] = std::move(hashed[i]);
    }
    return out;
}

Hash256 root_of_leaves(std::span<const canonical::TensorType> types, Leaves leaves) {
    ASSERT(types.size() == leaves.size());
    std::vector<Hash256> commitments;
    for (std::size_t i = 0; i < types.size(); ++i) {
        commitments.push_back(commit_leaves(types[i], std::move(leaves[i])));
    }
    return dispute::state_root(commitments);
}

Bytes encode_leaves(const Leaves& leaves) {
    Bytes out;
    for (const std::vector<Hash256>& tensor : leaves) {
        for (const Hash256& leaf : tensor) {
            append(out, leaf.view());
        }
    }
    return out;
}

std::uint64_t leaves_bytes(std::span<const canonical::TensorType> types) {
    std::uint64_t count = 0;
    for (const canonical::TensorType& type : types) {
        count += canonical::tile_count(type.shape);
    }
    return count * Hash256::kSizeBytes;
}

Leaves split_leaves(std::span<const canonical::TensorType> types, ByteView bytes) {
    ASSERT(bytes.size() == leaves_bytes(types));
    Leaves leaves;
    for (const canonical::TensorType& type : types) {
        std::vector<Hash256>& tensor = leaves.emplace_back(canonical::tile_count(type.shape));
        for (Hash256& leaf : tensor) {
            std::copy_n(bytes.begin(), Hash256::kSizeBytes, leaf.data.begin());
            bytes = bytes.subspan(Hash256::kSizeBytes);
        }
    }
    return leaves;
}

std::optional<Leaves> decode_leaves(std::span<const canonical::TensorType> types, const Hash256& root, ByteView bytes) {
    if (bytes.size() != leaves_bytes(types)) {
        return std::nullopt;
    }
    Leaves leaves = split_leaves(types, bytes);
    return root_of_leaves(types, leaves) == root ? std::optional(std::move(leaves)) : std::nullopt;
}

Hash256 state_root_of(std::span<const Tensor> state, int threads) {
    std::vector<canonical::TensorType> types;
    for (const Tensor& tensor : state) {
        types.push_back({.dtype = tensor.dtype, .shape = tensor.shape});
    }
    return root_of_leaves(types, leaves_of(state, threads));
}

Hash256 state_root_of(std::size_t count, const std::function<Tensor(std::size_t)>& tensor) {
    std::vector<Hash256> commitments;
    for (std::size_t i = 0; i < count; ++i) {
        commitments.push_back(commit_tensor(tensor(i)));
    }
    return dispute::state_root(commitments);
}

}  // namespace assay::artifacts
