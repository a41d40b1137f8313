// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/native/native_ops.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/torch/contract.hpp>
#include <verifier/engine/torch/random.hpp>
#include <verifier/engine/torch/reduction.hpp>

namespace assay::engine::native {

using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::StepContext;

namespace {

// Sums of rows by index; what an index out of range names goes nowhere (NUM-12).
at::Tensor scatter_sum(const at::Tensor& x, const at::Tensor& index, canonical::Shape shape) {
    const auto [is_row, row] = checked_rows(index, shape.rows);
    const at::Tensor terms = x.reshape({-1, std::int64_t{shape.cols}}) * is_row.unsqueeze(1);
    return at::zeros(sizes_of(shape), x.options()).index_add_(0, row, terms);
}

at::ScalarType product_type(const NativeOptions& options) {
    if (options.products_in_f64) {
        return at::kDouble;
    }
    return options.allow_bf16 ? at::kBFloat16 : at::kFloat;
}

at::Tensor is_column(const at::Tensor& index, std::int64_t columns) {
    return index.ge(0).logical_and(index.lt(columns)).to(at::kFloat);
}

}  // namespace

Operations::Operations(const Graph& graph, const NativeOptions& options)
    : graph_(graph), product_type_(product_type(options)), math_(at::Device(options.device)) {}

// Operands of the type that the options ask for, and results of 32 bits.
at::Tensor Operations::product(const Node& contract, const at::Tensor& a, const at::Tensor& b) const {
    const std::int64_t groups = canonical::group_count(contract);
    if (groups == 1) {
        return at::mm(a.to(product_type_), b.t().to(product_type_)).to(at::kFloat);
    }
    const auto grouped = [&](const at::Tensor& x) {
        return x.to(product_type_).reshape({groups, x.size(0) / groups, x.size(1)});
    };
    return at::bmm(grouped(a), grouped(b).transpose(1, 2)).to(at::kFloat).reshape(sizes_of(contract.shape));
}

at::Tensor Operations::product_add(const Node& sum, std::span<const at::Tensor> in) const {
    if (product_type_ == at::kFloat) {
        return at::addmm(in[2], in[0], in[1].t());
    }
    const at::Tensor product = at::mm(in[0].to(product_type_), in[1].t().to(product_type_)).to(at::kFloat);
    return at::add(product, in[2]).expand(sizes_of(sum.shape));
}

const DeviceView& Operations::view_of(const Node& node, std::uint32_t id) {
    auto found = views_.find(id);
    if (found == views_.end()) {
        found = views_.emplace(id, DeviceView(node, device())).first;
    }
    return found->second;
}

at::Tensor Operations::cross_entropy(const at::Tensor& x, const at::Tensor& target) const {
    const at::Tensor valid = is_column(target, x.size(1));
    const at::Tensor column = target.to(at::kLong).clamp(0, x.size(1) - 1);
    return at::log_softmax(x, 1).gather(1, column).neg() * valid;
}

at::Tensor Operations::normalise(const Instruction& instruction, const at::Tensor& x) {
    auto [out, mean, deviation] =
        at::native_layer_norm(x.contiguous(), {x.size(1)}, {}, {}, static_cast<double>(instruction.constant));
    statistics_[instruction.node] = {std::move(mean), std::move(deviation)};
    return out;
}

at::Tensor Operations::normalise_back(const Instruction& instruction, std::span<const at::Tensor> in) {
    const Statistics& known = statistics_.at(instruction.inputs[2].index);
    return std::get<0>(at::native_layer_norm_backward(
        in[0].contiguous(), in[1].contiguous(), {in[1].size(1)}, known.mean, known.deviation, {}, {},
        {true, false, false}
    ));
}

at::Tensor Operations::source(const Node& node, const StepContext& context) const {
    if (node.op == Op::kFill) {
        return math_.f32(node.attributes[0]).expand(sizes_of(node.shape));
    }
    if (!device().is_cpu() || node.op == Op::kStepCount) {
        return draw(math_, node, context);
    }
    at::Tensor out = at::empty(sizes_of(node.shape), at::kFloat);
    const fused::Extent all{.rows = node.shape.rows, .cols = node.shape.cols, .first_row = 0};
    const auto [a, b] = node.attributes;
    if (node.op == Op::kBernoulli) {
        fused::run_bernoulli(all, context, a, b, out.data_ptr<float>());
    } else {
        fused::run_uniform(all, context, a, b, out.data_ptr<float>());
    }
    return out;
}

at::Tensor Operations::elementwise(const Node& node, std::span<const at::Tensor> in) const {
    const double constant = static_cast<double>(std::bit_cast<float>(node.attributes[0]));
    switch (node.op) {
        case Op::kAdd:
            return at::add(in[0], in[1]);
        case Op::kSub:
            return at::sub(in[0], in[1]);
        case Op::kMul:
            return at::mul(in[0], in[1]);
        case Op::kDiv:
            return at::div(in[0], in[1]);
        case Op::kMax:
            return at::maximum(in[0], in[1]);
        case Op::kMin:
            return at::minimum(in[0], in[1]);
        case Op::kSqrt:
            return at::sqrt(in[0]);
        case Op::kScale:
            return at::mul(in[0], constant);
        case Op::kAddConst:
            return at::add(in[0], constant);
        case Op::kRelu:
            return at::relu(in[0]);
        case Op::kReluGrad:
            return at::threshold_backward(in[1].expand_as(in[0]), in[0], 0);
        case Op::kExp:
            return at::exp(in[0]);
        case Op::kLog:
            return at::log(in[0]);
        case Op::kTanh:
            return at::tanh(in[0]);
        case Op::kErf:
            return at::erf(in[0]);
        case Op::kSin:
            return at::sin(in[0]);
        case Op::kCos:
            return at::cos(in[0]);
        case Op::kAbs:
            return at::abs(in[0]);
        case Op::kFloor:
            return at::floor(in[0]);
        case Op::kRint:
            return at::round(in[0]);
        case Op::kLess:
            return DeviceMath::truth(in[0].lt(in[1]));
        case Op::kEqual:
            return DeviceMath::truth(in[0].eq(in[1]));
        case Op::kSelect:
            return at::where(in[1].ne(0), in[0], in[2]);
        default:
            return math_.elementwise(node, in);
    }
}

at::Tensor Operations::run_node(
    const Node& node, std::uint32_t id, std::span<const at::Tensor> in, const StepContext& context
) {
    switch (node.op) {
        case Op::kUniform:
        case Op::kFill:
        case Op::kBernoulli:
        case Op::kStepCount:
            return source(node, context);
        case Op::kView:
            return view_of(node, id).apply(in[0].contiguous());
        case Op::kGatherRows:
            return gather_rows(in[0], in[1], node.shape);
        case Op::kScatterAddRows:
            return scatter_add_rows(in[0], in[1], node.shape);
        case Op::kOneHot:
            return one_hot(math_, in[0], node.shape.cols);
        case Op::kRowMax:
            return in[0].amax(1, true);
        case Op::kRowArgMax:
            return in[0].argmax(1, true).to(at::kInt);
        case Op::kRowExponent:
            return row_exponent(in[0], node.attributes[0]);
        case Op::kRowSum:
            return in[0].sum(1, true, at::kLong);
        case Op::kQuantise:
            return quantise(math_, node, in[0], in[1]);
        case Op::kDequantise:
            return dequantise(math_, in[0], in[1], node.attributes[0]);
        case Op::kContract: {
            std::array<at::Tensor, 4> operands;
            std::transform(in.begin(), in.end(), operands.begin(), [](const at::Tensor& x) { return x.contiguous(); });
            return contract(math_, node, ProductKind::kWords, operands);
        }
        default:
            return elementwise(node, in);
    }
}

at::Tensor Operations::run(const Instruction& what, std::span<const at::Tensor> in, const StepContext& context) {
    const Node& node = graph_[what.node];
    const double constant = static_cast<double>(what.constant);
    switch (what.kind) {
        case Kind::kNode:
            return run_node(node, what.node, in, context);
        case Kind::kProduct:
            return product(node, in[0], in[1]);
        case Kind::kProductAdd:
            return product_add(node, in);
        case Kind::kSum:
            return in[0].sum(1, true);
        case Kind::kScatterSum:
            return scatter_sum(in[0], in[1], node.shape);
        case Kind::kSoftmax:
            return at::softmax(in[0], 1);
        case Kind::kSoftmaxBack:
            return at::_softmax_backward_data(in[0], in[1], 1, at::kFloat);
        case Kind::kLogSoftmax:
            return at::log_softmax(in[0], 1);
        case Kind::kCrossEntropy:
            return cross_entropy(in[0], in[1]);
        case Kind::kIsColumn:
            return is_column(in[0], what.columns);
        case Kind::kNormalise:
            return normalise(what, in[0]);
        case Kind::kNormaliseBack:
            return normalise_back(what, in);
        case Kind::kGelu:
            return at::gelu(in[0]);
        case Kind::kGeluBack:
            return at::gelu_backward(in[0], in[1]);
        case Kind::kSigmoid:
            return at::sigmoid(in[0]);
        case Kind::kSilu:
            return at::silu(in[0]);
        case Kind::kMultiplyAdd:
            return at::addcmul(in[0], in[1], in[2], constant);
        case Kind::kAddScaled:
            return at::add(in[0], in[1], constant);
    }
    ASSERT(false);
    return {};
}

}  // namespace assay::engine::native
