// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include <verifier/compile/onnx/lowering.hpp>
#include <verifier/compile/onnx/model.hpp>

/// Inside onnx only: what both ways of importing share.
namespace assay::onnx {

/// A model's values by name while its nodes are lowered in order.
class Importer {
  public:
    /// `model` outlives the importer.
    Importer(const Model& model, Lowering& lowering) : model_(model), lowering_(lowering) {}

    void add(const std::string& name, Operand value);
    /// Initializers: integers and bools are known at import; real numbers are tensors of the state, but for those that
    /// `is_known` picks.
    void add_initializers(const std::function<bool(const NamedHostTensor&)>& is_known);
    /// Lowers every node. Throws Refusal, which says which node it was.
    void lower_nodes();
    /// Throws Refusal when there is no such value.
    Operand find(const std::string& name) const;

  private:
    void lower(std::size_t index);

    const Model& model_;
    Lowering& lowering_;
    std::map<std::string, Operand> values_;
};

/// The dimensions of a graph input; the first is `batch` where that is not 0.
Dims resolve_dims(const ModelPort& port, const Dimensions& dimensions, std::uint32_t batch);

/// Turns a Refusal out of `import` into an error.
template <class T>
Result<T, ImportError> without_exceptions(const std::function<T()>& import) {
    try {
        return import();
    } catch (const Refusal& refusal) {
        return Unexpected{refusal.error()};
    }
}

}  // namespace assay::onnx
