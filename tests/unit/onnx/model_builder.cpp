// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/onnx/model_builder.hpp>

#include <cstring>

namespace assay::onnx::test {
namespace {

template <class T>
HostTensor host_tensor(ElementType type, const program::Dims& dims, const std::vector<T>& values) {
    HostTensor out{type, dims, Bytes(values.size() * sizeof(T))};
    if (!values.empty()) {
        std::memcpy(out.data.data(), values.data(), out.data.size());
    }
    return out;
}

}  // namespace

ModelBuilder::ModelBuilder(std::int64_t opset) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("test");
}

void ModelBuilder::input(const std::string& name, const std::vector<std::int64_t>& dims, ElementType type) {
    auto* port = model_.mutable_graph()->add_input();
    port->set_name(name);
    auto* tensor = port->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int>(type));
    tensor->mutable_shape();
    for (const std::int64_t size : dims) {
        auto* dim = tensor->mutable_shape()->add_dim();
        if (size < 0) {
            dim->set_dim_param("batch");
        } else {
            dim->set_dim_value(size);
        }
    }
}

void ModelBuilder::output(const std::string& name) {
    auto* port = model_.mutable_graph()->add_output();
    port->set_name(name);
    port->mutable_type()->mutable_tensor_type()->set_elem_type(1);
}

void ModelBuilder::initializer(
    const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values
) {
    auto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::FLOAT);
    tensor->mutable_dims()->Add(dims.begin(), dims.end());
    tensor->mutable_float_data()->Add(values.begin(), values.end());
}

void ModelBuilder::integers(const std::string& name, const std::vector<std::int64_t>& values) {
    auto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<std::int64_t>(values.size()));
    tensor->mutable_int64_data()->Add(values.begin(), values.end());
}

void ModelBuilder::node(
    const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs
) {
    auto* added = model_.mutable_graph()->add_node();
    added->set_op_type(op);
    added->set_name(outputs.empty() ? op : "make_" + outputs[0]);
    for (const std::string& input : inputs) {
        added->add_input(input);
    }
    for (const std::string& output : outputs) {
        added->add_output(output);
    }
}

::onnx::AttributeProto& ModelBuilder::add_attribute(const std::string& name) {
    auto* graph = model_.mutable_graph();
    auto* out = graph->mutable_node(graph->node_size() - 1)->add_attribute();
    out->set_name(name);
    return *out;
}

void ModelBuilder::attribute(const std::string& name, std::int64_t value) {
    auto& out = add_attribute(name);
    out.set_type(::onnx::AttributeProto::INT);
    out.set_i(value);
}

void ModelBuilder::attribute(const std::string& name, float value) {
    auto& out = add_attribute(name);
    out.set_type(::onnx::AttributeProto::FLOAT);
    out.set_f(value);
}

void ModelBuilder::attribute(const std::string& name, const std::string& value) {
    auto& out = add_attribute(name);
    out.set_type(::onnx::AttributeProto::STRING);
    out.set_s(value);
}

void ModelBuilder::attribute(const std::string& name, const std::vector<std::int64_t>& values) {
    auto& out = add_attribute(name);
    out.set_type(::onnx::AttributeProto::INTS);
    out.mutable_ints()->Add(values.begin(), values.end());
}

Bytes ModelBuilder::bytes() const {
    const std::string text = model_.SerializeAsString();
    return Bytes(text.begin(), text.end());
}

float Numbers::next() { return static_cast<float>(static_cast<std::int32_t>(below(2048)) - 1024) / 1024.0F; }

std::uint32_t Numbers::below(std::uint32_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((state_ >> 33U) % n);
}

std::vector<float> Numbers::many(std::size_t count, float scale) {
    std::vector<float> out;
    while (out.size() < count) {
        out.push_back(next() * scale);
    }
    return out;
}

HostTensor host_floats(const program::Dims& dims, const std::vector<float>& values) {
    return host_tensor(ElementType::kFloat, dims, values);
}

HostTensor host_integers(const program::Dims& dims, const std::vector<std::int64_t>& values) {
    return host_tensor(ElementType::kInt64, dims, values);
}

}  // namespace assay::onnx::test
