// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/node.hpp>

#include <bit>
#include <initializer_list>

#include <core/canonical/tile.hpp>

namespace assay::canonical {
namespace {

using Check = Result<void, NodeError>;

constexpr std::uint64_t kMaxPartials = 1U << 24U;

Check fail(NodeError error) { return Unexpected{error}; }

bool is_dimension(std::uint32_t n) { return n >= 1 && n <= kMaxDimension; }
bool is_size(Shape s) { return is_dimension(s.rows) && is_dimension(s.cols); }

constexpr std::uint32_t chunk_count(std::uint32_t cols, std::uint32_t chunk) {
    return cols / chunk + (cols % chunk != 0 ? 1 : 0);
}
bool is_chunk(std::uint32_t n) { return n >= 32 && n % 32 == 0; }

bool broadcasts(Shape from, Shape to) {
    return (from.rows == to.rows || from.rows == 1) && (from.cols == to.cols || from.cols == 1);
}

Check expect_inputs(const Node& node, std::initializer_list<DType> types) {
    if (node.inputs.size() != types.size()) {
        return fail(NodeError::kInputCount);
    }
    std::size_t i = 0;
    for (const DType type : types) {
        if (node.inputs[i++].dtype != type) {
            return fail(NodeError::kInputType);
        }
    }
    return {};
}

Check expect_output(const Node& node, DType dtype, Shape shape) {
    return node.dtype == dtype && node.shape == shape ? Check{} : fail(NodeError::kOutputShape);
}

// How many attributes an op has; the rest must be 0, so that one graph has one encoding.
std::size_t attribute_count(Op op) {
    switch (op) {
        case Op::kFill:
        case Op::kView:
        case Op::kScale:
        case Op::kAddConst:
        case Op::kRowExponent:
        case Op::kDequantise:
            return 1;
        case Op::kUniform:
        case Op::kBernoulli:
        case Op::kStepCount:
        case Op::kQuantise:
        case Op::kContract:
        case Op::kCausalMask:
            return 2;
        default:
            return 0;
    }
}

Check check_source(const Node& node) {
    TRY(expect_inputs(node, {}));
    if (node.op == Op::kBatchRows) {
        return expect_output(node, DType::kI32, node.shape);
    }
    if (node.op == Op::kUniform) {
        // bound below 2^127, so that twice the bound is finite; sign clear.
        if (node.attributes[0] >= 0x7f000000U) {
            return fail(NodeError::kAttribute);
        }
    }
    // The Philox counter has 32 bits for element / 4.
    const bool is_random = node.op == Op::kUniform || node.op == Op::kBernoulli;
    if (is_random && node.shape.element_count() > (std::uint64_t{1} << 34U)) {
        return fail(NodeError::kTooLarge);
    }
    if (node.op == Op::kStepCount) {
        if (node.attributes[0] == 0) {
            return fail(NodeError::kAttribute);
        }
        return expect_output(node, DType::kF32, Shape{1, 1});
    }
    return expect_output(node, DType::kF32, node.shape);
}

// The product of the sizes of a view's axes, or 0 when one is out of range or the product is beyond every tensor.
template <class Sizes, class SizeOf>
std::uint64_t element_count(const Sizes& sizes, SizeOf size_of_axis) {
    constexpr std::uint64_t kLimit = std::uint64_t{kMaxDimension} * kMaxDimension;
    std::uint64_t count = 1;
    for (const auto& axis : sizes) {
        const std::uint64_t size = size_of_axis(axis);
        if (size == 0 || size > kMaxViewSize || size > kLimit / count) {
            return 0;
        }
        count *= size;
    }
    return count;
}

// PRG-7
Check check_view(const Node& node) {
    if (node.inputs.size() != 1) {
        return fail(NodeError::kInputCount);
    }
    const Input& x = node.inputs[0];
    if (is_narrow(x.dtype)) {
        return fail(NodeError::kInputType);
    }
    if (!node.view || node.view->dims.empty() || node.view->dims.size() > kMaxViewAxes || node.view->axes.empty() ||
        node.view->axes.size() > kMaxViewAxes || (x.dtype == DType::kI64 && node.attributes[0] != 0)) {
        return fail(NodeError::kAttribute);
    }
    for (const ViewAxis& axis : node.view->axes) {
        if (axis.strides.size() != node.view->dims.size() || axis.divisor == 0 || axis.divisor > kMaxDimension) {
            return fail(NodeError::kAttribute);
        }
    }
    if (element_count(node.view->axes, [](const ViewAxis& axis) { return axis.size; }) != x.shape.element_count()) {
        return fail(NodeError::kInputShape);
    }
    if (element_count(node.view->dims, [](std::uint32_t size) { return size; }) != node.shape.element_count()) {
        return fail(NodeError::kOutputShape);
    }
    return expect_output(node, x.dtype, node.shape);
}

Check check_conversion(const Node& node) {
    TRY(expect_inputs(node, {node.op == Op::kToInt ? DType::kF32 : DType::kI32}));
    return expect_output(node, node.op == Op::kToInt ? DType::kI32 : DType::kF32, node.inputs[0].shape);
}

// NUM-39: a dither is for an f32 only.
Check check_narrow(const Node& node) {
    if (node.inputs.empty()) {
        return fail(NodeError::kInputCount);
    }
    const Shape shape = node.inputs[0].shape;
    if (node.inputs[0].dtype == DType::kI32) {
        TRY(expect_inputs(node, {DType::kI32}));
        return expect_output(node, DType::kI8, shape);
    }
    if (node.inputs[0].dtype != DType::kF32) {
        return fail(NodeError::kInputType);
    }
    if (node.inputs.size() == 1) {
        return expect_output(node, DType::kBf16, shape);
    }
    TRY(expect_inputs(node, {DType::kF32, DType::kF32}));
    if (!broadcasts(node.inputs[1].shape, shape)) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kBf16, shape);
}

Check check_widen(const Node& node) {
    const bool is_float = node.inputs.size() == 1 && node.inputs[0].dtype == DType::kBf16;
    TRY(expect_inputs(node, {is_float ? DType::kBf16 : DType::kI8}));
    return expect_output(node, is_float ? DType::kF32 : DType::kI32, node.inputs[0].shape);
}

Check check_gather(const Node& node) {
    TRY(expect_inputs(node, {DType::kF32, DType::kI32}));
    const Shape table = node.inputs[0].shape;
    const Shape index = node.inputs[1].shape;
    if (table.cols % kTileDim != 0) {
        return fail(NodeError::kInputShape);
    }
    const std::uint64_t cols = std::uint64_t{index.cols} * table.cols;
    if (cols > kMaxDimension) {
        return fail(NodeError::kTooLarge);
    }
    return expect_output(node, DType::kF32, Shape{index.rows, static_cast<std::uint32_t>(cols)});
}

Check check_scatter(const Node& node) {
    TRY(expect_inputs(node, {DType::kI32, DType::kI32}));
    const Shape q = node.inputs[0].shape;
    const Shape index = node.inputs[1].shape;
    const std::uint32_t depth = node.shape.cols;
    if (node.dtype != DType::kI64 || depth % kTileDim != 0) {
        return fail(NodeError::kOutputShape);
    }
    if (q.rows != index.rows || q.cols != std::uint64_t{index.cols} * depth) {
        return fail(NodeError::kInputShape);
    }
    return std::uint64_t{tile_rows(index)} * index.cols <= kMaxPartials ? Check{} : fail(NodeError::kTooLarge);
}

Check check_one_hot(const Node& node) {
    TRY(expect_inputs(node, {DType::kI32}));
    if (node.inputs[0].shape.cols != 1) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kF32, Shape{node.inputs[0].shape.rows, node.shape.cols});
}

