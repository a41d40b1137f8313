// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>
#include <verifier/compile/onnx/rows.hpp>

namespace assay::onnx {
namespace {

enum class Reduction : std::uint8_t {
    kSum,
    kMean,
    kMax,
    kMin,
    kProd,
    kL1,
    kL2,
    kSumSquare,
    kLogSum,
    kLogSumExp,
};

constexpr std::uint32_t kMaxFactors = 1U << 12U;

// Pairs of columns until one is left; what has no partner meets a 1.
Value row_product(Lowering& lowering, const Value& x) {
    if (x.shape.cols > kMaxFactors) {
        refuse_too_large("a product of " + std::to_string(x.shape.cols) + " factors");
    }
    program::Tape& tape = lowering.tape();
    Value out = x;
    while (out.shape.cols > 1) {
        const std::uint32_t half = (out.shape.cols + 1) / 2;
        const Dims dims{out.shape.rows, out.shape.cols};
        const std::vector<std::int32_t> none{0, 0};
        const std::vector<std::int32_t> rest{0, -static_cast<std::int32_t>(out.shape.cols - half)};
        const std::vector<std::int32_t> skip{0, -static_cast<std::int32_t>(half)};
        const std::vector<std::int32_t> fill{0, static_cast<std::int32_t>(2 * half - out.shape.cols)};
        const Value left = lowering.view(out, program::pad_view(dims, none, rest), {dims[0], half});
        const Value right = lowering.view(out, program::pad_view(dims, skip, fill), {dims[0], half}, 1.0);
        out = tape.mul(left, right);
    }
    return out;
}

Value reduce_rows(Lowering& lowering, Reduction reduction, const Value& x) {
    program::Tape& tape = lowering.tape();
    switch (reduction) {
        case Reduction::kSum:
            return tape.row_sum(x);
        case Reduction::kMean:
            return tape.row_mean(x);
        case Reduction::kMax:
            return tape.row_max(x);
        case Reduction::kMin:
            return tape.scale(tape.row_max(tape.scale(x, -1.0F)), -1.0F);
        case Reduction::kProd:
            return row_product(lowering, x);
        case Reduction::kL1:
            return tape.row_sum(tape.abs(x));
        case Reduction::kL2:
            return tape.sqrt(tape.row_sum(tape.mul(x, x)));
        case Reduction::kSumSquare:
            return tape.row_sum(tape.mul(x, x));
        case Reduction::kLogSum:
            return tape.log(tape.row_sum(x));
        case Reduction::kLogSumExp: {
            // The largest is only there for range: the result does not depend on it.
            const Value largest = lowering.graph().row_max(x);
            return tape.add(tape.log(tape.row_sum(tape.exp(tape.sub(x, largest)))), largest);
        }
    }
    return x;
}

bool is_whole(Reduction reduction) {
    return reduction == Reduction::kSum || reduction == Reduction::kMax || reduction == Reduction::kMin ||
           reduction == Reduction::kProd || reduction == Reduction::kL1 || reduction == Reduction::kSumSquare;
}

std::int64_t combine(Reduction reduction, std::int64_t a, std::int64_t b) {
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    switch (reduction) {
        case Reduction::kMax:
            return std::max(a, b);
        case Reduction::kMin:
            return std::min(a, b);
        case Reduction::kProd:
            return static_cast<std::int64_t>(ua * ub);
        default:
            return static_cast<std::int64_t>(ua + ub);
    }
}

// Products and sums of sizes, at import: all axes at once.
std::optional<Constant> reduce_known(const Operand& x, Reduction reduction, std::size_t axes, Dims dims) {
    const bool is_simple = reduction == Reduction::kSum || reduction == Reduction::kProd ||
                           reduction == Reduction::kMax || reduction == Reduction::kMin;
    if (!x->constant || x->constant->is_real() || !is_simple || axes != x->dims.size()) {
        return std::nullopt;
    }
    std::int64_t total = x->constant->integer(0);
    for (std::size_t i = 1; i < x->constant->count(); ++i) {
        total = combine(reduction, total, x->constant->integer(i));
    }
    return make_integers(x->type, std::move(dims), {total});
}

std::vector<std::uint32_t> reduced_axes(const Call& call) {
    const std::size_t rank = call.rank(0);
    const auto given = call.integers_or_input("axes", 1);
    std::vector<std::uint32_t> axes;
    for (const std::int64_t axis : given.value_or(std::vector<std::int64_t>{})) {
        axes.push_back(call.axis_of(axis, rank));
    }
    if (axes.empty() && call.integer("noop_with_empty_axes", 0) == 0) {
        axes = axes_between(0, rank);
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
        refuse_invalid("an axis is given twice");
    }
    return axes;
}

Dims reduced_dims(const Dims& dims, const std::vector<std::uint32_t>& axes, bool keeps) {
    Dims out;
    for (std::uint32_t axis = 0; axis < dims.size(); ++axis) {
        if (!std::binary_search(axes.begin(), axes.end(), axis)) {
            out.push_back(dims[axis]);
        } else if (keeps) {
            out.push_back(1);
        }
    }
    return out;
}

template <Reduction kReduction>
Outputs lower_reduction(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    if (!is_whole(kReduction)) {
        require_real(x);
    }
    const std::vector<std::uint32_t> axes = reduced_axes(call);
    const Dims dims = reduced_dims(x->dims, axes, call.integer("keepdims", 1) != 0);
    if (checked_elements(x->dims) == 0) {
        refuse_unsupported("there is nothing to reduce");
    }
    if (const auto known = reduce_known(x, kReduction, axes.size(), dims)) {
        return {lowering.add_constant(*known)};
    }
    if (axes.empty() &&
        (kReduction == Reduction::kSum || kReduction == Reduction::kMax || kReduction == Reduction::kMin)) {
        return {x};
    }
    const Rows rows = rows_along(lowering, x, axes);
    const Value value = reduce_rows(lowering, kReduction, rows.value);
    return {lowering.add_array(lowering.from_matrix(value, x->type, dims))};
}

template <bool kMin>
Outputs lower_arg(Call& call) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    const Operand& x = call.in(0);
    const std::vector<std::uint32_t> axes = one_axis(call.axis_of(call.integer("axis", 0), x->dims.size()));
    const Dims dims = reduced_dims(x->dims, axes, call.integer("keepdims", 1) != 0);
    if (checked_elements(x->dims) == 0) {
        refuse_unsupported("there is nothing to compare");
    }
    const Rows rows = rows_along(lowering, x, axes);
    Value from = kMin ? graph.scale(rows.value, -1.0F) : rows.value;
    const bool last = call.integer("select_last_index", 0) != 0;
    const std::uint32_t count = rows.shape.cols;
    if (last) {
        from = graph.view(
            from, program::slice_view({rows.shape.rows, count}, 1, std::int64_t{count} - 1, count, -1), rows.shape
        );
    }
    Value index = graph.row_arg_max(from);
    if (last) {
        index = graph.add_const(graph.scale(graph.to_float(index), -1.0F), static_cast<float>(count - 1));
    }
    return {lowering.add_array(lowering.from_matrix(index, ElementType::kInt64, dims))};
}

// A product with the triangle of ones that says which elements each sum takes.
Outputs lower_cum_sum(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    const bool is_integer = kind_of(x->type) == Kind::kInteger;
    if (!is_integer) {
        require_real(x);
    }
    const std::uint32_t axis = call.axis_of(call.known_integer(1, "axis"), x->dims.size());
    if (x->is_empty()) {
        return {x};
    }
    const bool is_exclusive = call.integer("exclusive", 0) != 0;
    const bool is_reverse = call.integer("reverse", 0) != 0;
    const std::uint32_t size = x->dims[axis];
    if (std::uint64_t{size} * size > kMaxConstant) {
        refuse_too_large("cumulative sums of " + std::to_string(size) + " elements");
    }
    std::vector<double> takes;
    for (std::uint32_t to = 0; to < size; ++to) {
        for (std::uint32_t from = 0; from < size; ++from) {
            const bool before = is_reverse ? from > to : from < to;
            takes.push_back(before || (from == to && !is_exclusive) ? 1.0 : 0.0);
        }
    }
    const Operand triangle = lowering.add_constant(make_reals(ElementType::kFloat, {size, size}, std::move(takes)));
    const Value takers = lowering.array(triangle).value;
    if (is_integer) {
        // Exact up to 2^24, whatever the task's profile.
        const Array reals{x->type, x->dims, lowering.real(lowering.array(x)), false};
        const Rows rows = rows_along(lowering, lowering.add_array(reals), one_axis(axis));
        return {from_rows(lowering, x, rows, call.graph().matmul_nt(rows.value, takers, program::kXg24))};
    }
    const Rows rows = rows_along(lowering, x, one_axis(axis));
    const Value sums = call.tape().matmul_nt(rows.value, takers);
    return {from_rows(lowering, x, rows, sums)};
}

}  // namespace

