// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/seal.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/files/workers.hpp>
#include <core/sealed/ladder.hpp>

namespace assay::sealed {
namespace {

/// Returns the plaintext of a chunk of one group; called by several threads.
using Plaintext = std::function<Bytes(std::uint64_t)>;

/// The hashes that the chunks of a group contain: `levels[l]` are those of level l, which is not 0.
struct Nodes {
    std::vector<std::vector<Hash256>> levels;
    Hash256 root;
};

/// Seals chunks in order, and writes them.
class Sealer {
  public:
    Sealer(
        const TaskSecret& secret, const Artifact& artifact, const Layout& layout, const ByteSink& out,
        const Effort& effort
    )
        : secret_(secret), artifact_(artifact), layout_(layout), out_(out), meter_(effort, layout.chunk_count()) {
        out_(encode_header(layout.header()));
    }

    void add_group(const Plaintext& plaintext) {
        const auto group = static_cast<std::uint32_t>(leaves_.size());
        const std::uint32_t chunks = layout_.chunk_count(group);
        std::vector<Hash256>& leaves = leaves_.emplace_back(chunks);
        for (std::uint64_t first = 0; first < chunks; first += kBatchChunks) {
            const std::uint64_t count = std::min<std::uint64_t>(kBatchChunks, chunks - first);
            std::vector<Bytes> batch(count);
            for_each_number(count, meter_.threads(), [&](std::uint64_t i) {
                const auto chunk = static_cast<std::uint32_t>(first + i);
                const ChunkName name{
                    .task = artifact_.task, .artifact = artifact_.name, .group = group, .chunk = chunk};
                batch[i] = seal_chunk(secret_, name, plaintext(chunk));
                ASSERT(batch[i].size() == layout_.sealed_bytes(group, chunk));
                leaves[chunk] = sealed_leaf(batch[i]);
            });
            for (const Bytes& sealed : batch) {
                out_(sealed);
            }
            meter_.add(count);
        }
    }
    SealedLeaves take_leaves() { return std::move(leaves_); }

