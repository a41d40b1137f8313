// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/importer.hpp>

#include <utility>

#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {

void Importer::add(const std::string& name, Operand value) {
    checked_elements(value->dims);
    if (name.empty() || !values_.emplace(name, std::move(value)).second) {
        refuse_invalid("value '" + name + "' has no name or is produced twice");
    }
}

void Importer::add_initializers(const std::function<bool(const NamedHostTensor&)>& is_known) {
    for (const NamedHostTensor& initializer : model_.initializers) {
        const HostTensor& tensor = initializer.tensor;
        const std::uint64_t count = checked_elements(tensor.dims);
        const bool is_real = kind_of(tensor.type) == Kind::kReal;
        if (count == 0 || (count <= kMaxConstant && (!is_real || is_known(initializer)))) {
            add(initializer.name, lowering_.add_constant(to_constant(tensor), initializer.name));
            continue;
        }
        auto slot = std::make_shared<Slot>();
        slot->type = tensor.type;
        slot->dims = tensor.dims;
        slot->name = initializer.name;
        slot->initializer = &tensor;
        slot->is_weight = is_real;
        add(initializer.name, std::move(slot));
    }
}

Operand Importer::find(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) {
        refuse_invalid("value '" + name + "' is not produced by anything before it is used");
    }
    return found->second;
}

void Importer::lower(std::size_t index) {
    const ModelNode& node = model_.nodes[index];
    std::vector<Operand> inputs;
    for (const std::string& name : node.inputs) {
        inputs.push_back(name.empty() ? nullptr : find(name));
    }
    Call call(lowering_, node, model_.opset, std::move(inputs));
    const Outputs outputs = lower_node(call);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (!call.wants_output(i)) {
            continue;
        }
        if (outputs[i]->name.empty()) {
            outputs[i]->name = node.outputs[i];
        }
        add(node.outputs[i], outputs[i]);
    }
    if (lowering_.graph().nodes().size() > canonical::kMaxNodes) {
        refuse_too_large("the graph has more than " + std::to_string(canonical::kMaxNodes) + " nodes");
    }
}

void Importer::lower_nodes() {
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
        try {
            lower(i);
        } catch (Refusal& refusal) {
            const ModelNode& node = model_.nodes[i];
            refusal.locate(
                "node " + std::to_string(i) + " '" + node.name + "' (" + node.op + ", opset " +
                    std::to_string(model_.opset) + ")",
                node.op
            );
            throw;
        }
    }
}

Dims resolve_dims(const ModelPort& port, const Dimensions& dimensions, std::uint32_t batch) {
    if (!port.dims) {
        refuse_unsupported("graph input '" + port.name + "' does not say how many dimensions it has");
    }
    Dims out;
    for (std::size_t i = 0; i < port.dims->size(); ++i) {
        const ModelDim& dim = (*port.dims)[i];
        const auto named = dim.name.empty() ? dimensions.end() : dimensions.find(dim.name);
        const bool is_batch = i == 0 && batch != 0;
        std::optional<std::uint32_t> size = dim.size;
        if (!size && named != dimensions.end()) {
            size = named->second;
        }
        if (is_batch && size && *size != batch) {
            refuse(
                ImportErrorKind::kConfig, "graph input '" + port.name + "' has a batch of " + std::to_string(*size) +
                                              ", not of " + std::to_string(batch)
            );
        }
        if (!size && !is_batch) {
            refuse(
                ImportErrorKind::kConfig, "dimension " + std::to_string(i) + " '" + dim.name + "' of graph input '" +
                                              port.name + "' is open: give its size"
            );
        }
        out.push_back(size ? *size : batch);
    }
    checked_elements(out);
    return out;
}

Result<HostTensor, ImportError> decode_tensor(ByteView bytes) {
    return without_exceptions<HostTensor>([&] { return decode_tensor_proto(bytes); });
}

Result<canonical::Tensor, ImportError> to_state_tensor(const HostTensor& tensor) {
    return without_exceptions<canonical::Tensor>([&] {
        if (checked_elements(tensor.dims) * size_of(tensor.type) != tensor.data.size()) {
            refuse_invalid("the data does not have the length that type and dimensions ask for");
        }
        return state_tensor_of(tensor);
    });
}

}  // namespace assay::onnx
