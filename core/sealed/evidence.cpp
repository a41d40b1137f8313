// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/evidence.hpp>

#include <core/canonical/tile.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/curve.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>

namespace assay::sealed {
namespace {

/// Height of the tree over the tiles of a tensor of the largest dimensions.
constexpr std::uint32_t kMaxTileDepth = 38;
static_assert(
    (std::uint64_t{1} << kMaxTileDepth) ==
    std::uint64_t{canonical::kMaxDimension / canonical::kTileDim} * (canonical::kMaxDimension / canonical::kTileDim)
);

bool is_well_formed(const TensorEntry& entry) {
    const canonical::Shape& shape = entry.type.shape;
    return canonical::is_valid(entry.type.dtype) &&
           entry.path.size() <= merkle::tree_depth(canonical::kMaxStateTensors) &&
           shape.rows <= canonical::kMaxDimension && shape.cols <= canonical::kMaxDimension &&
           shape.element_count() != 0;
}

/// Whether the entry is tensor `index` of the state.
bool is_in_state(const TensorEntry& entry, std::uint32_t index, const SealedContext& context) {
    const auto root = merkle::root_from_path(
        dispute::tensor_commitment(entry.type, entry.tile_root), index, context.state_tensors, entry.path
    );
    return root && dispute::state_root_from(context.state_tensors, *root) == context.artifact;
}

/// What is known of the chunk once the evidence is found to be about the state.
struct Subject {
    Ladder ladder;
    ChunkPlace place;
    bool is_top_of_list;
};

/// SEA-19: whether `expected` is the node of the state that the chunk has to fold to.
bool is_expected(const WrongChunk& evidence, const Subject& subject, const SealedContext& context) {
    const ChunkPlace& place = subject.place;
    if (subject.is_top_of_list) {
        return evidence.expected.is_zero() && evidence.expected_path.empty();
    }
    const std::uint32_t above = subject.ladder.root_height() - place.node_height;
    if (evidence.expected_path.size() != above) {
        return false;
    }
    const auto root =
        merkle::root_from_path(evidence.expected, place.node_index, std::uint64_t{1} << above, evidence.expected_path);
    if (!root) {
        return false;
    }
    return evidence.tensor ? *root == evidence.tensor->tile_root
                           : dispute::state_root_from(context.state_tensors, *root) == context.artifact;
}

/// SEA-17: whether the plaintext is what the state commits to.
bool is_right(ByteView plaintext, const WrongChunk& evidence, const Subject& subject, const SealedContext& context) {
    const auto node = subject.ladder.fold(subject.place, plaintext);
    if (!node) {
        return false;
    }
    return subject.is_top_of_list ? dispute::state_root_from(context.state_tensors, *node) == context.artifact
                                  : *node == evidence.expected;
}

ChunkName name_of(const WrongChunk& evidence, const SealedContext& context) {
    return {
        .task = context.task,
        .artifact = context.artifact,
        .group = evidence.opening.group,
        .chunk = evidence.opening.chunk};
}

/// Judges an opening that leads to the sealed root, of a group whose ladder is known.
Result<ChunkFault, EvidenceError> judge_chunk(
    const WrongChunk& evidence, const SealedContext& context, const Ladder& ladder
) {
    const SealedOpening& opening = evidence.opening;
    if (ladder.chunk_count() > kMaxChunks) {
        return Unexpected{EvidenceError::kTensor};
    }
    if (opening.chunks != ladder.chunk_count()) {
        return ChunkFault::kChunks;
    }
    const Subject subject{
        .ladder = ladder,
        .place = ladder.place(opening.chunk),
        .is_top_of_list = opening.group == 0 && opening.chunk == 0,
    };
    if (!is_expected(evidence, subject, context)) {
        return Unexpected{EvidenceError::kExpected};
    }
    const auto plaintext = open_chunk_with(evidence.point, name_of(evidence, context), opening.bytes);
    if (!plaintext) {
        return ChunkFault::kUnopened;
    }
    if (!is_right(*plaintext, evidence, subject, context)) {
        return ChunkFault::kContents;
    }
    return Unexpected{EvidenceError::kRight};
}

}  // namespace

bool is_well_formed(const WrongChunk& evidence) noexcept {
    return is_well_formed(evidence.opening) && evidence.expected_path.size() <= kMaxTileDepth &&
           evidence.tensor.has_value() == (evidence.opening.group != 0) &&
           (!evidence.tensor || is_well_formed(*evidence.tensor));
}

Result<ChunkFault, EvidenceError> judge(const WrongChunk& evidence, const SealedContext& context) noexcept {
    const SealedOpening& opening = evidence.opening;
    if (!is_well_formed(evidence) || context.state_tensors == 0 ||
        context.state_tensors > canonical::kMaxStateTensors) {
        return Unexpected{EvidenceError::kMalformed};
    }
    if (sealed_root_of(opening) != context.sealed_root) {
        return Unexpected{EvidenceError::kOpening};
    }
    // SEA-19: before any fault, so that no evidence is of use to anybody but its author.
    if (!verify_chunk_point(
            context.key, name_of(evidence, context), evidence.point, evidence.proof, context.reporter
        )) {
        return Unexpected{EvidenceError::kPoint};
    }
    if (opening.groups != context.state_tensors + 1) {
        return ChunkFault::kGroups;
    }
    if (!evidence.tensor) {
        return judge_chunk(evidence, context, Ladder::of_list(context.state_tensors));
    }
    if (!is_in_state(*evidence.tensor, opening.group - 1, context)) {
        return Unexpected{EvidenceError::kTensor};
    }
    return judge_chunk(evidence, context, Ladder::of_tensor(evidence.tensor->type));
}

std::size_t largest_evidence_bytes() noexcept {
    const std::size_t paths = merkle::tree_depth(kMaxChunks) + merkle::tree_depth(kMaxGroups) +
                              merkle::tree_depth(canonical::kMaxStateTensors) + kMaxTileDepth;
    const WrongChunk empty{
        .opening = {}, .point = {}, .proof = {}, .tensor = TensorEntry{}, .expected = {}, .expected_path = {}};
    return codec::detail::kShape<WrongChunk>.min_size + codec::encode(empty.tensor).size() - 1 + kSealedChunkBytes +
           paths * Hash256::kSizeBytes;
}

}  // namespace assay::sealed
