// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

using Pair = std::function<Value(const Value&, const Value&)>;

Operand empty_truth(Lowering& lowering, const Dims& dims) {
    return lowering.add_constant(Constant{ElementType::kBool, dims, {}, {}});
}

// Bools out of two operands of one type.
Operand compare(
    Call& call, const Operand& a, const Operand& b, const Pair& f, const std::function<bool(double, double)>& known
) {
    call.require_same_type(0, 1);
    const Dims dims = broadcast_dims(a->dims, b->dims);
    const std::uint64_t count = checked_elements(dims);
    if (count == 0) {
        return empty_truth(call.lowering(), dims);
    }
    if (a->constant && b->constant && count <= kMaxConstant) {
        return call.lowering().add_constant(compare_constants(*a->constant, *b->constant, dims, known));
    }
    return call.lowering().add_array(
        call.lowering().zip(call.lowering().array_any(a), call.lowering().array_any(b), ElementType::kBool, f)
    );
}

Outputs lower_equal(Call& call) {
    return {compare(
        call, call.in(0), call.in(1), [&](const Value& x, const Value& y) { return call.graph().equal(x, y); },
        [](double x, double y) { return x == y; }
    )};
}

// a < b, or with `or_equal` a <= b.
Outputs less(Call& call, const Operand& a, const Operand& b, bool or_equal) {
    program::GraphBuilder& graph = call.graph();
    const Pair f = [&graph, or_equal](const Value& x, const Value& y) {
        return or_equal ? graph.max(graph.less(x, y), graph.equal(x, y)) : graph.less(x, y);
    };
    return {compare(call, a, b, f, [or_equal](double x, double y) { return x < y || (or_equal && x == y); })};
}

template <bool kSwaps, bool kOrEqual>
Outputs lower_order(Call& call) {
    return less(call, call.in(kSwaps ? 1 : 0), call.in(kSwaps ? 0 : 1), kOrEqual);
}

enum class Junction : std::uint8_t { kAnd, kOr, kXor };

template <Junction kJunction>
Outputs lower_junction(Call& call) {
    call.require_kind(0, Kind::kTruth, "a");
    call.require_kind(1, Kind::kTruth, "b");
    program::GraphBuilder& graph = call.graph();
    const Pair f = [&graph](const Value& x, const Value& y) {
        switch (kJunction) {
            case Junction::kAnd:
                return graph.mul(x, y);
            case Junction::kOr:
                return graph.max(x, y);
            case Junction::kXor:
                return graph.abs(graph.sub(x, y));
        }
        return x;
    };
    // Bools are compared by their order: x > y says x and not y.
    const Operand& a = call.in(0);
    const Operand& b = call.in(1);
    if (a->constant && b->constant) {
        const Dims dims = broadcast_dims(a->dims, b->dims);
        if (checked_elements(dims) <= kMaxConstant) {
            return {call.lowering().add_constant(zip_integers(
                *a->constant, *b->constant, dims, ElementType::kBool,
                [](std::int64_t x, std::int64_t y) {
                    return kJunction == Junction::kAnd ? x & y : kJunction == Junction::kOr ? x | y : x ^ y;
                }
            ))};
        }
    }
    return {compare(call, a, b, f, [](double, double) { return false; })};
}

Outputs lower_not(Call& call) {
    call.require_kind(0, Kind::kTruth, "x");
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    if (x->constant) {
        return {lowering.add_constant(zip_integers(
            *x->constant, *x->constant, x->dims, x->type, [](std::int64_t v, std::int64_t) { return 1 - v; }
        ))};
    }
    return {unary(lowering, x, [&](const Value& v) { return negated(lowering, v); })};
}

Outputs truth_of(Call& call, const std::function<Value(const Value&)>& f) {
    require_real(call.in(0));
    if (call.in(0)->is_empty()) {
        return {empty_truth(call.lowering(), call.in(0)->dims)};
    }
    Array out = call.lowering().map(call.array_any(0), f);
    out.type = ElementType::kBool;
    return {call.lowering().add_array(std::move(out))};
}

Outputs lower_is_nan(Call& call) {
    return truth_of(call, [&](const Value& x) { return negated(call.lowering(), call.graph().equal(x, x)); });
}

Outputs lower_is_inf(Call& call) {
    program::GraphBuilder& graph = call.graph();
    const float infinity = std::numeric_limits<float>::infinity();
    const bool positive = call.integer("detect_positive", 1) != 0;
    const bool negative = call.integer("detect_negative", 1) != 0;
    return truth_of(call, [&](const Value& x) {
        if (!positive && !negative) {
            return graph.fill(x.shape, 0.0F);
        }
        const Value from = positive && negative ? graph.abs(x) : x;
        return graph.equal(from, call.lowering().scalar(positive ? infinity : -infinity));
    });
}

// Whether `condition` [T,T] (under any leading ones) is `keeps` exactly for what is not after a position: a causal
// mask.
std::optional<std::uint32_t> causal_rows(const Operand& condition, const Dims& dims, bool keeps) {
    if (!condition->constant || dims.size() < 2 || condition->dims.size() < 2) {
        return std::nullopt;
    }
    const std::uint32_t cols = dims.back();
    const std::uint32_t rows = dims[dims.size() - 2];
    if (rows != cols || condition->constant->count() != std::uint64_t{rows} * cols || condition->dims.back() != cols) {
        return std::nullopt;
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t col = 0; col < cols; ++col) {
            if ((condition->constant->integer(std::size_t{row} * cols + col) != 0) != ((col <= row) == keeps)) {
                return std::nullopt;
            }
        }
    }
    return rows;
}

