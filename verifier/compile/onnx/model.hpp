// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/compile/onnx/import.hpp>

/// Internal to the importer: a decoded model. Protobuf is used only in model.cpp.
namespace assay::onnx {

enum class AttributeKind : std::uint8_t { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor, kOther };

struct Attribute {
    AttributeKind kind = AttributeKind::kOther;
    std::int64_t integer = 0;
    float real = 0.0F;
    std::string text{};
    std::vector<std::int64_t> integers{};
    std::vector<float> reals{};
    std::vector<std::string> texts{};
    HostTensor tensor{};
};

struct ModelNode {
    std::string name;
    std::string op;
    std::string domain;
    std::vector<std::string> inputs;   ///< an empty name is an omitted input
    std::vector<std::string> outputs;  ///< an empty name is an output that is omitted or unused
    std::map<std::string, Attribute> attributes;
};

/// A dimension of a graph input: a size, a symbolic name, or neither.
struct ModelDim {
    std::optional<std::uint32_t> size;
    std::string name;
};

struct ModelPort {
    std::string name;
    ElementType type = ElementType::kFloat;
    std::optional<std::vector<ModelDim>> dims;
};

struct NamedHostTensor {
    std::string name;
    HostTensor tensor;
};

struct Model {
    std::int64_t opset = 0;
    std::vector<ModelNode> nodes;
    std::vector<NamedHostTensor> initializers;
    std::vector<ModelPort> inputs;  ///< without those that are initializers
    std::vector<ModelPort> outputs;
};

inline constexpr std::int64_t kMaxOpset = 17;

/// Decodes a model, with what it keeps in other files. Throws Refusal.
Model decode_model(ByteView bytes, const ExternalData& external = {});
/// Decodes a TensorProto. Throws Refusal.
HostTensor decode_tensor_proto(ByteView bytes);

}  // namespace assay::onnx