Check check_binary(const Node& node) {
    TRY(expect_inputs(node, {DType::kF32, DType::kF32}));
    if (!broadcasts(node.inputs[1].shape, node.inputs[0].shape)) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kF32, node.inputs[0].shape);
}

Check check_select(const Node& node) {
    TRY(expect_inputs(node, {DType::kF32, DType::kF32, DType::kF32}));
    const Shape shape = node.inputs[0].shape;
    if (!broadcasts(node.inputs[1].shape, shape) || !broadcasts(node.inputs[2].shape, shape)) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kF32, shape);
}

Check check_unary(const Node& node) {
    TRY(expect_inputs(node, {DType::kF32}));
    if (node.op == Op::kCausalMask && (node.attributes[0] == 0 || node.attributes[0] > kMaxDimension)) {
        return fail(NodeError::kAttribute);
    }
    return expect_output(node, DType::kF32, node.inputs[0].shape);
}

Check check_reduction(const Node& node) {
    if (node.inputs.size() != 1) {
        return fail(NodeError::kInputCount);
    }
    const Input& x = node.inputs[0];
    if (node.op == Op::kRowMax) {
        if (x.dtype != DType::kF32 && x.dtype != DType::kI32) {
            return fail(NodeError::kInputType);
        }
        return expect_output(node, x.dtype, Shape{x.shape.rows, 1});
    }
    if (node.op == Op::kRowSum) {
        TRY(expect_inputs(node, {DType::kI32}));
        return expect_output(node, DType::kI64, Shape{x.shape.rows, 1});
    }
    TRY(expect_inputs(node, {DType::kF32}));
    if (node.op == Op::kRowArgMax) {
        return expect_output(node, DType::kI32, Shape{x.shape.rows, 1});
    }
    if (!is_chunk(node.attributes[0])) {
        return fail(NodeError::kAttribute);
    }
    return expect_output(node, DType::kI32, Shape{x.shape.rows, chunk_count(x.shape.cols, node.attributes[0])});
}

