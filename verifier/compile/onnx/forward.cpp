// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <verifier/compile/onnx/importer.hpp>
#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {
namespace {

void require_agreement(const ModelPort& port, const HostTensor& given) {
    const bool fits = given.type == port.type && (!port.dims || port.dims->size() == given.dims.size()) &&
                      count_of(given) == checked_elements(given.dims);
    if (!fits) {
        refuse(
            ImportErrorKind::kConfig, "the constant for graph input '" + port.name + "' is " + to_string(given.type) +
                                          to_text(given.dims) + ", which is not what the model asks for"
        );
    }
}

GraphPort add_input(Lowering& lowering, Importer& importer, const ModelPort& port, const ForwardConfig& config) {
    if (const auto given = config.constants.find(port.name); given != config.constants.end()) {
        require_agreement(port, given->second);
        importer.add(port.name, lowering.add_constant(to_constant(given->second), port.name));
        return {port.name, port.type, given->second.dims, std::nullopt};
    }
    GraphPort out{port.name, port.type, resolve_dims(port, config.dimensions, 0), std::nullopt};
    if (checked_elements(out.dims) == 0) {
        importer.add(port.name, lowering.add_constant(Constant{port.type, out.dims, {}, {}}, port.name));
        return out;
    }
    lowering.require_computable(port.type);
    StateEntry entry;
    entry.name = port.name;
    entry.type = state_type_of(port.type, out.dims);
    entry.value = canonical::make_tensor(entry.type.dtype, entry.type.shape);
    const Value value = lowering.add_state(std::move(entry));
    out.tensor = value.index;
    const Operand slot = lowering.add_array({port.type, out.dims, value, false});
    slot->name = port.name;
    slot->is_graph_input = true;
    importer.add(port.name, slot);
    return out;
}

// The graph's name for an output, as a tensor that a state can hold.
Value committed(Lowering& lowering, const Operand& x) {
    const Array array = lowering.array(x);
    return kind_of(array.type) == Kind::kInteger ? lowering.index(array) : array.value;
}

canonical::Graph commit(Lowering& lowering, std::vector<Value> outputs) {
    const auto is_node = [](const Value& value) { return value.source == canonical::Source::kNode; };
    if (outputs.empty()) {
        outputs.push_back(lowering.scalar(0.0F));
    }
    const auto node = std::find_if(outputs.begin(), outputs.end(), is_node);
    Value anchor = node == outputs.end() ? lowering.scalar(0.0F) : *node;
    return std::move(lowering.graph()).commit(outputs, anchor);
}

ForwardGraph forward(ByteView bytes, const ForwardConfig& config) {
    const Model model = decode_model(bytes);
    Lowering lowering(Mode::kForward, config.profile);
    Importer importer(model, lowering);
    ForwardGraph out;
    for (const auto& [name, tensor] : config.constants) {
        const auto is_it = [&name = name](const ModelPort& port) { return port.name == name; };
        if (std::none_of(model.inputs.begin(), model.inputs.end(), is_it)) {
            refuse(ImportErrorKind::kConfig, "there is no graph input '" + name + "'");
        }
    }
    for (const ModelPort& port : model.inputs) {
        out.inputs.push_back(add_input(lowering, importer, port, config));
    }
    importer.add_initializers([](const NamedHostTensor& initializer) { return count_of(initializer.tensor) == 1; });
    importer.lower_nodes();
    std::vector<Value> values;
    std::vector<canonical::TensorType> after;
    for (const ModelPort& port : model.outputs) {
        const Operand found = importer.find(port.name);
        GraphPort& to = out.outputs.emplace_back(GraphPort{port.name, found->type, found->dims, std::nullopt});
        if (!found->is_empty()) {
            to.tensor = static_cast<std::uint32_t>(values.size());
            values.push_back(committed(lowering, found));
            after.push_back({values.back().dtype, values.back().shape});
        }
    }
    if (values.empty()) {
        after.push_back({canonical::DType::kF32, {1, 1}});
    }
    out.graph = commit(lowering, std::move(values));
    std::vector<canonical::TensorType> before;
    for (StateEntry& entry : lowering.state()) {
        before.push_back(entry.type);
        out.state.push_back({std::move(entry.name), entry.type});
        out.values.push_back(std::move(entry).take_value());
    }
    out.notes = std::move(lowering.notes());
    if (!canonical::check_graph(out.graph, before, after)) {
        refuse_too_large("the model does not fit a graph");
    }
    return out;
}

}  // namespace

Result<ForwardGraph, ImportError> import_forward(ByteView model, const ForwardConfig& config) {
    return without_exceptions<ForwardGraph>([&] { return forward(model, config); });
}

}  // namespace assay::onnx
