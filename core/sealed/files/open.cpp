// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/open.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open_group.hpp>
#include <core/sealed/files/workers.hpp>

namespace assay::sealed {
namespace {

using Wrong = Unexpected<OpenFailure>;

/// Opens group 0, whose file must have one for each of the tensors.
Result<std::vector<ListEntry>, OpenFailure> open_list(const OpenFile& open) {
    const auto count = static_cast<std::uint32_t>(open.reader.types.size());
    std::vector<ListEntry> list(count);
    const OpenGroup group{.index = 0, .ladder = Ladder::of_list(count), .tensor = {}};
    auto wrong = open_group(open, group, [&list](const ChunkPlace& place, ByteView entries) {
        for (std::uint32_t i = 0; i < place.item_count; ++i) {
            const ByteView entry = entries.subspan(std::size_t{i} * kListEntryBytes, kListEntryBytes);
            list[place.first_item + i] = *codec::decode<ListEntry>(entry);
        }
    });
    if (wrong) {
        return Wrong{*std::move(wrong)};
    }
    const bool has_types = std::equal(
        list.begin(), list.end(), open.reader.types.begin(), open.reader.types.end(),
        [](const ListEntry& entry, const canonical::TensorType& type) { return entry.type == type; }
    );
    if (!has_types) {
        return Wrong{OpenError::kTypes};
    }
    return list;
}

/// Stores the tiles of a chunk; false if one has padding that is not zero.
bool store_tiles(canonical::Tensor& tensor, const ChunkPlace& place, ByteView bytes) {
    const canonical::Shape shape = tensor.shape;
    const bool is_padded = shape.rows % canonical::kTileDim != 0 || shape.cols % canonical::kTileDim != 0;
    canonical::Tile tile = canonical::make_tile(tensor.dtype);
    for (std::uint32_t i = 0; i < place.item_count; ++i) {
        const std::uint64_t index = place.first_item + i;
        std::copy_n(bytes.data() + i * tile.data.size(), tile.data.size(), tile.data.begin());
        canonical::store_tile(tensor, index, tile);
        if (is_padded && canonical::tile_of(tensor, index) != tile) {
            return false;
        }
    }
    return true;
}

Result<canonical::Tensor, OpenFailure> open_tensor(
    const OpenFile& open, std::uint32_t index, const std::vector<ListEntry>& list, const merkle::Tree& state
) {
    const ListEntry& entry = list[index];
    canonical::Tensor tensor = canonical::make_tensor(entry.type.dtype, entry.type.shape);
    const OpenGroup group{
        .index = index + 1,
        .ladder = Ladder::of_tensor(entry.type),
        .tensor = TensorEntry{.type = entry.type, .tile_root = entry.tile_root, .path = state.path(index)},
    };
    std::atomic<bool> is_padded_with_zeros{true};
    auto wrong = open_group(open, group, [&](const ChunkPlace& place, ByteView tiles) {
        if (!store_tiles(tensor, place, tiles)) {
            is_padded_with_zeros = false;
        }
    });
    if (wrong) {
        return Wrong{*std::move(wrong)};
    }
    if (!is_padded_with_zeros) {
        return Wrong{OpenError::kPadding};
    }
    return tensor;
}

/// The tree over the commitments of the tensors.
merkle::Tree tree_of(const std::vector<ListEntry>& list) {
    std::vector<Hash256> commitments;
    commitments.reserve(list.size());
    for (const ListEntry& entry : list) {
        commitments.push_back(dispute::tensor_commitment(entry.type, entry.tile_root));
    }
    return merkle::Tree(std::move(commitments));
}

Result<CheckedFile, OpenError> check_name(const ByteSource& file, const Hash256& sealed_root, const Effort& effort) {
    auto checked = check_file(file, {.threads = effort.threads});
    if (!checked) {
        return Unexpected{OpenError::kFormat};
    }
    if (checked->root != sealed_root) {
        return Unexpected{OpenError::kRoot};
    }
    return *std::move(checked);
}

}  // namespace

Result<void, OpenFailure> open_state(
    const ByteSource& file, const StateReader& reader, const TensorSink& out, const Effort& effort
) {
    ASSERT(layout_of_state(reader.types).has_value());
    const auto checked = check_name(file, reader.sealed_root, effort);
    if (!checked) {
        return Wrong{checked.error()};
    }
    Meter meter(effort, checked->layout.chunk_count());
    const OpenFile open{.file = file, .checked = *checked, .reader = reader, .meter = meter};
    if (checked->layout.group_count() != reader.types.size() + 1) {
        return Wrong{evidence_of(open, 0, 0, {}, {}, {})};
    }
    TRY_ASSIGN(const std::vector<ListEntry> list, open_list(open));
    const merkle::Tree state = tree_of(list);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        TRY_ASSIGN(canonical::Tensor tensor, open_tensor(open, i, list, state));
        out(i, std::move(tensor));
    }
    return {};
}

Result<std::vector<canonical::Tensor>, OpenFailure> open_state(
    const ByteSource& file, const StateReader& reader, const Effort& effort
) {
    std::vector<canonical::Tensor> state;
    TRY(open_state(
        file, reader,
        [&state](std::uint32_t /*index*/, canonical::Tensor tensor) { state.push_back(std::move(tensor)); }, effort
    ));
    return state;
}

Result<void, OpenError> open_blob(
    const ByteSource& file, const TaskSecret& secret, const Artifact& artifact, const Hash256& sealed_root,
    const ByteSink& out, const Effort& effort
) {
    TRY_ASSIGN(const CheckedFile checked, check_name(file, sealed_root, effort));
    const Layout& layout = checked.layout;
    if (layout.group_count() != 1) {
        return Unexpected{OpenError::kContents};
    }
    Meter meter(effort, layout.chunk_count());
    crypto::Sha256 hash;
    for (std::uint64_t first = 0; first < layout.chunk_count(); first += kBatchChunks) {
        const std::uint64_t count = std::min(kBatchChunks, layout.chunk_count() - first);
        std::vector<std::optional<Bytes>> batch(count);
        for_each_number(count, meter.threads(), [&](std::uint64_t i) {
            const auto chunk = static_cast<std::uint32_t>(first + i);
            Bytes sealed(layout.sealed_bytes(0, chunk));
            file.read(layout.offset(0, chunk), sealed);
            const ChunkName name{.task = artifact.task, .artifact = artifact.name, .group = 0, .chunk = chunk};
            batch[i] = open_chunk(secret, name, sealed);
        });
        for (const auto& plaintext : batch) {
            if (!plaintext) {
                return Unexpected{OpenError::kContents};
            }
            hash.update(*plaintext);
            out(*plaintext);
        }
        meter.add(count);
    }
    if (hash.finish() != artifact.name) {
        return Unexpected{OpenError::kContents};
    }
    return {};
}

Result<Bytes, OpenError> open_blob(
    ByteView file, const TaskSecret& secret, const Artifact& artifact, const Hash256& sealed_root, const Effort& effort
) {
    Bytes out;
    TRY(open_blob(
        MemorySource(file), secret, artifact, sealed_root, [&out](ByteView part) { append(out, part); }, effort
    ));
    return out;
}

}  // namespace assay::sealed
