// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <core/canonical/tile.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>

/// States that are sealed, rightly and wrongly.
namespace assay::sealed::testing {

using Random = std::mt19937_64;

Hash256 hash_numbered(std::uint64_t number);
TaskSecret secret_numbered(std::uint64_t number);

/// A tensor with random bytes.
canonical::Tensor make_tensor(canonical::DType dtype, canonical::Shape shape, std::uint64_t seed);
/// One to four tensors of one to eight tiles, of any types.
std::vector<canonical::Tensor> random_state(Random& random);
Hash256 root_of(const std::vector<canonical::Tensor>& state);

/// The chunks of a sealed file, group by group, to be altered.
using Chunks = std::vector<std::vector<Bytes>>;
Chunks chunks_of(ByteView file);
/// The file with these chunks, whatever they are, and its root.
SealedFile assemble(const Chunks& chunks);

/// A private task, and a state of it that was sealed rightly.
struct Sealed {
    explicit Sealed(std::vector<canonical::Tensor> tensors, std::uint64_t number = 1);

    std::vector<canonical::Tensor> state;
    std::vector<canonical::TensorType> types;
    TaskSecret secret;
    Artifact artifact;
    SealedFile file;
    AccountId reporter;

    StateReader reader(const Hash256& sealed_root) const;
    SealedContext context(const Hash256& sealed_root) const;
    ChunkName name(std::uint32_t group, std::uint32_t chunk) const;
    /// Opens a file as this task's state.
    Result<std::vector<canonical::Tensor>, OpenFailure> open(const SealedFile& other, unsigned threads = 1) const;
    /// What an honest reporter who suspects this chunk would say about it, all of which is true.
    WrongChunk evidence(std::uint32_t group, std::uint32_t chunk) const;
};

}  // namespace assay::sealed::testing
