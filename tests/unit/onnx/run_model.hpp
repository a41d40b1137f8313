// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/compile/onnx/import.hpp>

namespace assay::onnx::test {

/// Runs an imported model on the scalar executor; `inputs` by name. The outputs in the graph's order, one for each
/// port with a tensor; infinities and NaN among them are no error.
std::vector<canonical::Tensor> run_forward(const ForwardGraph& model, const std::map<std::string, HostTensor>& inputs);

double element(const canonical::Tensor& tensor, std::size_t i);

/// What differs between `output` and `expected`, or nothing: real numbers within rtol 1e-3 and atol 1e-7, all others
/// exactly.
std::string difference(
    const GraphPort& port, const std::vector<canonical::Tensor>& outputs, const HostTensor& expected
);

}  // namespace assay::onnx::test
