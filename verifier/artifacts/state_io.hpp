// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>
#include <core/dispute/commitment.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/reference.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] StateError : std::uint8_t{
    kFormat = 1,   ///< not a safetensors file
    kTensors = 2,  ///< ART-10, ART-11: a missing tensor, or one that the program does not have
    kType = 3,     ///< ART-10, ART-11: a tensor whose type or shape differs from the program's
    kStopped = 4,  ///< the header is not as ART-5 has it, and its parser was stopped in the sandbox: nothing is known
};
const char* to_string(StateError error) noexcept;

/// ART-10: encodes a checkpoint: the program's state tensors by name, without those that are frozen. `state` has the
/// program's order and types, and is whole in any case. Of `frozen` only the places are read.
Bytes encode_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Frozen& frozen = {}
);
/// Writes the same from the tensors to a store under the checkpoint's name, without a copy in memory, and the hashes of
/// all tiles, `leaves`, beside it (ART-15). Throws StoreError.
ContentStore::Entry store_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Leaves& leaves,
    const ContentStore& store, const Frozen& frozen = {}
);
/// Decodes a checkpoint. Returns the state in the program's order, whatever the file's order. The file has all tensors,
/// or all but those of `frozen`. A header as encode_state() writes it is compared and not parsed; bytes that are no
/// file are this program's own. Fails with StateError; throws StoreError if a file cannot be read.
Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, ByteView bytes, const Frozen& frozen = {}
);
Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, const StoredFile& file, const Frozen& frozen = {}
);
/// Returns the state root (TRC-3) of a checkpoint, with one tensor of the file in memory at a time. Fails and throws as
/// decode_state() does.
Result<Hash256, StateError> root_of_state(
    const program::Program& program, const StoredFile& file, const Frozen& frozen = {}
);

/// ART-11: the same for the tensors that the task passes to the program's init graph, Program::initial.
Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial);
Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes);
/// A file is a stranger's.
Result<std::vector<canonical::Tensor>, ForeignError<StateError>> decode_initial(
    const program::Program& program, const StoredFile& file
);

/// ART-12: the largest artifacts that a task's program allows.
inline constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{64} << 20U;
std::uint64_t tensor_file_bytes_max(std::span<const program::StateTensor> tensors);

/// Returns the commitment to `program` that the chain stores. `initial_root` is the state root of its initial tensors,
/// zero if it has none.
dispute::ProgramCommitment commit_program(const program::Program& program, const Hash256& initial_root = {});

}  // namespace assay::artifacts