bool is_minus_infinity(const Operand& x) {
    return x->constant && x->constant->is_real() && x->constant->is_uniform() &&
           x->constant->real(0) == -std::numeric_limits<double>::infinity();
}

Outputs lower_where(Call& call) {
    Lowering& lowering = call.lowering();
    program::Tape& tape = call.tape();
    call.require_kind(0, Kind::kTruth, "condition");
    call.require_same_type(1, 2);
    const Operand& condition = call.in(0);
    const Operand& x = call.in(1);
    const Operand& y = call.in(2);
    const std::vector<Dims> shapes{condition->dims, x->dims, y->dims};
    const Dims dims = broadcast_dims(shapes);
    const std::uint64_t count = checked_elements(dims);
    if (count == 0) {
        return {lowering.add_constant(Constant{x->type, dims, {}, {}})};
    }
    if (condition->constant && condition->constant->is_uniform()) {
        return {lowering.expand(condition->constant->integer(0) != 0 ? x : y, dims)};
    }
    if (condition->constant && x->constant && y->constant && count <= kMaxConstant) {
        return {lowering.add_constant(where_constant(*condition->constant, *x->constant, *y->constant, dims))};
    }
    for (const bool keeps : {true, false}) {
        const Operand& kept = keeps ? x : y;
        const auto rows =
            kept->dims == dims && is_minus_infinity(keeps ? y : x) ? causal_rows(condition, dims, keeps) : std::nullopt;
        if (rows) {
            const Value masked = tape.causal_mask(lowering.real(lowering.array(kept)), *rows);
            return {lowering.add_array({x->type, dims, masked, false})};
        }
    }
    require_array(dims);
    const Value whole = lowering.whole(lowering.array(x), dims, false);
    const Value picks = lowering.fit(lowering.array(condition), dims, false);
    const Value other = lowering.fit(lowering.array(y), dims, false);
    return {lowering.add_array({x->type, dims, tape.select(whole, picks, other), false})};
}

Operand cast(Call& call, const Operand& x, ElementType to) {
    Lowering& lowering = call.lowering();
    program::GraphBuilder& graph = call.graph();
    if (x->type == to) {
        return x;
    }
    if (x->is_empty()) {
        return lowering.add_constant(Constant{to, x->dims, {}, {}});
    }
    lowering.require_computable(to);
    if (x->constant) {
        return lowering.add_constant(cast_constant(*x->constant, to), x->name);
    }
    Array out = lowering.array_any(x);
    const Kind from = kind_of(x->type);
    const Kind into = kind_of(to);
    out.type = to;
    if (into == Kind::kTruth) {
        const Value value = lowering.real(lowering.array_any(x));
        out.value = negated(lowering, graph.equal(value, lowering.scalar(0.0F)));
    } else if (into == Kind::kReal) {
        out.value = lowering.real(out);
    } else {
        if (from == Kind::kReal) {
            out.value = graph.to_int(out.value);
        }
        if (integer_bits(to) < 32 && integer_bits(to) < (from == Kind::kReal ? 32 : integer_bits(x->type))) {
            out.value = wrapped_value(lowering, to, lowering.real(out));
        }
    }
    return lowering.add_array(std::move(out));
}

Outputs lower_cast(Call& call) {
    const std::int64_t to = call.integer("to");
    if (to < 0 || to > 255 || !is_element_type(static_cast<ElementType>(to))) {
        call.unsupported_attribute("to", std::to_string(to));
    }
    return {cast(call, call.in(0), static_cast<ElementType>(to))};
}

Outputs lower_cast_like(Call& call) { return {cast(call, call.in(0), call.in(1)->type)}; }

}  // namespace

std::vector<Operator> logic_operators() {
    constexpr Derivative kExact = Derivative::kExact;
    constexpr Derivative kZero = Derivative::kZero;
    return {
        {"Equal", 1, kZero, {}, lower_equal},
        {"Less", 1, kZero, {}, lower_order<false, false>},
        {"LessOrEqual", 12, kZero, {}, lower_order<false, true>},
        {"Greater", 1, kZero, {}, lower_order<true, false>},
        {"GreaterOrEqual", 12, kZero, {}, lower_order<true, true>},
        {"And", 1, kZero, {}, lower_junction<Junction::kAnd>},
        {"Or", 1, kZero, {}, lower_junction<Junction::kOr>},
        {"Xor", 1, kZero, {}, lower_junction<Junction::kXor>},
        {"Not", 1, kZero, {}, lower_not},
        {"IsNaN", 9, kZero, {}, lower_is_nan},
        {"IsInf", 10, kZero, {"detect_negative", "detect_positive"}, lower_is_inf},
        {"Where", 9, kExact, {}, lower_where},
        {"Cast", 6, kExact, {"to"}, lower_cast},
        {"CastLike", 15, kExact, {}, lower_cast_like},
    };
}

}  // namespace assay::onnx
