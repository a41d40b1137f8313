// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <verifier/compile/onnx/lowering.hpp>
#include <verifier/compile/onnx/model.hpp>

/// Internal to the importer: one model node while its operator is lowered into the graph. Everything invalid or
/// unsupported throws Refusal; the importer adds the node's name.
namespace assay::onnx {

class Call {
  public:
    Call(Lowering& lowering, const ModelNode& node, std::int64_t opset, std::vector<Operand> inputs)
        : lowering_(lowering), node_(node), opset_(opset), inputs_(std::move(inputs)) {}

    Lowering& lowering() { return lowering_; }
    program::Tape& tape() { return lowering_.tape(); }
    program::GraphBuilder& graph() { return lowering_.graph(); }
    const ModelNode& node() const { return node_; }
    std::int64_t opset() const { return opset_; }

    // Inputs.
    std::size_t input_count() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
    const Operand& in(std::size_t i) const;
    Array array(std::size_t i) { return lowering_.array(in(i)); }
    Array array_any(std::size_t i) { return lowering_.array_any(in(i)); }
    std::size_t rank(std::size_t i) const { return in(i)->dims.size(); }
    /// Returns input `i`, which must be known at import because it determines shapes; `what` describes it in the error
    /// message.
    Constant known(std::size_t i, const char* what) const;
    std::vector<std::int64_t> known_integers(std::size_t i, const char* what) const;
    std::int64_t known_integer(std::size_t i, const char* what) const;
    double known_real(std::size_t i, const char* what) const;

    // Outputs.
    bool wants_output(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

    // Attributes.
    bool has_attribute(const std::string& name) const { return node_.attributes.contains(name); }
    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    std::int64_t integer(const std::string& name) const;
    float real(const std::string& name, float otherwise) const;
    std::string text(const std::string& name, const std::string& otherwise) const;
    std::vector<std::int64_t> integers(const std::string& name) const;  ///< empty if absent
    const Attribute* attribute(const std::string& name, AttributeKind kind) const;

    /// Returns `axis` normalised to 0 .. rank-1; negative values count from the end. Pass rank + 1 for positions
    /// between axes.
    std::uint32_t axis_of(std::int64_t axis, std::size_t rank) const;
    /// Returns integers given as attribute `name` in older opsets and as input `i` in newer ones; nullopt if absent.
    std::optional<std::vector<std::int64_t>> integers_or_input(const std::string& name, std::size_t i) const;

    /// Throws Refusal for an unsupported attribute value.
    [[noreturn]] void unsupported_attribute(const std::string& name, const std::string& value) const;
    /// Throws Refusal unless both inputs have the same element type.
    void require_same_type(std::size_t i, std::size_t j) const;
    void require_kind(std::size_t i, Kind kind, const char* what) const;

  private:
    Lowering& lowering_;
    const ModelNode& node_;
    std::int64_t opset_;
    std::vector<Operand> inputs_;
};

using Outputs = std::vector<Operand>;

}  // namespace assay::onnx
