// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/model.hpp>

#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <onnx/onnx_pb.h>
#include <verifier/compile/onnx/host_tensor.hpp>
#include <verifier/compile/onnx/refusal.hpp>

namespace assay::onnx {
namespace {

constexpr int kMaxModelNodes = static_cast<int>(canonical::kMaxNodes);
constexpr std::uint64_t kMaxTensorElements = std::uint64_t{1} << 30U;

template <class Message>
Message parse_message(ByteView bytes, const char* what) {
    Message out;
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
        !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        refuse(ImportErrorKind::kMalformed, std::string("not the protobuf encoding of ") + what);
    }
    return out;
}

ElementType element_type(std::int64_t number, const std::string& name) {
    if (number < 0 || number > 255 || !is_element_type(static_cast<ElementType>(number))) {
        refuse_unsupported("'" + name + "' has element type " + std::to_string(number) + ", which is not supported");
    }
    return static_cast<ElementType>(number);
}

std::uint32_t checked_size(std::int64_t size, const std::string& name) {
    if (size < 0) {
        refuse_invalid("'" + name + "' has a negative dimension");
    }
    if (size > std::int64_t{canonical::kMaxViewSize}) {
        refuse_too_large("'" + name + "' has a dimension of " + std::to_string(size));
    }
    return static_cast<std::uint32_t>(size);
}

std::uint64_t checked_count(const program::Dims& dims, const std::string& name) {
    std::uint64_t count = 1;
    for (const std::uint32_t size : dims) {
        count = count * size;  // both below 2^30
        if (count > kMaxTensorElements) {
            refuse_too_large("'" + name + "' has more than 2^30 elements");
        }
    }
    return count;
}

template <class To, class Field>
void append_values(Bytes& out, const Field& field) {
    for (const auto value : field) {
        const To narrow = static_cast<To>(value);
        const std::size_t at = out.size();
        out.resize(at + sizeof narrow);
        std::memcpy(out.data() + at, &narrow, sizeof narrow);
    }
}

// A tensor's elements when they are not in raw_data: which field depends on the type.
void append_typed_values(HostTensor& out, const ::onnx::TensorProto& proto) {
    switch (out.type) {
        case ElementType::kFloat:
            return append_values<float>(out.data, proto.float_data());
        case ElementType::kDouble:
            return append_values<double>(out.data, proto.double_data());
        case ElementType::kInt64:
            return append_values<std::int64_t>(out.data, proto.int64_data());
        case ElementType::kUint64:
            return append_values<std::uint64_t>(out.data, proto.uint64_data());
        case ElementType::kUint32:
            return append_values<std::uint32_t>(out.data, proto.uint64_data());
        case ElementType::kInt32:
            return append_values<std::int32_t>(out.data, proto.int32_data());
        case ElementType::kUint16:
        case ElementType::kInt16:
        case ElementType::kFloat16:
        case ElementType::kBfloat16:
            return append_values<std::uint16_t>(out.data, proto.int32_data());
        case ElementType::kUint8:
        case ElementType::kInt8:
        case ElementType::kBool:
            return append_values<std::uint8_t>(out.data, proto.int32_data());
    }
}

std::uint64_t decode_number(const std::string& text, const std::string& name) {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) {
        refuse_invalid("tensor '" + name + "' has '" + text + "' as a place in another file");
    }
    return out;
}

// The elements of a tensor that is in another file; `bytes` is what type and dimensions ask for.
Bytes external_data(
    const ::onnx::TensorProto& proto, const std::string& name, std::uint64_t bytes, const ExternalData& external
) {
    if (!external) {
        refuse_unsupported("tensor '" + name + "' keeps its data in another file; store it inside the model");
    }
    std::string location;
    std::uint64_t offset = 0;
    for (const ::onnx::StringStringEntryProto& entry : proto.external_data()) {
        if (entry.key() == "location") {
            location = entry.value();
        } else if (entry.key() == "offset") {
            offset = decode_number(entry.value(), name);
        } else if (entry.key() == "length" && decode_number(entry.value(), name) != bytes) {
            refuse_invalid(
                "tensor '" + name + "' has " + entry.value() + " bytes in another file, and asks for " +
                std::to_string(bytes)
            );
        }
    }
    std::optional<Bytes> found = external(location, offset, bytes);
    if (!found || found->size() != bytes) {
        refuse_invalid(
            "tensor '" + name + "' is to be at byte " + std::to_string(offset) + " of '" + location +
            "', a file beside the model, and cannot be read there"
        );
    }
    return *std::move(found);
}

