// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <onnx/onnx_pb.h>
#include <verifier/compile/onnx/import.hpp>

namespace assay::onnx::test {

/// Writes small models through ONNX's own protobuf messages.
class ModelBuilder {
  public:
    explicit ModelBuilder(std::int64_t opset = 17);

    /// A dimension of -1 is left open under the name "batch".
    void input(const std::string& name, const std::vector<std::int64_t>& dims, ElementType type = ElementType::kFloat);
    void output(const std::string& name);
    void initializer(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values);
    void integers(const std::string& name, const std::vector<std::int64_t>& values);

    /// The node written last takes the attributes.
    void node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
    void attribute(const std::string& name, std::int64_t value);
    void attribute(const std::string& name, float value);
    void attribute(const std::string& name, const std::string& value);
    void attribute(const std::string& name, const std::vector<std::int64_t>& values);

    ::onnx::ModelProto& proto() { return model_; }
    Bytes bytes() const;

  private:
    ::onnx::AttributeProto& add_attribute(const std::string& name);

    ::onnx::ModelProto model_;
};

/// Reproducible numbers in [-1, 1), multiples of 2^-10.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
    float next();
    std::uint32_t below(std::uint32_t n);
    std::vector<float> many(std::size_t count, float scale = 1.0F);

  private:
    std::uint64_t state_;
};

HostTensor host_floats(const program::Dims& dims, const std::vector<float>& values);
HostTensor host_integers(const program::Dims& dims, const std::vector<std::int64_t>& values);

}  // namespace assay::onnx::test
