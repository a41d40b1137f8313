// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/sealed/ladder.hpp>

/// The tree over the ciphertext of an artifact, and the header of its file (SEA-10 to SEA-13). Nothing here needs a
/// key.
namespace assay::sealed {

/// SEA-10: the leaf of a chunk, the ciphertext with its tag: "assay/sealed-chunk" over its size (u32) and the Merkle
/// root of its pieces (piece.hpp).
Hash256 sealed_leaf(ByteView sealed_chunk) noexcept;
/// SEA-11: "assay/sealed-group" over the number of chunks (u32) and the Merkle root of their leaves.
Hash256 group_commitment(std::uint32_t chunks, const Hash256& merkle_root) noexcept;
/// SEA-12: "assay/sealed" over the number of groups (u32) and the Merkle root of their commitments.
Hash256 sealed_root(std::uint32_t groups, const Hash256& merkle_root) noexcept;

/// The leaves of all chunks, group by group; each group has at least one.
using SealedLeaves = std::vector<std::vector<Hash256>>;
/// SEA-12: the name of a sealed file.
Hash256 sealed_root(const SealedLeaves& leaves);

/// SEA-13: a number of chunks that follow each other and have one size, in bytes with the tag.
struct ChunkRun {
    std::uint32_t chunks = 0;
    std::uint32_t bytes = 0;
    bool operator==(const ChunkRun&) const = default;
    static constexpr auto fields() { return Fields<&ChunkRun::chunks, &ChunkRun::bytes>{}; }
};
struct GroupSizes {
    std::vector<ChunkRun> runs;
    bool operator==(const GroupSizes&) const = default;
    static constexpr auto fields() { return Fields<&GroupSizes::runs>{}; }
};
inline constexpr std::uint32_t kFormatVersion = 1;
/// A list, and at most canonical::kMaxStateTensors tensors.
inline constexpr std::uint32_t kMaxGroups = 1 + canonical::kMaxStateTensors;
/// A group of a state has at most two sizes at each of its levels.
inline constexpr std::size_t kMaxRuns = 16;
/// A file has at most so many chunks more than one for each 4,096 bytes. That of a state has fewer than this of partial
/// chunks, and all others have 10,512 bytes or more.
inline constexpr std::uint64_t kMaxSmallChunks = std::uint64_t{1} << 18U;

/// SEA-13: what a sealed file begins with, after the length of this (u32).
struct SealedHeader {
    std::uint32_t version = kFormatVersion;
    std::vector<GroupSizes> groups;
    bool operator==(const SealedHeader&) const = default;
    static constexpr auto fields() { return Fields<&SealedHeader::version, &SealedHeader::groups>{}; }
};
inline constexpr std::size_t kMaxHeaderBytes = 8 + std::size_t{kMaxGroups} * (4 + kMaxRuns * 8);

enum class [[nodiscard]] FormatError : std::uint8_t{
    kTruncated = 1,  ///< the file ends before its header
    kHeader = 2,     ///< the header is too long, or no encoding of one
    kVersion = 3,    ///< of another version than kFormatVersion
    kGroups = 4,  ///< no group or too many, or one without chunks, with too many runs or with more than 2^32 - 1 chunks
    kChunkSize = 5,  ///< a chunk smaller than a tag or larger than kSealedChunkBytes, or two runs in a row of one size
    kFileSize = 6,   ///< the chunks do not end where the file ends
    kSmallChunks = 7,  ///< so many small chunks that their hashes would take more memory than the file
};

/// Where chunks lie in a file. Made by decode_header() or layout_of_state() and layout_of_blob().
class Layout {
  public:
    explicit Layout(SealedHeader header);
    const SealedHeader& header() const { return header_; }
    std::uint32_t group_count() const { return static_cast<std::uint32_t>(header_.groups.size()); }
    std::uint32_t chunk_count(std::uint32_t group) const { return groups_[group].chunks; }
    /// All groups.
    std::uint64_t chunk_count() const;
    std::uint64_t file_bytes() const { return file_bytes_; }
    std::uint32_t sealed_bytes(std::uint32_t group, std::uint32_t chunk) const;
    /// Of the chunk's first byte in the file.
    std::uint64_t offset(std::uint32_t group, std::uint32_t chunk) const;

  private:
    struct Group {
        std::uint32_t chunks = 0;
        std::uint64_t offset = 0;
    };
    SealedHeader header_;
    std::vector<Group> groups_;
    std::uint64_t file_bytes_ = 0;
};

/// SEA-13: what the file begins with: the length of the header, and the header.
Bytes encode_header(const SealedHeader& header);
/// How many bytes the header has in all, from the first four of the file. Fails with kTruncated or kHeader.
Result<std::size_t, FormatError> header_bytes(ByteView file_start) noexcept;
/// Decodes and checks the header of a file of `file_bytes` bytes, which `file_start` begins with. Allocates in
/// proportion to the header, and this is at most kMaxHeaderBytes long.
Result<Layout, FormatError> decode_header(ByteView file_start, std::uint64_t file_bytes) noexcept;

/// SEA-7: the layout of a sealed state; nullopt if it has no tensors or too many, one of them has no element, or one
/// more chunks than a u32 counts.
std::optional<Layout> layout_of_state(std::span<const canonical::TensorType> tensors);
/// SEA-14: the layout of a sealed file of `bytes` bytes of plaintext; nullopt if it has more chunks than a u32 counts.
std::optional<Layout> layout_of_blob(std::uint64_t bytes);

/// One chunk of a sealed file, with its paths to the sealed root.
struct SealedOpening {
    std::uint32_t groups = 0;  ///< of the file
    std::uint32_t group = 0;
    std::uint32_t chunks = 0;         ///< of the group
    std::uint32_t chunk = 0;          ///< within the group
    Bytes bytes;                      ///< the ciphertext and its tag
    std::vector<Hash256> chunk_path;  ///< siblings of the chunk's leaf in the group's tree, its own first
    std::vector<Hash256> group_path;  ///< siblings of the group's commitment
    bool operator==(const SealedOpening&) const = default;
    static constexpr auto fields() {
        return Fields<
            &SealedOpening::groups, &SealedOpening::group, &SealedOpening::chunks, &SealedOpening::chunk,
            &SealedOpening::bytes, &SealedOpening::chunk_path, &SealedOpening::group_path>{};
    }
};
/// SEA-15: whether the chunk can be one of a file: indices below the counts, at most kMaxGroups groups, at most
/// kSealedChunkBytes bytes, and paths of the lengths that the counts ask for.
bool is_well_formed(const SealedOpening& opening) noexcept;
/// The root that a well-formed opening leads to.
Hash256 sealed_root_of(const SealedOpening& opening) noexcept;
/// The opening of a chunk, `bytes`, of the file with these leaves.
SealedOpening open_leaf(const SealedLeaves& leaves, std::uint32_t group, std::uint32_t chunk, Bytes bytes);

}  // namespace assay::sealed
