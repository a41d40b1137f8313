// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/operators.hpp>

#include <algorithm>
#include <iterator>

namespace assay::onnx {
namespace {

std::vector<Operator> gather_operators() {
    std::vector<Operator> out;
    for (const auto table :
         {elementwise_operators, activation_operators, logic_operators, shape_operators, movement_operators,
          indexing_operators, scatter_operators, resize_operators, reduction_operators, product_operators,
          einsum_operators, convolution_operators, pooling_operators, normalisation_operators, recurrent_operators,
          loss_operators, random_operators, top_k_operators}) {
        std::vector<Operator> part = table();
        out.insert(out.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    std::sort(out.begin(), out.end(), [](const Operator& a, const Operator& b) { return a.name < b.name; });
    return out;
}

}  // namespace

std::span<const Operator> all_operators() {
    static const std::vector<Operator> kOperators = gather_operators();
    return kOperators;
}

const Operator* find_operator(const std::string& name) {
    const std::span<const Operator> operators = all_operators();
    const auto found =
        std::lower_bound(operators.begin(), operators.end(), name, [](const Operator& op, const std::string& wanted) {
            return op.name < wanted;
        });
    return found != operators.end() && found->name == name ? &*found : nullptr;
}

Outputs lower_node(Call& call) {
    const ModelNode& node = call.node();
    const std::string_view domain = node.domain == "ai.onnx" ? std::string_view{} : std::string_view{node.domain};
    if (!domain.empty() && domain != kOwnDomain) {
        refuse_unsupported("operators of domain '" + node.domain + "' are not supported");
    }
    const Operator* op = find_operator(node.op);
    if (op == nullptr || op->domain != domain) {
        refuse_unsupported("the operator is not supported");
    }
    if (domain.empty() && call.opset() < std::int64_t{op->since}) {
        refuse_unsupported("supported from opset " + std::to_string(op->since) + " on");
    }
    for (const auto& [name, attribute] : node.attributes) {
        if (std::find(op->attributes.begin(), op->attributes.end(), name) == op->attributes.end()) {
            refuse_unsupported("attribute '" + name + "' is not supported");
        }
    }
    Outputs outputs = op->lower(call);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (call.wants_output(i) && (i >= outputs.size() || outputs[i] == nullptr)) {
            refuse_unsupported("output " + std::to_string(i) + " is not supported");
        }
    }
    return outputs;
}

std::vector<OperatorInfo> supported_operators() {
    std::vector<OperatorInfo> out;
    for (const Operator& op : all_operators()) {
        out.push_back({op.name, op.since, op.derivative});
    }
    return out;
}

}  // namespace assay::onnx
