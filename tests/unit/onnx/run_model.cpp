// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/onnx/run_model.hpp>

#include <cmath>
#include <cstring>

#include <doctest/doctest.h>
#include <core/canonical/executor.hpp>

namespace assay::onnx::test {
namespace {

class NoRows : public canonical::RowSource {
  public:
    canonical::DatasetShape shape() const override { return {1, 1}; }
    Bytes row(std::uint64_t) const override { return zeros_; }

  private:
    Bytes zeros_ = Bytes(4, 0);
};

}  // namespace

std::vector<canonical::Tensor> run_forward(const ForwardGraph& model, const std::map<std::string, HostTensor>& inputs) {
    std::vector<canonical::Tensor> state = model.values;
    for (const GraphPort& port : model.inputs) {
        if (!port.tensor) {
            continue;
        }
        const auto tensor = to_state_tensor(inputs.at(port.name));
        REQUIRE_MESSAGE(tensor.has_value(), port.name);
        REQUIRE(tensor->shape == state[*port.tensor].shape);
        state[*port.tensor] = *tensor;
    }
    std::map<std::uint32_t, canonical::Tensor> computed;
    const std::vector<canonical::Input>& committed = model.graph.back().inputs;
    const auto observe = [&](std::uint32_t node, const canonical::Tensor& tensor) {
        for (const canonical::Input& input : committed) {
            if (input.source == canonical::Source::kNode && input.index == node) {
                computed[node] = tensor;
            }
        }
        return true;
    };
    // The observer has the outputs of a step that "diverges" too.
    static_cast<void>(canonical::execute_graph(model.graph, {}, NoRows{}, state, observe));
    std::vector<canonical::Tensor> out;
    for (const canonical::Input& input : committed) {
        out.push_back(input.source == canonical::Source::kNode ? computed.at(input.index) : state[input.index]);
    }
    return out;
}

double element(const canonical::Tensor& tensor, std::size_t i) {
    if (tensor.dtype == canonical::DType::kI32) {
        std::int32_t value = 0;
        std::memcpy(&value, tensor.data.data() + i * 4, 4);
        return value;
    }
    float value = 0.0F;
    std::memcpy(&value, tensor.data.data() + i * 4, 4);
    return static_cast<double>(value);
}

std::string difference(
    const GraphPort& port, const std::vector<canonical::Tensor>& outputs, const HostTensor& expected
) {
    if (port.type != expected.type) {
        return std::string("type ") + to_string(port.type) + " instead of " + to_string(expected.type);
    }
    if (port.dims != expected.dims) {
        return "other dimensions";
    }
    if (!port.tensor) {
        return expected.data.empty() ? "" : "no tensor";
    }
    const auto wanted = to_state_tensor(expected);
    if (!wanted) {
        return "expected output: " + wanted.error().message;
    }
    const canonical::Tensor& got = outputs[*port.tensor];
    if (got.shape != wanted->shape || got.dtype != wanted->dtype) {
        return "another tensor type";
    }
    const bool is_exact = expected.type != ElementType::kFloat && expected.type != ElementType::kDouble;
    for (std::size_t i = 0; i < got.shape.element_count(); ++i) {
        const double x = element(got, i);
        const double y = element(*wanted, i);
        const bool is_same = x == y || (std::isnan(x) && std::isnan(y));
        if (!is_same && (is_exact || !(std::abs(x - y) <= 1e-7 + 1e-3 * std::abs(y)))) {
            return "element " + std::to_string(i) + " is " + std::to_string(x) + " instead of " + std::to_string(y);
        }
    }
    return "";
}

}  // namespace assay::onnx::test
