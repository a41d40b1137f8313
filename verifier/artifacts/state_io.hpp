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
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] StateError : std::uint8_t{
    kFormat = 1,   ///< not a safetensors file
    kTensors = 2,  ///< ART-10, ART-11: a missing tensor, or one that the program does not have
    kType = 3,     ///< ART-10, ART-11: a tensor whose type or shape differs from the program's
};
const char* to_string(StateError error) noexcept;

/// Which tensors a checkpoint's file has (ART-10).
enum class StateFile : std::uint8_t {
    kWhole,    ///< all
    kTrained,  ///< none that is frozen: those are among the task's initial tensors
};

/// ART-10: encodes a checkpoint: the program's state tensors by name. `state` has the program's order and types, and is
/// whole in any case.
Bytes encode_state(
    const program::Program& program, std::span<const canonical::Tensor> state, StateFile file = StateFile::kWhole
);
/// Writes the same from the tensors to a store, without a copy in memory, and the hashes of all tiles (ART-15). Throws
/// StoreError.
ContentStore::Entry store_state(
    const program::Program& program, std::span<const canonical::Tensor> state, const Leaves& leaves,
    const ContentStore& store, StateFile file = StateFile::kWhole
);
/// Decodes a checkpoint. Returns the state in the program's order, whatever the file's order. Frozen tensors that the
/// file lacks are taken from `initial`, the task's initial tensors; without any the file has to be whole. Fails with
/// StateError; throws StoreError if a file cannot be read.
Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, ByteView bytes, std::span<const canonical::Tensor> initial = {}
);
Result<std::vector<canonical::Tensor>, StateError> decode_state(
    const program::Program& program, const StoredFile& file, std::span<const canonical::Tensor> initial = {}
);
/// Returns the state root (TRC-3) of a checkpoint, with one tensor of the file in memory at a time. Fails and throws as
/// decode_state() does.
Result<Hash256, StateError> root_of_state(
    const program::Program& program, const StoredFile& file, std::span<const canonical::Tensor> initial = {}
);

/// ART-11: the same for the tensors that the task passes to the program's init graph, Program::initial.
Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial);
Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes);
Result<std::vector<canonical::Tensor>, StateError> decode_initial(
    const program::Program& program, const StoredFile& file
);

/// ART-12: the largest artifacts that a task's program allows.
inline constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{64} << 20U;
std::uint64_t tensor_file_bytes_max(std::span<const program::StateTensor> tensors);

/// Returns the commitment to `program` that the chain stores. `initial_root` is the state root of its initial tensors,
/// zero if it has none.
dispute::ProgramCommitment commit_program(const program::Program& program, const Hash256& initial_root = {});

}  // namespace assay::artifacts
