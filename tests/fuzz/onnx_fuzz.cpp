// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/compile/onnx/import.hpp>

namespace assay::fuzz {
namespace {

template <class T>
std::vector<canonical::TensorType> types_of(const std::vector<T>& tensors) {
    std::vector<canonical::TensorType> out;
    for (const auto& tensor : tensors) {
        out.push_back(tensor.type);
    }
    return out;
}

void require_explained(const onnx::ImportError& error) {
    ASSERT(!error.message.empty());
    ASSERT((error.kind == onnx::ImportErrorKind::kNeedsConstant) == !error.input.empty());
}

void import_forward(ByteView input) {
    onnx::ForwardConfig config;
    config.dimensions["batch"] = 2;
    const auto imported = onnx::import_forward(input, config);
    if (!imported) {
        return require_explained(imported.error());
    }
    ASSERT(imported->state.size() == imported->values.size());
    std::vector<canonical::TensorType> after;
    for (const canonical::Input& committed : imported->graph.back().inputs) {
        after.push_back({committed.dtype, committed.shape});
    }
    ASSERT(canonical::check_graph(imported->graph, types_of(imported->state), after).has_value());
    for (const onnx::GraphPort& port : imported->outputs) {
        ASSERT(!port.tensor || after.at(*port.tensor).shape == program::matrix_shape(port.dims));
    }
    const auto again = onnx::import_forward(input, config);
    ASSERT(again.has_value() && again->graph == imported->graph);
}

void import_training(ByteView input) {
    onnx::TrainingConfig config;
    config.batch_size = 2;
    config.dataset_rows = 5;
    const auto imported = onnx::import_training(input, config);
    if (!imported) {
        return require_explained(imported.error());
    }
    ASSERT(program::check_program(imported->program).has_value());
    ASSERT(imported->initial.size() == imported->program.initial.size());
}

}  // namespace

void run(ByteView input) {
    import_forward(input);
    import_training(input);
    if (const auto tensor = onnx::decode_tensor(input)) {
        static_cast<void>(onnx::to_state_tensor(*tensor));
    }
}

}  // namespace assay::fuzz
