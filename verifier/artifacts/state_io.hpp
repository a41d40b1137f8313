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

namespace assay::artifacts {

enum class [[nodiscard]] StateError : std::uint8_t {
    kFormat = 1,   ///< not a safetensors file
    kTensors = 2,  ///< ART-10, ART-11: a tensor missing, or one that the program does not have
    kType = 3,     ///< ART-10, ART-11: a tensor of another type or shape than the program's
};
const char* to_string(StateError error) noexcept;

/// ART-10: a checkpoint: the program's state tensors by name. `state` has the program's order and types.
Bytes encode_state(const program::Program& program, std::span<const canonical::Tensor> state);
/// The state in the program's order, whatever order the file has.
Result<std::vector<canonical::Tensor>, StateError> decode_state(const program::Program& program, ByteView bytes);

/// ART-11: what the task gives to the program's init graph: its `initial` tensors by name, likewise.
Bytes encode_initial(const program::Program& program, std::span<const canonical::Tensor> initial);
Result<std::vector<canonical::Tensor>, StateError> decode_initial(const program::Program& program, ByteView bytes);

/// What the chain keeps of `program`, given the state root of its initial tensors (zero when it has none).
dispute::ProgramCommitment commit_program(const program::Program& program, const Hash256& initial_root = {});

/// The state root (TRC-3) of whole tensors.
Hash256 state_root_of(std::span<const canonical::Tensor> state);

/// The types of the program's state tensors, in order.
std::vector<canonical::TensorType> state_types(const program::Program& program);

}  // namespace assay::artifacts
