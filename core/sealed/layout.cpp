// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <core/canonical/tile.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/aead.hpp>
#include <core/sealed/sealed_tree.hpp>

namespace assay::sealed {
namespace {

constexpr std::size_t kLengthBytes = 4;

/// Adds chunks of one size, to the last run if it has that size.
void add_run(GroupSizes& group, std::uint64_t chunks, std::uint32_t bytes) {
    if (chunks == 0) {
        return;
    }
    if (!group.runs.empty() && group.runs.back().bytes == bytes) {
        group.runs.back().chunks += static_cast<std::uint32_t>(chunks);
        return;
    }
    group.runs.push_back({.chunks = static_cast<std::uint32_t>(chunks), .bytes = bytes});
}

/// SEA-13: whether the runs of a group are those that a file can have.
Result<void, FormatError> check_group(const GroupSizes& group) {
    if (group.runs.empty() || group.runs.size() > kMaxRuns) {
        return Unexpected{FormatError::kGroups};
    }
    std::uint64_t chunks = 0;
    std::uint32_t previous = 0;
    for (const ChunkRun& run : group.runs) {
        if (run.bytes < crypto::kAeadTagBytes || run.bytes > kSealedChunkBytes || run.bytes == previous) {
            return Unexpected{FormatError::kChunkSize};
        }
        previous = run.bytes;
        chunks += run.chunks;
        if (run.chunks == 0 || chunks > kMaxChunks) {
            return Unexpected{FormatError::kGroups};
        }
    }
    return {};
}

/// The sizes of a group's chunks; nullopt if it has too many.
std::optional<GroupSizes> sizes_of(const Ladder& ladder) {
    if (ladder.chunk_count() > kMaxChunks) {
        return std::nullopt;
    }
    GroupSizes out;
    for (std::uint32_t level = ladder.level_count(); level-- > 0;) {
        const std::uint64_t first = ladder.first_chunk(level);
        const std::uint64_t last = first + ladder.chunks_of(level) - 1;
        const auto bytes_of = [&](std::uint64_t chunk) {
            return ladder.plaintext_bytes(ladder.place(chunk)) + std::uint32_t{crypto::kAeadTagBytes};
        };
        add_run(out, last - first, bytes_of(first));
        add_run(out, 1, bytes_of(last));
    }
    return out;
}

}  // namespace

Layout::Layout(SealedHeader header) : header_(std::move(header)) {
    std::uint64_t at = encode_header(header_).size();
    for (const GroupSizes& sizes : header_.groups) {
        Group group{.chunks = 0, .offset = at};
        for (const ChunkRun& run : sizes.runs) {
            group.chunks += run.chunks;
            at += std::uint64_t{run.chunks} * run.bytes;
        }
        groups_.push_back(group);
    }
    file_bytes_ = at;
}

std::uint64_t Layout::chunk_count() const {
    std::uint64_t sum = 0;
    for (const Group& group : groups_) {
        sum += group.chunks;
    }
    return sum;
}

std::uint32_t Layout::sealed_bytes(std::uint32_t group, std::uint32_t chunk) const {
    ASSERT(chunk < chunk_count(group));
    std::uint64_t end = 0;
    for (const ChunkRun& run : header_.groups[group].runs) {
        end += run.chunks;
        if (chunk < end) {
            return run.bytes;
        }
    }
    return 0;
}

std::uint64_t Layout::offset(std::uint32_t group, std::uint32_t chunk) const {
    ASSERT(chunk < chunk_count(group));
    std::uint64_t at = groups_[group].offset;
    std::uint64_t rest = chunk;
    for (const ChunkRun& run : header_.groups[group].runs) {
        const std::uint64_t taken = std::min<std::uint64_t>(rest, run.chunks);
        at += taken * run.bytes;
        rest -= taken;
    }
    return at;
}

Bytes encode_header(const SealedHeader& header) {
    const Bytes body = codec::encode(header);
    Bytes out = codec::encode(static_cast<std::uint32_t>(body.size()));
    append(out, body);
    return out;
}

Result<std::size_t, FormatError> header_bytes(ByteView file_start) noexcept {
    if (file_start.size() < kLengthBytes) {
        return Unexpected{FormatError::kTruncated};
    }
    const auto length = codec::decode<std::uint32_t>(file_start.first(kLengthBytes));
    if (*length > kMaxHeaderBytes) {
        return Unexpected{FormatError::kHeader};
    }
    return kLengthBytes + *length;
}

Result<Layout, FormatError> decode_header(ByteView file_start, std::uint64_t file_bytes) noexcept {
    TRY_ASSIGN(const std::size_t size, header_bytes(file_start));
    if (file_start.size() < size) {
        return Unexpected{FormatError::kTruncated};
    }
    auto header = codec::decode<SealedHeader>(file_start.subspan(kLengthBytes, size - kLengthBytes));
    if (!header) {
        return Unexpected{FormatError::kHeader};
    }
    if (header->version != kFormatVersion) {
        return Unexpected{FormatError::kVersion};
    }
    if (header->groups.empty() || header->groups.size() > kMaxGroups) {
        return Unexpected{FormatError::kGroups};
    }
    for (const GroupSizes& group : header->groups) {
        TRY(check_group(group));
    }
    Layout layout(*std::move(header));
    if (layout.file_bytes() != file_bytes) {
        return Unexpected{FormatError::kFileSize};
    }
    if (layout.chunk_count() > kMaxSmallChunks + file_bytes / 4'096) {
        return Unexpected{FormatError::kSmallChunks};
    }
    return layout;
}

std::optional<Layout> layout_of_state(std::span<const canonical::TensorType> tensors) {
    if (tensors.empty() || tensors.size() > canonical::kMaxStateTensors) {
        return std::nullopt;
    }
    SealedHeader header;
    header.groups.push_back(*sizes_of(Ladder::of_list(static_cast<std::uint32_t>(tensors.size()))));
    for (const canonical::TensorType& type : tensors) {
        const auto sizes = type.shape.element_count() == 0 ? std::nullopt : sizes_of(Ladder::of_tensor(type));
        if (!sizes) {
            return std::nullopt;
        }
        header.groups.push_back(*sizes);
    }
    return Layout(std::move(header));
}

std::optional<Layout> layout_of_blob(std::uint64_t bytes) {
    const std::uint64_t whole = bytes / kChunkBytes;
    const auto rest = static_cast<std::uint32_t>(bytes % kChunkBytes);
    if (whole >= kMaxChunks) {
        return std::nullopt;
    }
    GroupSizes group;
    add_run(group, whole, kSealedChunkBytes);
    if (rest != 0 || whole == 0) {
        add_run(group, 1, rest + std::uint32_t{crypto::kAeadTagBytes});
    }
    SealedHeader header;
    header.groups.push_back(std::move(group));
    return Layout(std::move(header));
}

}  // namespace assay::sealed