Check check_quantise(const Node& node) {
    TRY(expect_inputs(node, {DType::kF32, DType::kI32}));
    const Shape x = node.inputs[0].shape;
    const Shape e = node.inputs[1].shape;
    const auto [precision, chunk] = node.attributes;
    if (precision < 1 || precision > 30 || (chunk != 0 && !is_chunk(chunk)) || (e.cols > 1 && chunk == 0)) {
        return fail(NodeError::kAttribute);
    }
    const bool one_per_row = e.cols == 1 && (e.rows == x.rows || e.rows == 1);
    const bool one_per_chunk = e.cols > 1 && e == Shape{x.rows, chunk_count(x.cols, chunk)};
    if (!one_per_row && !one_per_chunk) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kI32, x);
}

Check check_dequantise(const Node& node) {
    TRY(expect_inputs(node, {DType::kI64, DType::kI32}));
    const Shape q = node.inputs[0].shape;
    const Shape e = node.inputs[1].shape;
    if (node.attributes[0] > 100) {
        return fail(NodeError::kAttribute);
    }
    if (e.cols != 1 || (e.rows != q.rows && e.rows != 1)) {
        return fail(NodeError::kInputShape);
    }
    return expect_output(node, DType::kF32, q);
}

Check check_contract(const Node& node) {
    TRY(expect_inputs(node, {DType::kI32, DType::kI32, DType::kI32, DType::kI32}));
    const auto [precision, chunk] = node.attributes;
    if (precision < 2 || precision > 24 || !is_chunk(chunk)) {
        return fail(NodeError::kAttribute);
    }
    // PRG-3: the largest sum of a chunk, chunk * 2^2p, stays below 2^63.
    const std::uint32_t log_chunk = static_cast<std::uint32_t>(std::bit_width(chunk - 1));
    if (2 * precision + log_chunk > 62) {
        return fail(NodeError::kAttribute);
    }
    const Shape a = node.inputs[0].shape;
    const Shape b = node.inputs[2].shape;
    const std::uint32_t chunks = chunk_count(a.cols, chunk);
    if (a.cols != b.cols || node.inputs[1].shape != Shape{a.rows, chunks} ||
        node.inputs[3].shape != Shape{b.rows, chunks}) {
        return fail(NodeError::kInputShape);
    }
    // PRG-8: groups are cut along tiles.
    if (b.rows % node.shape.cols != 0) {
        return fail(NodeError::kOutputShape);
    }
    const std::uint32_t groups = group_count(node);
    const bool is_aligned = a.rows % groups == 0 && a.rows / groups % kTileDim == 0 && node.shape.cols % kTileDim == 0;
    if (groups != 1 && !is_aligned) {
        return fail(NodeError::kOutputShape);
    }
    return expect_output(node, DType::kF32, Shape{a.rows, node.shape.cols});
}

Check check_commit(const Node& node) {
    if (node.inputs.empty() || node.inputs.size() > kMaxStateTensors) {
        return fail(NodeError::kInputCount);
    }
    return expect_output(node, DType::kF32, Shape{});
}

