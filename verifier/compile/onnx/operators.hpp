// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <verifier/compile/onnx/call.hpp>

/// Internal to the importer: the operators, by subject. Each file has its own table; operators.cpp merges them.
namespace assay::onnx {

/// The domain of operators that ONNX does not have. A model that uses one carries its definition as a function.
inline constexpr std::string_view kOwnDomain = "assay";

struct Operator {
    std::string_view name;
    std::uint32_t since = 1;  ///< first opset with the implemented definition
    Derivative derivative = Derivative::kExact;
    std::vector<std::string_view> attributes{};  ///< supported attributes; others are refused
    Outputs (*lower)(Call&) = nullptr;
    std::string_view domain{};  ///< kOwnDomain for operators that ONNX does not have
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
std::vector<Operator> random_operators();
std::vector<Operator> top_k_operators();

/// Returns the operator; nullptr if it is not supported.
const Operator* find_operator(const std::string& name);
/// Returns all operators, sorted by name.
std::span<const Operator> all_operators();

/// Lowers one node, after checking its domain, opset and attributes. Throws Refusal if they are not supported.
Outputs lower_node(Call& call);

}  // namespace assay::onnx
