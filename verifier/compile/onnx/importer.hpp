// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include <verifier/compile/onnx/lowering.hpp>
#include <verifier/compile/onnx/model.hpp>

/// Internal to the importer: shared by forward and training import.
namespace assay::onnx {

/// The values of a model by name, while its nodes are lowered in order.
class Importer {
  public:
    /// `model` and `lowering` must outlive the importer.
    Importer(const Model& model, Lowering& lowering) : model_(model), lowering_(lowering) {}

    void add(const std::string& name, Operand value);
    /// Adds the initializers: integers and bools, and real numbers selected by `is_known`, are known at import; other
    /// real numbers become state tensors.
    void add_initializers(const std::function<bool(const NamedHostTensor&)>& is_known);
    /// Lowers all nodes. Throws Refusal, which names the node.
    void lower_nodes();
    /// Returns a value by name. Throws Refusal if it does not exist.
    Operand find(const std::string& name) const;

  private:
    void lower(std::size_t index);

    const Model& model_;
    Lowering& lowering_;
    std::map<std::string, Operand> values_;
};

/// Returns the dimensions of a graph input; the first one is `batch` unless that is 0.
Dims resolve_dims(const ModelPort& port, const Dimensions& dimensions, std::uint32_t batch);

/// Runs `import` and converts a Refusal into an error result.
template <class T>
Result<T, ImportError> without_exceptions(const std::function<T()>& import) {
    try {
        return import();
    } catch (const Refusal& refusal) {
        return Unexpected{refusal.error()};
    }
}

}  // namespace assay::onnx
