// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/program.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <verifier/compile/program/graph_builder.hpp>

namespace assay::program {
namespace {

using canonical::DType;
using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::TensorType;

Result<void, ProgramError> fail(ProgramError error) { return Unexpected{error}; }

// PRG-6: names identify tensors in the files of checkpoints, so each has one that such a file can have, and no other
// has it.
bool are_named(const std::vector<StateTensor>& tensors) {
    std::set<std::string_view> names;
    return std::all_of(tensors.begin(), tensors.end(), [&](const StateTensor& tensor) {
        return !tensor.name.empty() && tensor.name.size() <= kMaxNameBytes && tensor.name != "__metadata__" &&
               names.insert(tensor.name).second;
    });
}

// PRG-6: what check_graph does not see where no node reads the tensor.
bool are_sized(const std::vector<StateTensor>& tensors) {
    const auto is_size = [](std::uint32_t n) { return n >= 1 && n <= canonical::kMaxDimension; };
    return std::all_of(tensors.begin(), tensors.end(), [&](const StateTensor& tensor) {
        return is_valid(tensor.type.dtype) && is_size(tensor.type.shape.rows) && is_size(tensor.type.shape.cols);
    });
}

// PRG-6: batches exist in the step only, and are what the program declares.
bool is_dataset_consistent(const Program& program) {
    const canonical::DatasetShape& dataset = program.dataset;
    if (!canonical::is_valid(dataset) || program.batch_size == 0) {
        return false;
    }
    const Shape batch{program.batch_size, dataset.width};
    const auto is_batch = [](const Node& node) { return node.op == Op::kBatchRows; };
    const auto is_wrong_batch = [&](const Node& node) { return is_batch(node) && node.shape != batch; };
    return std::none_of(program.init.begin(), program.init.end(), is_batch) &&
           std::none_of(program.step.begin(), program.step.end(), is_wrong_batch);
}

using Places = std::vector<std::optional<std::uint32_t>>;

/// Those that `step` passes on as they are.
Places passed_tensors(const Program& program) {
    Places out(program.state.size());
    for (std::uint32_t i = 0; i < out.size() && !program.step.empty(); ++i) {
        const canonical::Input& after = program.step.back().inputs[i];
        if (after.source == canonical::Source::kState && after.index == i) {
            out[i] = i;
        }
    }
    return out;
}

/// ART-10: where it would be all tensors, it is none.
Places unless_all(Places places) {
    const bool is_all = std::all_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
    return is_all ? Places(places.size()) : places;
}

}  // namespace

std::vector<TensorType> types_of(const std::vector<StateTensor>& tensors) {
    std::vector<TensorType> types;
    types.reserve(tensors.size());
    for (const StateTensor& tensor : tensors) {
        types.push_back(tensor.type);
    }
    return types;
}

std::uint64_t size_bytes(const std::vector<StateTensor>& tensors) {
    std::uint64_t bytes = 0;
    for (const StateTensor& tensor : tensors) {
        bytes += tensor.type.shape.element_count() * canonical::size_of(tensor.type.dtype);
    }
    return bytes;
}

Program make_function(StateTensor result, std::vector<StateTensor> initial, Graph init) {
    GraphBuilder step;
    Value loss = step.fill(Shape{1, 1}, 0.0F);
    const std::array<Value, 1> next{GraphBuilder::state(0, result.type)};
    Program program;
    program.state = {std::move(result)};
    program.initial = std::move(initial);
    program.init = std::move(init);
    program.step = std::move(step).commit(next, loss);
    program.loss_node = loss.index;
    program.batch_size = 1;
    program.dataset = {.rows = 1, .width = 1};
    return program;
}

Result<Program, ProgramError> decode_program(ByteView bytes) {
    auto program = codec::decode<Program>(bytes);
    if (!program) {
        return Unexpected{ProgramError::kMalformed};  // PRG-1
    }
    TRY(check_program(*program));
    return *std::move(program);
}

std::vector<std::optional<std::uint32_t>> frozen_tensors(const Program& program) {
    if (program.initial.empty() || program.init.empty()) {
        return std::vector<std::optional<std::uint32_t>>(program.state.size());
    }
    auto out = passed_tensors(program);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const canonical::Input& made = program.init.back().inputs[i];
        out[i] = out[i] && made.source == canonical::Source::kState ? std::optional(made.index) : std::nullopt;
    }
    return unless_all(std::move(out));
}

std::vector<std::optional<std::uint32_t>> inherited_tensors(const Program& program) {
    return unless_all(passed_tensors(program));
}

Result<void, ProgramError> check_program(const Program& program) {
    if (program.state.empty() || program.state.size() > canonical::kMaxStateTensors || !are_named(program.state)) {
        return fail(ProgramError::kState);
    }
    if (program.initial.size() > canonical::kMaxTensorsBefore || !are_named(program.initial) ||
        !are_sized(program.initial)) {
        return fail(ProgramError::kInitial);
    }
    const std::vector<TensorType> types = types_of(program.state);
    if (!canonical::check_graph(program.init, types_of(program.initial), types)) {
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
