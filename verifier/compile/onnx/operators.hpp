// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <verifier/compile/onnx/call.hpp>

/// Inside onnx only: the operators, by subject. Each file has the table of its own; operators.cpp puts them together.
namespace assay::onnx {

struct Operator {
    std::string_view name;
    std::uint32_t since = 1;  ///< the first opset whose definition this is
    Derivative derivative = Derivative::kExact;
    std::vector<std::string_view> attributes{};  ///< those that are understood; any other is refused
    Outputs (*lower)(Call&) = nullptr;
};

std::vector<Operator> elementwise_operators();
std::vector<Operator> activation_operators();
std::vector<Operator> logic_operators();
std::vector<Operator> shape_operators();
std::vector<Operator> movement_operators();
std::vector<Operator> indexing_operators();
std::vector<Operator> scatter_operators();
std::vector<Operator> resize_operators();
std::vector<Operator> reduction_operators();
std::vector<Operator> product_operators();
std::vector<Operator> einsum_operators();
std::vector<Operator> convolution_operators();
std::vector<Operator> pooling_operators();
std::vector<Operator> normalisation_operators();
std::vector<Operator> recurrent_operators();
std::vector<Operator> loss_operators();

/// nullptr for one that is not supported.
const Operator* find_operator(const std::string& name);
/// All of them, by name.
std::span<const Operator> all_operators();

/// Lowers one node: checks its domain, opset and attributes first.
Outputs lower_node(Call& call);

}  // namespace assay::onnx