  private:
    const TaskSecret& secret_;
    const Artifact& artifact_;
    const Layout& layout_;
    const ByteSink& out_;
    Meter meter_;
    SealedLeaves leaves_;
};

/// The tiles of a chunk, padded, one after another.
Bytes tiles_of(const canonical::Tensor& tensor, const ChunkPlace& place) {
    Bytes out;
    out.reserve(kChunkBytes);
    for (std::uint32_t i = 0; i < place.item_count; ++i) {
        append(out, canonical::tile_of(tensor, place.first_item + i).data);
    }
    return out;
}

Bytes entries_of(const std::vector<ListEntry>& list, const ChunkPlace& place) {
    Bytes out;
    for (std::uint32_t i = 0; i < place.item_count; ++i) {
        append(out, codec::encode(list[place.first_item + i]));
    }
    return out;
}

Bytes hashes_of(const std::vector<Hash256>& hashes, const ChunkPlace& place) {
    Bytes out;
    out.reserve(kChunkBytes);
    for (std::uint32_t i = 0; i < place.item_count; ++i) {
        append(out, hashes[place.first_item + i].view());
    }
    return out;
}

/// Folds the chunks of each level to the hashes of the next one. `lowest` returns the plaintext at a place of level 0.
Nodes fold_group(const Ladder& ladder, unsigned threads, const std::function<Bytes(const ChunkPlace&)>& lowest) {
    Nodes out;
    out.levels.resize(ladder.level_count());
    for (std::uint32_t level = 0; level < ladder.level_count(); ++level) {
        std::vector<Hash256> folded(ladder.chunks_of(level));
        for_each_number(folded.size(), threads, [&](std::uint64_t i) {
            const ChunkPlace place = ladder.place(ladder.first_chunk(level) + i);
            folded[i] = *ladder.fold(place, level == 0 ? lowest(place) : hashes_of(out.levels[level], place));
        });
        if (level + 1 == ladder.level_count()) {
            out.root = folded.front();
        } else {
            out.levels[level + 1] = std::move(folded);
        }
    }
    return out;
}

Plaintext plaintext_of(
    const Ladder& ladder, const Nodes& nodes, const std::function<Bytes(const ChunkPlace&)>& lowest
) {
    return [&ladder, &nodes, lowest](std::uint64_t chunk) {
        const ChunkPlace place = ladder.place(chunk);
        return place.level == 0 ? lowest(place) : hashes_of(nodes.levels[place.level], place);
    };
}

Bytes part_of(const ByteSource& blob, std::uint64_t first, std::uint64_t size) {
    Bytes out(std::min(size, blob.size() - first));
    blob.read(first, out);
    return out;
}

Hash256 hash_of(const ByteSource& blob) {
    constexpr std::uint64_t kPiece = 1U << 20U;
    crypto::Sha256 hash;
    for (std::uint64_t at = 0; at < blob.size(); at += kPiece) {
        hash.update(part_of(blob, at, kPiece));
    }
    return hash.finish();
}

}  // namespace

std::vector<canonical::TensorType> StateInMemory::types() const {
    std::vector<canonical::TensorType> out;
    out.reserve(tensors_.size());
    for (const canonical::Tensor& tensor : tensors_) {
        out.push_back({.dtype = tensor.dtype, .shape = tensor.shape});
    }
    return out;
}

Result<SealedLeaves, SealError> seal_state(
    TensorSource& state, const TaskSecret& secret, const Artifact& artifact, const ByteSink& out, const Effort& effort
) {
    const std::vector<canonical::TensorType> types = state.types();
    const auto layout = layout_of_state(types);
    if (!layout) {
        return Unexpected{SealError::kTensors};
    }
    const auto count = static_cast<std::uint32_t>(types.size());
    std::vector<Nodes> nodes;
    std::vector<ListEntry> list;
    for (std::uint32_t i = 0; i < count; ++i) {
        const canonical::Tensor& tensor = state.tensor(i);
        nodes.push_back(fold_group(Ladder::of_tensor(types[i]), effort.threads, [&](const ChunkPlace& place) {
            return tiles_of(tensor, place);
        }));
        list.push_back({.type = types[i], .tile_root = nodes.back().root});
    }
    const Ladder list_ladder = Ladder::of_list(count);
    const auto entries = [&list](const ChunkPlace& place) { return entries_of(list, place); };
    const Nodes list_nodes = fold_group(list_ladder, 1, entries);
    if (dispute::state_root_from(count, list_nodes.root) != artifact.name) {
        return Unexpected{SealError::kArtifact};
    }
    Sealer sealer(secret, artifact, *layout, out, effort);
    sealer.add_group(plaintext_of(list_ladder, list_nodes, entries));
    for (std::uint32_t i = 0; i < count; ++i) {
        const canonical::Tensor& tensor = state.tensor(i);
        const Ladder ladder = Ladder::of_tensor(types[i]);
        sealer.add_group(plaintext_of(ladder, nodes[i], [&tensor](const ChunkPlace& place) {
            return tiles_of(tensor, place);
        }));
    }
    return sealer.take_leaves();
}

Result<SealedLeaves, SealError> seal_blob(
    const ByteSource& blob, const TaskSecret& secret, const Artifact& artifact, const ByteSink& out,
    const Effort& effort
) {
    const auto layout = layout_of_blob(blob.size());
    if (!layout) {
        return Unexpected{SealError::kTooLarge};
    }
    if (hash_of(blob) != artifact.name) {
        return Unexpected{SealError::kArtifact};
    }
    Sealer sealer(secret, artifact, *layout, out, effort);
    sealer.add_group([&blob](std::uint64_t chunk) { return part_of(blob, chunk * kChunkBytes, kChunkBytes); });
    return sealer.take_leaves();
}

Result<SealedFile, SealError> seal_state(
    std::span<const canonical::Tensor> state, const TaskSecret& secret, const Artifact& artifact, const Effort& effort
) {
    SealedFile out;
    StateInMemory source(state);
    TRY_ASSIGN(
        const SealedLeaves leaves,
        seal_state(
            source, secret, artifact, [&out](ByteView part) { append(out.bytes, part); }, effort
        )
    );
    out.root = sealed_root(leaves);
    return out;
}

Result<SealedFile, SealError> seal_blob(
    ByteView blob, const TaskSecret& secret, const Artifact& artifact, const Effort& effort
) {
    SealedFile out;
    TRY_ASSIGN(
        const SealedLeaves leaves,
        seal_blob(
            MemorySource(blob), secret, artifact, [&out](ByteView part) { append(out.bytes, part); }, effort
        )
    );
    out.root = sealed_root(leaves);
    return out;
}

}  // namespace assay::sealed
