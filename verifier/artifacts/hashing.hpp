// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/canonical/tile.hpp>

/// Commitments to large tensors, hashed on several threads, or with `threads` 0 on one for each core. They are the same
/// for any number of threads.
namespace assay::artifacts {

/// Returns the commitment of a tensor (TRC-2). Throws std::system_error if a thread cannot be started.
Hash256 commit_tensor(const canonical::Tensor& tensor, int threads = 0);

/// Hashes the tiles of some rows of a tensor (TRC-2) on this thread. `rows` is the type of these rows alone, whose
/// first is the first of a tile; `leaves` has room for their tiles at least.
void hash_rows(const canonical::TensorType& rows, const std::byte* data, std::span<Hash256> leaves);
/// The commitment of a tensor with these tiles' hashes, of which there are none if it has no elements.
Hash256 commit_leaves(const canonical::TensorType& type, std::vector<Hash256> leaves);

/// The hashes of tiles (TRC-2), for each tensor of a state.
using Leaves = std::vector<std::vector<Hash256>>;
/// Throws as commit_tensor() does.
Leaves leaves_of(std::span<const canonical::Tensor> state, int threads = 0);
/// The same, with the hashes of some tensors known: `known` is empty, or has an empty list for each other tensor.
Leaves leaves_of(std::span<const canonical::Tensor> state, const Leaves& known);
/// Returns the state root (TRC-3) that follows from the hashes of the tiles.
Hash256 root_of_leaves(std::span<const canonical::TensorType> types, Leaves leaves);

/// ART-15: the hashes as a file, one after another.
Bytes encode_leaves(const Leaves& leaves);
/// Size of encode_leaves() for a state of these types.
std::uint64_t leaves_bytes(std::span<const canonical::TensorType> types);
/// Takes bytes of that size apart, whatever they are.
Leaves split_leaves(std::span<const canonical::TensorType> types, ByteView bytes);
/// Returns nullopt unless the bytes are the hashes of the state with this root.
std::optional<Leaves> decode_leaves(std::span<const canonical::TensorType> types, const Hash256& root, ByteView bytes);

/// Returns the state root (TRC-3) of complete tensors. Throws as commit_tensor() does.
Hash256 state_root_of(std::span<const canonical::Tensor> state, int threads = 0);
/// The same of a state of `count` tensors that is in memory one tensor at a time.
Hash256 state_root_of(std::size_t count, const std::function<canonical::Tensor(std::size_t)>& tensor);

}  // namespace assay::artifacts