HostTensor to_host_tensor(
    const ::onnx::TensorProto& proto, const std::string& name, const ExternalData& external = {}
) {
    if (proto.has_segment()) {
        refuse_unsupported("tensor '" + name + "' is stored in segments");
    }
    HostTensor out;
    out.type = element_type(proto.data_type(), name);
    for (const std::int64_t size : proto.dims()) {
        out.dims.push_back(checked_size(size, name));
    }
    const std::uint64_t bytes = checked_count(out.dims, name) * size_of(out.type);
    if (proto.data_location() == ::onnx::TensorProto::EXTERNAL || proto.external_data_size() != 0) {
        out.data = external_data(proto, name, bytes, external);
    } else if (proto.has_raw_data()) {
        const std::string& raw = proto.raw_data();
        out.data.assign(raw.begin(), raw.end());
    } else {
        append_typed_values(out, proto);
    }
    if (out.data.size() != bytes) {
        refuse_invalid(
            "tensor '" + name + "' has " + std::to_string(out.data.size()) +
            " bytes of data where its type and dimensions ask for " + std::to_string(bytes)
        );
    }
    return out;
}

Attribute to_attribute(const ::onnx::AttributeProto& proto, const ExternalData& external) {
    Attribute out;
    switch (proto.type()) {
        case ::onnx::AttributeProto::INT:
            out.kind = AttributeKind::kInt;
            out.integer = proto.i();
            break;
        case ::onnx::AttributeProto::FLOAT:
            out.kind = AttributeKind::kFloat;
            out.real = proto.f();
            break;
        case ::onnx::AttributeProto::STRING:
            out.kind = AttributeKind::kString;
            out.text = proto.s();
            break;
        case ::onnx::AttributeProto::INTS:
            out.kind = AttributeKind::kInts;
            out.integers.assign(proto.ints().begin(), proto.ints().end());
            break;
        case ::onnx::AttributeProto::FLOATS:
            out.kind = AttributeKind::kFloats;
            out.reals.assign(proto.floats().begin(), proto.floats().end());
            break;
        case ::onnx::AttributeProto::STRINGS:
            out.kind = AttributeKind::kStrings;
            out.texts.assign(proto.strings().begin(), proto.strings().end());
            break;
        case ::onnx::AttributeProto::TENSOR:
            out.kind = AttributeKind::kTensor;
            out.tensor = to_host_tensor(proto.t(), proto.name(), external);
            break;
        default:
            break;
    }
    return out;
}

std::string place_of(const ModelNode& node, int index) {
    return "node " + std::to_string(index) + " '" + node.name + "' (" + node.op + ")";
}

ModelNode to_node(const ::onnx::NodeProto& proto, int index, const ExternalData& external) {
    ModelNode out;
    out.name = proto.name();
    out.op = proto.op_type();
    out.domain = proto.domain();
    out.inputs.assign(proto.input().begin(), proto.input().end());
    out.outputs.assign(proto.output().begin(), proto.output().end());
    try {
        for (const ::onnx::AttributeProto& attribute : proto.attribute()) {
            if (!out.attributes.emplace(attribute.name(), to_attribute(attribute, external)).second) {
                refuse_invalid("attribute '" + attribute.name() + "' is given twice");
            }
        }
    } catch (Refusal& refusal) {
        refusal.locate(place_of(out, index), out.op);
        throw;
    }
    return out;
}

ModelPort to_port(const ::onnx::ValueInfoProto& proto) {
    ModelPort out;
    out.name = proto.name();
    if (!proto.type().has_tensor_type()) {
        refuse_unsupported("'" + out.name + "' is not a tensor");
    }
    const ::onnx::TypeProto_Tensor& type = proto.type().tensor_type();
    out.type = element_type(type.elem_type(), out.name);
    if (!type.has_shape()) {
        return out;
    }
    out.dims.emplace();
    for (const ::onnx::TensorShapeProto_Dimension& dim : type.shape().dim()) {
        ModelDim& to = out.dims->emplace_back();
        if (dim.has_dim_value() && dim.dim_value() >= 0) {
            to.size = checked_size(dim.dim_value(), out.name);
        }
        to.name = dim.has_dim_param() ? dim.dim_param() : std::string();
    }
    return out;
}

