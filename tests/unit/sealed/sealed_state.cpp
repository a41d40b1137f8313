// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/sealed/sealed_state.hpp>

#include <algorithm>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/merkle/tree.hpp>

namespace assay::sealed::testing {
namespace {

using canonical::DType;

std::vector<canonical::TensorType> types_of(const std::vector<canonical::Tensor>& state) {
    return StateInMemory(state).types();
}

}  // namespace

Hash256 hash_numbered(std::uint64_t number) { return crypto::sha256(codec::encode(number)); }

TaskSecret secret_numbered(std::uint64_t number) {
    return TaskSecret(crypto::SecretKey::from_bytes(hash_numbered(number).view()).value());
}

canonical::Tensor make_tensor(DType dtype, canonical::Shape shape, std::uint64_t seed) {
    canonical::Tensor out = canonical::make_tensor(dtype, shape);
    Random random(seed);
    for (std::uint8_t& byte : out.data) {
        byte = static_cast<std::uint8_t>(random());
    }
    return out;
}

std::vector<canonical::Tensor> random_state(Random& random) {
    const auto below = [&random](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
    std::vector<canonical::Tensor> out(1 + below(4));
    for (canonical::Tensor& tensor : out) {
        const auto dtype = static_cast<DType>(1 + below(5));
        tensor = make_tensor(dtype, {.rows = 1 + below(128), .cols = 1 + below(64)}, random());
    }
    return out;
}

Hash256 root_of(const std::vector<canonical::Tensor>& state) {
    std::vector<Hash256> commitments;
    for (const canonical::Tensor& tensor : state) {
        commitments.push_back(dispute::commit_tensor(tensor));
    }
    return dispute::state_root(commitments);
}

Chunks chunks_of(ByteView file) {
    const CheckedFile checked = check_file(MemorySource(file)).value();
    Chunks out(checked.layout.group_count());
    for (std::uint32_t group = 0; group < out.size(); ++group) {
        for (std::uint32_t chunk = 0; chunk < checked.layout.chunk_count(group); ++chunk) {
            const ByteView bytes =
                file.subspan(checked.layout.offset(group, chunk), checked.layout.sealed_bytes(group, chunk));
            out[group].emplace_back(bytes.begin(), bytes.end());
        }
    }
    return out;
}

SealedFile assemble(const Chunks& chunks) {
    SealedHeader header;
    SealedLeaves leaves;
    for (const auto& group : chunks) {
        GroupSizes& sizes = header.groups.emplace_back();
        auto& hashes = leaves.emplace_back();
        for (const Bytes& chunk : group) {
            const auto size = static_cast<std::uint32_t>(chunk.size());
            if (sizes.runs.empty() || sizes.runs.back().bytes != size) {
                sizes.runs.push_back({.chunks = 0, .bytes = size});
            }
            ++sizes.runs.back().chunks;
            hashes.push_back(sealed_leaf(chunk));
        }
    }
    SealedFile out{.bytes = encode_header(header), .root = sealed_root(leaves)};
    for (const auto& group : chunks) {
        for (const Bytes& chunk : group) {
            append(out.bytes, chunk);
        }
    }
    return out;
}

Sealed::Sealed(std::vector<canonical::Tensor> tensors, std::uint64_t number)
    : state(std::move(tensors)),
      types(types_of(state)),
      secret(secret_numbered(number)),
      artifact{.task = hash_numbered(1'000 + number), .name = root_of(state)},
      file(seal_state(std::span<const canonical::Tensor>(state), secret, artifact).value()),
      reporter(crypto::SecretKey::from_bytes(hash_numbered(2'000 + number).view()).value().account()) {}

StateReader Sealed::reader(const Hash256& sealed_root) const {
    return {
        .secret = secret,
        .artifact = artifact,
        .sealed_root = sealed_root,
        .types = types,
        .reporter = reporter,
        .aux = hash_numbered(9).data,
    };
}

SealedContext Sealed::context(const Hash256& sealed_root) const {
    return {
        .task = artifact.task,
        .artifact = artifact.name,
        .key = secret.key(),
        .sealed_root = sealed_root,
        .state_tensors = static_cast<std::uint32_t>(types.size()),
        .reporter = reporter,
    };
}

ChunkName Sealed::name(std::uint32_t group, std::uint32_t chunk) const {
    return {.task = artifact.task, .artifact = artifact.name, .group = group, .chunk = chunk};
}

Result<std::vector<canonical::Tensor>, OpenFailure> Sealed::open(const SealedFile& other, unsigned threads) const {
    return open_state(MemorySource(other.bytes), reader(other.root), Effort{.threads = threads});
}

WrongChunk Sealed::evidence(std::uint32_t group, std::uint32_t chunk) const {
    std::vector<Hash256> commitments;
    for (const canonical::Tensor& tensor : state) {
        commitments.push_back(dispute::commit_tensor(tensor));
    }
    const merkle::Tree list(commitments);
    const CheckedFile checked = check_file(MemorySource(file.bytes)).value();
    WrongChunk out{
        .opening = open_sealed(MemorySource(file.bytes), checked, group, chunk),
        .point = chunk_point(secret, name(group, chunk)),
        .proof = prove_chunk_point(secret, name(group, chunk), reporter, {}),
        .tensor = {},
        .expected = {},
        .expected_path = {},
    };
    const auto count = static_cast<std::uint32_t>(state.size());
    const Ladder ladder = group == 0 ? Ladder::of_list(count) : Ladder::of_tensor(types[group - 1]);
    const merkle::Tree tree = group == 0 ? list : dispute::tile_tree(state[group - 1]);
    if (group != 0) {
        out.tensor = TensorEntry{.type = types[group - 1], .tile_root = tree.root(), .path = list.path(group - 1)};
    }
    if (group != 0 || chunk != 0) {
        const ChunkPlace place = ladder.place(chunk);
        out.expected = tree.node(place.node_height, place.node_index);
        for (std::uint32_t height = place.node_height; height < ladder.root_height(); ++height) {
            out.expected_path.push_back(tree.node(height, (place.node_index >> (height - place.node_height)) ^ 1U));
        }
    }
    return out;
}

}  // namespace assay::sealed::testing
