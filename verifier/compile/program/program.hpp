// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// A program: what a task trains, as two graphs and the list of state tensors, with everything that workers and the
/// chain must agree on.
namespace assay::program {

struct Program {
    std::vector<StateTensor> state;
    /// Tensors that the init graph may read as its state. The task provides them as an artifact, for example pretrained
    /// parameters. Empty if everything starts from constants and random numbers.
    std::vector<StateTensor> initial{};
    canonical::Graph init;        ///< reads `initial`; writes the state before step 0
    canonical::Graph step;        ///< state and batch -> next state
    std::uint32_t loss_node = 0;  ///< index in `step` of the mean loss, [1,1] f32; for progress and loss curves only
    std::uint32_t batch_size = 0;
    canonical::DatasetShape dataset;
    static constexpr auto fields() {
        return Fields<
            &Program::state, &Program::initial, &Program::init, &Program::step, &Program::loss_node,
            &Program::batch_size, &Program::dataset>{};
    }
};

/// Returns the types of tensors, in order.
std::vector<canonical::TensorType> types_of(const std::vector<StateTensor>& tensors);
/// Returns the size of all elements of tensors together.
std::uint64_t size_bytes(const std::vector<StateTensor>& tensors);

/// Returns for each tensor of the state the initial tensor that it is before every step: those that `init` and `step`
/// pass on as they are (ART-10). All others, nothing: they are *trained*, as all are if none would be. Each graph has
/// to be well-formed or empty.
std::vector<std::optional<std::uint32_t>> frozen_tensors(const Program& program);
/// The same as frozen_tensors() for a task that starts from another one's last state and executes no `init`: for each
/// tensor that `step` passes on as it is its own index.
std::vector<std::optional<std::uint32_t>> inherited_tensors(const Program& program);

enum class [[nodiscard]] ProgramError : std::uint8_t{
    kMalformed = 1,  ///< PRG-1: not the Borsh encoding of a Program
    kInit = 2,       ///< PRG-5: the init graph is not well-formed
    kStep = 3,       ///< PRG-5: the step graph is not well-formed
    kState = 4,      ///< PRG-6: no or too many state tensors, or empty or duplicate names
    kLoss = 5,       ///< PRG-6: loss_node is not a [1,1] f32 node of the step graph
    kDataset = 6,    ///< PRG-6: kBatchRows nodes disagree with the declared dataset or batch size
    kInitial = 7,    ///< PRG-6: too many initial tensors, empty or duplicate names, or an invalid tensor type
};

/// Returns a program that is a pure function: its initialisation computes `result` from `initial`; its step only passes
/// the result on and is never run. A claim about it is disputed like any initialisation (DSP-11).
Program make_function(StateTensor result, std::vector<StateTensor> initial, canonical::Graph init);

/// Decodes and checks a program; the result is safe to execute. Fails with ProgramError.
Result<Program, ProgramError> decode_program(ByteView bytes);
Result<void, ProgramError> check_program(const Program& program);

}  // namespace assay::program
