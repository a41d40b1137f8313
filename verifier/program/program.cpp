// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/program.hpp>

#include <algorithm>

namespace assay::program {
namespace {

using canonical::DType;
using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::TensorType;

Result<void, ProgramError> fail(ProgramError error) { return Unexpected{error}; }

// PRG-6: names identify tensors in checkpoints, so each is there and is the only one.
bool is_state_named(const std::vector<StateTensor>& state) {
    if (state.empty() || state.size() > canonical::kMaxStateTensors) {
        return false;
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        const auto before = state.begin() + static_cast<std::ptrdiff_t>(i);
        const bool repeated =
            std::any_of(state.begin(), before, [&](const StateTensor& t) { return t.name == state[i].name; });
        if (state[i].name.empty() || repeated) {
            return false;
        }
    }
    return true;
}

// PRG-6: batches exist in the step only, and are what the program declares.
bool is_dataset_consistent(const Program& program) {
    const canonical::DatasetShape& dataset = program.dataset;
    if (dataset.rows == 0 || dataset.width == 0 || dataset.width > canonical::kMaxRowWidth || program.batch_size == 0) {
        return false;
    }
    const Shape batch{program.batch_size, dataset.width};
    const auto is_batch = [](const Node& node) { return node.op == Op::kBatchRows; };
    const auto is_wrong_batch = [&](const Node& node) { return is_batch(node) && node.shape != batch; };
    return std::none_of(program.init.begin(), program.init.end(), is_batch) &&
           std::none_of(program.step.begin(), program.step.end(), is_wrong_batch);
}

}  // namespace

Result<Program, ProgramError> decode_program(ByteView bytes) {
    auto program = codec::decode<Program>(bytes);
    if (!program) {
        return Unexpected{ProgramError::kMalformed};  // PRG-1
    }
    TRY(check_program(*program));
    return *std::move(program);
}

Result<void, ProgramError> check_program(const Program& program) {
    if (!is_state_named(program.state)) {
        return fail(ProgramError::kState);
    }
    std::vector<TensorType> types;
    types.reserve(program.state.size());
    for (const StateTensor& tensor : program.state) {
        types.push_back(tensor.type);
    }
    if (!canonical::check_graph(program.init, {}, types)) {
        return fail(ProgramError::kInit);
    }
    if (!canonical::check_graph(program.step, types, types)) {
        return fail(ProgramError::kStep);
    }
    // The last node is kCommit, which has no tensor.
    if (program.loss_node + std::uint64_t{1} >= program.step.size()) {
        return fail(ProgramError::kLoss);
    }
    const Node& loss = program.step[program.loss_node];
    if (loss.dtype != DType::kF32 || loss.shape != Shape{1, 1}) {
        return fail(ProgramError::kLoss);
    }
    return is_dataset_consistent(program) ? Result<void, ProgramError>{} : fail(ProgramError::kDataset);
}

}  // namespace assay::program