std::vector<Operator> reduction_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    constexpr Derivative kZero = Derivative::kZero;
    const std::vector<std::string_view> reduces{"axes", "keepdims", "noop_with_empty_axes"};
    const std::vector<std::string_view> finds{"axis", "keepdims", "select_last_index"};
    return {
        {"ReduceSum", 1, kExact, reduces, lower_reduction<Reduction::kSum>},
        {"ReduceMean", 1, kExact, reduces, lower_reduction<Reduction::kMean>},
        {"ReduceMax", 1, kExact, reduces, lower_reduction<Reduction::kMax>},
        {"ReduceMin", 1, kExact, reduces, lower_reduction<Reduction::kMin>},
        {"ReduceProd", 1, kExact, reduces, lower_reduction<Reduction::kProd>},
        {"ReduceL1", 1, kExact, reduces, lower_reduction<Reduction::kL1>},
        {"ReduceL2", 1, kExact, reduces, lower_reduction<Reduction::kL2>},
        {"ReduceSumSquare", 1, kExact, reduces, lower_reduction<Reduction::kSumSquare>},
        {"ReduceLogSum", 1, kExact, reduces, lower_reduction<Reduction::kLogSum>},
        {"ReduceLogSumExp", 1, kExact, reduces, lower_reduction<Reduction::kLogSumExp>},
        {"ArgMax", 1, kZero, finds, lower_arg<false>},
        {"ArgMin", 1, kZero, finds, lower_arg<true>},
        {"CumSum", 11, kExact, {"exclusive", "reverse"}, lower_cum_sum},
    };
}

}  // namespace assay::onnx