Check check_op(const Node& node) {
    switch (node.op) {
        case Op::kBatchRows:
        case Op::kUniform:
        case Op::kFill:
        case Op::kBernoulli:
        case Op::kStepCount:
            return check_source(node);
        case Op::kView:
            return check_view(node);
        case Op::kGatherRows:
            return check_gather(node);
        case Op::kScatterAddRows:
            return check_scatter(node);
        case Op::kOneHot:
            return check_one_hot(node);
        case Op::kFromBits:
        case Op::kToFloat:
        case Op::kToInt:
            return check_conversion(node);
        case Op::kNarrow:
            return check_narrow(node);
        case Op::kWiden:
            return check_widen(node);
        case Op::kAdd:
        case Op::kSub:
        case Op::kMul:
        case Op::kDiv:
        case Op::kReluGrad:
        case Op::kMax:
        case Op::kMin:
        case Op::kLess:
        case Op::kEqual:
            return check_binary(node);
        case Op::kSelect:
            return check_select(node);
        case Op::kSqrt:
        case Op::kScale:
        case Op::kAddConst:
        case Op::kRelu:
        case Op::kExp:
        case Op::kLog:
        case Op::kTanh:
        case Op::kErf:
        case Op::kSin:
        case Op::kCos:
        case Op::kAbs:
        case Op::kFloor:
        case Op::kRint:
        case Op::kCausalMask:
            return check_unary(node);
        case Op::kRowMax:
        case Op::kRowExponent:
        case Op::kRowSum:
        case Op::kRowArgMax:
            return check_reduction(node);
        case Op::kQuantise:
            return check_quantise(node);
        case Op::kDequantise:
            return check_dequantise(node);
        case Op::kContract:
            return check_contract(node);
        case Op::kCommit:
            return check_commit(node);
    }
    return fail(NodeError::kInputCount);
}

// PRG-5: whether what `input` says of itself is what it refers to.
bool is_consistent(const Input& input, std::size_t position, const Graph& graph, const std::vector<TensorType>& state) {
    const TensorType type{input.dtype, input.shape};
    if (input.source == Source::kState) {
        return input.index < state.size() && state[input.index] == type;
    }
    return input.index < position && TensorType{graph[input.index].dtype, graph[input.index].shape} == type;
}

}  // namespace

Result<void, NodeError> check_node(const Node& node) noexcept {
    if (!is_valid(node.op)) {
        return fail(NodeError::kInputCount);
    }
    if (!is_valid(node.dtype)) {
        return fail(NodeError::kOutputShape);
    }
    if (node.op != Op::kCommit && !is_size(node.shape)) {
        return fail(NodeError::kTooLarge);
    }
    for (const Input& input : node.inputs) {
        if (!is_valid(input.dtype) || !is_valid(input.source)) {
            return fail(NodeError::kInputType);
        }
        if (!is_size(input.shape)) {
            return fail(NodeError::kTooLarge);
        }
    }
    if (node.view.has_value() != (node.op == Op::kView)) {
        return fail(NodeError::kAttribute);
    }
    for (std::size_t i = attribute_count(node.op); i < node.attributes.size(); ++i) {
        if (node.attributes[i] != 0) {
            return fail(NodeError::kAttribute);
        }
    }
    return check_op(node);
}

Result<void, GraphError> check_graph(
    const Graph& graph, const std::vector<TensorType>& state_before, const std::vector<TensorType>& state_after
) noexcept {
    if (graph.empty()) {
        return Unexpected{GraphError{0, NodeError::kInputCount}};
    }
    if (graph.size() > kMaxNodes || state_before.size() > kMaxTensorsBefore || state_after.size() > kMaxStateTensors) {
        return Unexpected{GraphError{0, NodeError::kTooLarge}};
    }
    for (std::size_t i = 0; i < graph.size(); ++i) {
        const Node& node = graph[i];
        const auto position = static_cast<std::uint32_t>(i);
        if (const Check checked = check_node(node); !checked) {
            return Unexpected{GraphError{position, checked.error()}};
        }
        for (const Input& input : node.inputs) {
            if (!is_consistent(input, i, graph, state_before)) {
                return Unexpected{GraphError{position, NodeError::kForwardReference}};
            }
        }
        if ((node.op == Op::kCommit) != (i + 1 == graph.size())) {
            return Unexpected{GraphError{position, NodeError::kOutputShape}};
        }
    }
    const Node& commit = graph.back();
    const auto last = static_cast<std::uint32_t>(graph.size() - 1);
    if (commit.inputs.size() != state_after.size()) {
        return Unexpected{GraphError{last, NodeError::kInputCount}};
    }
    for (std::size_t i = 0; i < state_after.size(); ++i) {
        if (state_after[i] != TensorType{commit.inputs[i].dtype, commit.inputs[i].shape}) {
            return Unexpected{GraphError{last, NodeError::kOutputShape}};
        }
    }
    return {};
}

}  // namespace assay::canonical
