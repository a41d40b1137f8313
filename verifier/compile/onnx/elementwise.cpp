// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <verifier/compile/onnx/arithmetic.hpp>
#include <verifier/compile/onnx/limits.hpp>
#include <verifier/compile/onnx/operators.hpp>

namespace assay::onnx {
namespace {

template <Arithmetic kOp>
Outputs lower_binary(Call& call) {
    return {arithmetic(call.lowering(), kOp, call.in(0), call.in(1))};
}

template <Arithmetic kOp>
Outputs lower_variadic(Call& call) {
    Operand out = call.in(0);
    for (std::size_t i = 1; i < call.input_count(); ++i) {
        out = arithmetic(call.lowering(), kOp, out, call.in(i));
    }
    return {out};
}

Outputs lower_mean(Call& call) {
    require_real(call.in(0));
    const Operand total = lower_variadic<Arithmetic::kAdd>(call)[0];
    const Operand count =
        call.lowering().add_constant(make_uniform(total->type, {}, static_cast<double>(call.input_count())));
    return {arithmetic(call.lowering(), Arithmetic::kDiv, total, count)};
}

Outputs lower_neg(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    if (x->constant && !x->constant->is_real()) {
        const Operand zero = lowering.add_constant(make_uniform(x->type, {}, 0.0));
        return {arithmetic(lowering, Arithmetic::kSub, zero, x)};
    }
    return {unary(
        lowering, x, [&](const Value& v) { return call.tape().scale(v, -1.0F); }, [](double v) { return -v; }
    )};
}

Outputs lower_abs(Call& call) {
    return {unary(
        call.lowering(), call.in(0), [&](const Value& v) { return call.tape().abs(v); },
        [](double v) { return std::abs(v); }
    )};
}

Outputs lower_sqrt(Call& call) {
    require_real(call.in(0));
    return {unary(
        call.lowering(), call.in(0), [&](const Value& v) { return call.tape().sqrt(v); },
        [](double v) { return std::sqrt(v); }
    )};
}

Value ones_like(Call& call, const Value& x) { return call.graph().fill(x.shape, 1.0F); }

Outputs lower_reciprocal(Call& call) {
    require_real(call.in(0));
    return {unary(
        call.lowering(), call.in(0), [&](const Value& v) { return call.tape().div(ones_like(call, v), v); },
        [](double v) { return 1.0 / v; }
    )};
}

Outputs lower_tan(Call& call) {
    require_real(call.in(0));
    program::Tape& tape = call.tape();
    return {unary(call.lowering(), call.in(0), [&](const Value& v) { return tape.div(tape.sin(v), tape.cos(v)); })};
}

Value cosh_of(program::Tape& tape, const Value& x) {
    return tape.scale(tape.add(tape.exp(x), tape.exp(tape.scale(x, -1.0F))), 0.5F);
}

Outputs lower_cosh(Call& call) {
    require_real(call.in(0));
    return {unary(call.lowering(), call.in(0), [&](const Value& v) { return cosh_of(call.tape(), v); })};
}

// As tanh * cosh, which loses nothing near zero.
Outputs lower_sinh(Call& call) {
    require_real(call.in(0));
    program::Tape& tape = call.tape();
    return {
        unary(call.lowering(), call.in(0), [&](const Value& v) { return tape.mul(tape.tanh(v), cosh_of(tape, v)); })};
}

Outputs lower_asinh(Call& call) {
    require_real(call.in(0));
    program::Tape& tape = call.tape();
    const auto f = [&](const Value& v) {
        const Value x = tape.abs(v);
        const Value size = tape.log(tape.add(x, tape.sqrt(tape.add_const(tape.mul(x, x), 1.0F))));
        return tape.select(tape.scale(size, -1.0F), call.graph().less(v, call.lowering().scalar(0.0F)), size);
    };
    return {unary(call.lowering(), call.in(0), f)};
}

Outputs lower_acosh(Call& call) {
    require_real(call.in(0));
    program::Tape& tape = call.tape();
    return {unary(call.lowering(), call.in(0), [&](const Value& v) {
        return tape.log(tape.add(v, tape.sqrt(tape.add_const(tape.mul(v, v), -1.0F))));
    })};
}

Outputs lower_atanh(Call& call) {
    require_real(call.in(0));
    program::Tape& tape = call.tape();
    return {unary(call.lowering(), call.in(0), [&](const Value& v) {
        const Value below = tape.add_const(tape.scale(v, -1.0F), 1.0F);
        return tape.scale(tape.log(tape.div(tape.add_const(v, 1.0F), below)), 0.5F);
    })};
}

Outputs lower_sign(Call& call) {
    program::GraphBuilder& graph = call.graph();
    return {unary(
        call.lowering(), call.in(0),
        [&](const Value& v) {
            return graph.sub(above(call.lowering(), v, 0.0F), graph.less(v, call.lowering().scalar(0.0F)));
        },
        [](double v) { return (v > 0.0 ? 1.0 : 0.0) - (v < 0.0 ? 1.0 : 0.0); }
    )};
}

Outputs lower_floor(Call& call) {
    require_real(call.in(0));
    return {unary(
        call.lowering(), call.in(0), [&](const Value& v) { return call.graph().floor(v); },
        [](double v) { return std::floor(v); }
    )};
}

Outputs lower_ceil(Call& call) {
    require_real(call.in(0));
    program::GraphBuilder& graph = call.graph();
    return {unary(
        call.lowering(), call.in(0),
        [&](const Value& v) { return graph.scale(graph.floor(graph.scale(v, -1.0F)), -1.0F); },
        [](double v) { return std::ceil(v); }
    )};
}

Outputs lower_round(Call& call) {
    require_real(call.in(0));
    return {unary(
        call.lowering(), call.in(0), [&](const Value& v) { return call.graph().rint(v); },
        [](double v) { return std::nearbyint(v); }
    )};
}

// x^n by squaring.
Value whole_power(program::Tape& tape, const Value& x, std::uint32_t n) {
    std::optional<Value> out;
    Value square = x;
    for (std::uint32_t rest = n; rest != 0; rest >>= 1U) {
        if ((rest & 1U) != 0) {
            out = out ? tape.mul(*out, square) : square;
        }
        if (rest > 1) {
            square = tape.mul(square, square);
        }
    }
    return *out;
}

constexpr double kMaxWholePower = 64.0;

// A power that is known at import and has a shorter way than exp and log.
std::optional<Value> short_power(Call& call, const Value& x, double power) {
    program::Tape& tape = call.tape();
    const double size = std::abs(power);
    std::optional<Value> out;
    if (power == 0.0) {
        return ones_like(call, x);
    }
    if (size == 0.5) {
        out = tape.sqrt(x);
    } else if (size == std::floor(size) && size <= kMaxWholePower) {
        out = whole_power(tape, x, static_cast<std::uint32_t>(size));
    }
    return out && power < 0.0 ? tape.div(ones_like(call, x), *out) : out;
}

// |x|^y as exp(y log|x|), with the signs and the exceptions of pow.
Value general_power(Call& call, const Value& x, const Value& y, bool is_integer) {
    program::Tape& tape = call.tape();
    program::GraphBuilder& graph = call.graph();
    Lowering& lowering = call.lowering();
    const Value size = tape.exp(tape.mul(tape.log(tape.abs(x)), y));
    const Value or_one = tape.select(size, y, lowering.scalar(1.0F));
    const Value is_whole = graph.equal(y, graph.floor(y));
    const Value odd = graph.sub(y, graph.scale(graph.floor(graph.scale(y, 0.5F)), 2.0F));
    const Value sign = graph.select(graph.add_const(graph.scale(odd, -2.0F), 1.0F), is_whole, lowering.scalar(1.0F));
    const Value is_negative = graph.less(x, lowering.scalar(0.0F));
    Value out = tape.select(tape.mul(or_one, sign), is_negative, or_one);
    const Value has_power = graph.max(negated(lowering, is_negative), is_whole);
    out = tape.select(out, has_power, lowering.scalar(std::numeric_limits<float>::quiet_NaN()));
    return is_integer ? graph.select(graph.rint(out), is_whole, truncated(lowering, out)) : out;
}

Outputs lower_pow(Call& call) {
    Lowering& lowering = call.lowering();
    const Operand& x = call.in(0);
    const Operand& y = call.in(1);
    const Dims dims = broadcast_dims(x->dims, y->dims);
    if (checked_elements(dims) == 0) {
        return {lowering.add_constant(Constant{x->type, dims, {}, {}})};
    }
    const bool is_integer = kind_of(x->type) != Kind::kReal;
    if (x->constant && y->constant && x->constant->is_real()) {
        lowering.require_computable(x->type);
        return {lowering.add_constant(zip_reals(*x->constant, *y->constant, dims, x->type, [](double a, double b) {
            return std::pow(a, b);
        }))};
    }
    if (y->constant && y->constant->is_uniform() && x->dims == dims) {
        const double power = y->constant->real(0);
        const Array base = lowering.array_any(x);
        const std::optional<Value> out =
            is_integer && power < 0.0 ? std::nullopt : short_power(call, lowering.real(base), power);
        if (out) {
            return {lowering.add_array({base.type, base.dims, *out, base.channels_last})};
        }
    }
    return {lowering.add_array(lowering.zip(
        lowering.array_any(x), lowering.array_any(y), x->type,
        [&](const Value& a, const Value& b) { return general_power(call, a, b, is_integer); }
    ))};
}

// The remainder has the divisor's sign, as Python's does; with fmod, the dividend's, as C's.
Outputs lower_mod(Call& call) {
    Lowering& lowering = call.lowering();
    program::Tape& tape = call.tape();
    program::GraphBuilder& graph = call.graph();
    call.require_same_type(0, 1);
    const Operand& x = call.in(0);
    const Operand& y = call.in(1);
    const bool is_fmod = call.integer("fmod", 0) != 0;
    if (!is_fmod && kind_of(x->type) == Kind::kReal) {
        refuse_invalid("real numbers need fmod 1");
    }
    const Dims dims = broadcast_dims(x->dims, y->dims);
    if (x->constant && y->constant && !x->constant->is_real()) {
        return {lowering.add_constant(zip_integers(
            *x->constant, *y->constant, dims, x->type,
            [is_fmod](std::int64_t a, std::int64_t b) -> std::int64_t {
                if (b == 0) {
                    refuse_invalid("an integer is divided by zero");
                }
                const std::int64_t rest = b == -1 ? 0 : a % b;
                return !is_fmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
            }
        ))};
    }
    const auto f = [&](const Value& a, const Value& b) {
        const Value ratio = graph.div(a, b);
        const Value turns = is_fmod ? truncated(lowering, ratio) : graph.floor(ratio);
        return tape.sub(a, tape.mul(turns, b));
    };
    return {lowering.add_array(lowering.zip(lowering.array_any(x), lowering.array_any(y), x->type, f))};
}

}  // namespace

std::vector<Operator> elementwise_operators() {
    using program::Tape;
    constexpr Derivative kExact = Derivative::kExact;
    constexpr Derivative kZero = Derivative::kZero;
    return {
        {"Add", 1, kExact, {}, lower_binary<Arithmetic::kAdd>},
        {"Sub", 1, kExact, {}, lower_binary<Arithmetic::kSub>},
        {"Mul", 1, kExact, {}, lower_binary<Arithmetic::kMul>},
        {"Div", 1, kExact, {}, lower_binary<Arithmetic::kDiv>},
        {"Max", 1, kExact, {}, lower_variadic<Arithmetic::kMax>},
        {"Min", 1, kExact, {}, lower_variadic<Arithmetic::kMin>},
        {"Sum", 1, kExact, {}, lower_variadic<Arithmetic::kAdd>},
        {"Mean", 1, kExact, {}, lower_mean},
        {"Pow", 1, kExact, {}, lower_pow},
        {"Mod", 10, kExact, {"fmod"}, lower_mod},
        {"Neg", 6, kExact, {}, lower_neg},
        {"Abs", 6, kExact, {}, lower_abs},
        {"Sqrt", 6, kExact, {}, lower_sqrt},
        {"Reciprocal", 6, kExact, {}, lower_reciprocal},
        {"Exp", 6, kExact, {}, lower_tape<&Tape::exp>},
        {"Log", 6, kExact, {}, lower_tape<&Tape::log>},
        {"Erf", 9, kExact, {}, lower_tape<&Tape::erf>},
        {"Sin", 7, kExact, {}, lower_tape<&Tape::sin>},
        {"Cos", 7, kExact, {}, lower_tape<&Tape::cos>},
        {"Tan", 7, kExact, {}, lower_tan},
        {"Sinh", 9, kExact, {}, lower_sinh},
        {"Cosh", 9, kExact, {}, lower_cosh},
        {"Asinh", 9, kExact, {}, lower_asinh},
        {"Acosh", 9, kExact, {}, lower_acosh},
        {"Atanh", 9, kExact, {}, lower_atanh},
        {"Sign", 9, kZero, {}, lower_sign},
        {"Floor", 6, kZero, {}, lower_floor},
        {"Ceil", 6, kZero, {}, lower_ceil},
        {"Round", 11, kZero, {}, lower_round},
    };
}

}  // namespace assay::onnx
