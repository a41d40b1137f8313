// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/codec/borsh.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/state_tensor.hpp>

/// A program: what a task trains, as two graphs and the list of state tensors, with everything that a worker and the
/// chain must agree on.
namespace assay::program {

struct Program {
    std::vector<StateTensor> state;
    /// What the init graph may read as its state: tensors that the task gives as an artifact, such as parameters
    /// trained elsewhere. Empty when everything starts from constants and random numbers.
    std::vector<StateTensor> initial{};
    canonical::Graph init;  ///< reads `initial`; makes the state of step 0
    canonical::Graph step;  ///< state and batch -> next state
    std::uint32_t loss_node = 0;  ///< index in `step` of the [1,1] f32 mean loss; for progress and curves only
    std::uint32_t batch_size = 0;
    canonical::DatasetShape dataset;
    static constexpr auto fields() {
        return Fields<
            &Program::state, &Program::initial, &Program::init, &Program::step, &Program::loss_node,
            &Program::batch_size, &Program::dataset>{};
    }
};

enum class [[nodiscard]] ProgramError : std::uint8_t {
    kMalformed = 1,  ///< PRG-1: not the Borsh encoding of a Program
    kInit = 2,       ///< PRG-5: the init graph is not well-formed
    kStep = 3,       ///< PRG-5: the step graph is not well-formed
    kState = 4,      ///< PRG-6: no state tensors, too many, or names empty or repeated
    kLoss = 5,       ///< PRG-6: loss_node is not a [1,1] f32 node of the step graph
    kDataset = 6,    ///< PRG-6: kBatchRows nodes disagree with the declared dataset or batch size
    kInitial = 7,    ///< PRG-6: too many initial tensors, names empty or repeated, or a type that no tensor has
};

/// A program that is only a function: its initialisation makes `result` of `initial`; its step passes the result on and
/// is never run. What is claimed of it is disputed like any initialisation (DSP-11).
Program make_function(StateTensor result, std::vector<StateTensor> initial, canonical::Graph init);

/// Decodes and checks; what it returns is safe to execute.
Result<Program, ProgramError> decode_program(ByteView bytes);
Result<void, ProgramError> check_program(const Program& program);

}  // namespace assay::program