std::int64_t default_opset(const ::onnx::ModelProto& proto) {
    std::int64_t opset = 0;
    for (const ::onnx::OperatorSetIdProto& id : proto.opset_import()) {
        if (id.domain().empty() || id.domain() == "ai.onnx") {
            opset = id.version();
        }
    }
    if (opset < 1 && proto.opset_import_size() == 0) {
        refuse_invalid("the model imports no operator set");
    }
    if (opset > kMaxOpset) {
        refuse_unsupported("opset " + std::to_string(opset) + " is not supported; export with opset 13 to 17");
    }
    return opset;
}

// Exporters name outputs that nothing reads, as Dropout's mask; an operator need not have them.
void forget_unread_outputs(Model& model) {
    std::set<std::string> read;
    for (const ModelNode& node : model.nodes) {
        read.insert(node.inputs.begin(), node.inputs.end());
    }
    for (const ModelPort& output : model.outputs) {
        read.insert(output.name);
    }
    for (ModelNode& node : model.nodes) {
        for (std::string& output : node.outputs) {
            if (!read.contains(output)) {
                output.clear();
            }
        }
    }
}

}  // namespace

Model decode_model(ByteView bytes, const ExternalData& external) {
    const auto proto = parse_message<::onnx::ModelProto>(bytes, "an ONNX model");
    if (!proto.has_graph()) {
        refuse(ImportErrorKind::kMalformed, "the model has no graph");
    }
    const ::onnx::GraphProto& graph = proto.graph();
    if (graph.node_size() > kMaxModelNodes) {
        refuse_too_large("the model has more than " + std::to_string(kMaxModelNodes) + " nodes");
    }
    if (graph.sparse_initializer_size() != 0) {
        refuse_unsupported("sparse initializers are not supported");
    }
    Model out;
    out.opset = default_opset(proto);
    std::set<std::string> initialised;
    for (const ::onnx::TensorProto& tensor : graph.initializer()) {
        if (tensor.name().empty() || !initialised.insert(tensor.name()).second) {
            refuse_invalid("initializer '" + tensor.name() + "' has no name or is given twice");
        }
        out.initializers.push_back({tensor.name(), to_host_tensor(tensor, tensor.name(), external)});
    }
    for (const ::onnx::ValueInfoProto& input : graph.input()) {
        if (!initialised.contains(input.name())) {
            out.inputs.push_back(to_port(input));
        }
    }
    for (int i = 0; i < graph.node_size(); ++i) {
        out.nodes.push_back(to_node(graph.node(i), i, external));
    }
    for (const ::onnx::ValueInfoProto& output : graph.output()) {
        out.outputs.push_back(to_port(output));
    }
    forget_unread_outputs(out);
    return out;
}

std::vector<std::string> external_locations(ByteView model) {
    ::onnx::ModelProto proto;
    if (model.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
        !proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
        return {};
    }
    std::set<std::string> found;
    const auto look_at = [&found](const ::onnx::TensorProto& tensor) {
        for (const ::onnx::StringStringEntryProto& entry : tensor.external_data()) {
            if (entry.key() == "location") {
                found.insert(entry.value());
            }
        }
    };
    for (const ::onnx::TensorProto& tensor : proto.graph().initializer()) {
        look_at(tensor);
    }
    for (const ::onnx::NodeProto& node : proto.graph().node()) {
        for (const ::onnx::AttributeProto& attribute : node.attribute()) {
            look_at(attribute.t());
        }
    }
    return {found.begin(), found.end()};
}

HostTensor decode_tensor_proto(ByteView bytes) {
    const auto proto = parse_message<::onnx::TensorProto>(bytes, "an ONNX tensor");
    return to_host_tensor(proto, proto.name());
}

}  // namespace assay::onnx
