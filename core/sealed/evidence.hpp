// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>
#include <core/sealed/chunk_key.hpp>
#include <core/sealed/sealed_tree.hpp>

/// Evidence that a sealed state is not the state that its root commits to (SEA-16 to SEA-19). It reveals the key of one
/// chunk.
namespace assay::sealed {

/// A tensor of the state, with its path to the state root.
struct TensorEntry {
    canonical::TensorType type;
    Hash256 tile_root;
    std::vector<Hash256> path;  ///< siblings of the tensor's commitment, its own first
    bool operator==(const TensorEntry&) const = default;
    static constexpr auto fields() { return Fields<&TensorEntry::type, &TensorEntry::tile_root, &TensorEntry::path>{}; }
};

/// SEA-16: a chunk of a sealed state, what opens it, and what it should contain.
struct WrongChunk {
    SealedOpening opening;
    crypto::CurvePoint point;           ///< SEA-4, of this chunk
    crypto::DlogProof proof;            ///< SEA-6, bound to the reporter
    std::optional<TensorEntry> tensor;  ///< of the group; none of group 0
    /// The node that the chunk should fold to, and its siblings up to the group's root, its own first. Zero and none
    /// for chunk 0 of group 0, which the state root alone says what it should be.
    Hash256 expected;
    std::vector<Hash256> expected_path;
    bool operator==(const WrongChunk&) const = default;
    static constexpr auto fields() {
        return Fields<
            &WrongChunk::opening, &WrongChunk::point, &WrongChunk::proof, &WrongChunk::tensor, &WrongChunk::expected,
            &WrongChunk::expected_path>{};
    }
};

/// What the chain knows of the state that the evidence is about.
struct SealedContext {
    Hash256 task;
    Hash256 artifact;  ///< the state root
    TaskKey key;
    Hash256 sealed_root;
    std::uint32_t state_tensors = 0;
    AccountId reporter;
};

/// SEA-17: what is wrong with a sealed state, whose publisher is at fault.
enum class [[nodiscard]] ChunkFault : std::uint8_t{
    kGroups = 1,  ///< the file has another number of groups than a list and one for each tensor
    kChunks = 2,  ///< the group has another number of chunks than the tensor's type, or the number of tensors, asks for
    kUnopened = 3,  ///< the chunk does not decrypt under its key
    kContents = 4,  ///< it decrypts to something else than what the state root commits to
};
constexpr bool is_valid(ChunkFault f) { return f >= ChunkFault::kGroups && f <= ChunkFault::kContents; }

/// SEA-18: why the evidence shows nothing.
enum class [[nodiscard]] EvidenceError : std::uint8_t{
    kMalformed = 1,  ///< a size, a length or a part that no evidence has
    kOpening = 2,    ///< the chunk is not of the sealed root
    kTensor = 3,     ///< the tensor is not one of the state root, or no chunks can be numbered of its type
    kExpected = 4,   ///< the node is not one of the state root, at the place of the chunk
    kPoint = 5,      ///< the point is not shown to be the chunk's by this reporter
    kRight = 6,      ///< the chunk is what the state root commits to
};
constexpr bool is_valid(EvidenceError e) { return e >= EvidenceError::kMalformed && e <= EvidenceError::kRight; }

/// SEA-16: whether sizes and lengths are possible for some state. judge() requires nothing and checks it first.
bool is_well_formed(const WrongChunk& evidence) noexcept;

/// SEA-19: the fault that the evidence shows, or why it shows none. Whoever sealed the right state rightly is never
/// found at fault. Total on any input. Four multiplications on the curve and the decryption of one chunk: well under a
/// millisecond (docs/benchmarks/README.md).
Result<ChunkFault, EvidenceError> judge(const WrongChunk& evidence, const SealedContext& context) noexcept;

/// The most bytes that the encoding of well-formed evidence has.
std::size_t largest_evidence_bytes() noexcept;

}  // namespace assay::sealed
