// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/onnx/arithmetic.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <verifier/compile/onnx/limits.hpp>

namespace assay::onnx {
namespace {

double apply_real(Arithmetic op, double x, double y) {
    switch (op) {
        case Arithmetic::kAdd:
            return x + y;
        case Arithmetic::kSub:
            return x - y;
        case Arithmetic::kMul:
            return x * y;
        case Arithmetic::kDiv:
            return x / y;
        case Arithmetic::kMax:
            return x > y ? x : y;
        case Arithmetic::kMin:
            return x < y ? x : y;
    }
    return 0.0;
}

std::int64_t apply_integer(Arithmetic op, std::int64_t x, std::int64_t y) {
    const auto ux = static_cast<std::uint64_t>(x);
    const auto uy = static_cast<std::uint64_t>(y);
    switch (op) {
        case Arithmetic::kAdd:
            return static_cast<std::int64_t>(ux + uy);
        case Arithmetic::kSub:
            return static_cast<std::int64_t>(ux - uy);
        case Arithmetic::kMul:
            return static_cast<std::int64_t>(ux * uy);
        case Arithmetic::kDiv:
            if (y == 0) {
                refuse_invalid("an integer is divided by zero");
            }
            return y == -1 ? static_cast<std::int64_t>(0 - ux) : x / y;
        case Arithmetic::kMax:
            return std::max(x, y);
        case Arithmetic::kMin:
            return std::min(x, y);
    }
    return 0;
}

Constant fold(Arithmetic op, const Constant& a, const Constant& b, const Dims& dims) {
    if (a.is_real()) {
        return zip_reals(a, b, dims, a.type, [op](double x, double y) { return apply_real(op, x, y); });
    }
    return zip_integers(a, b, dims, a.type, [op](std::int64_t x, std::int64_t y) { return apply_integer(op, x, y); });
}

// Sums and products are exact in f32 only while they are below 2^24, and only some widths can wrap around.
void require_exact(Arithmetic op, ElementType type) {
    const std::uint32_t bits = integer_bits(type);
    const bool is_wide_unsigned = bits >= 32 && !is_signed(type);
    if ((op == Arithmetic::kMul && bits == 16) || (op == Arithmetic::kSub && is_wide_unsigned)) {
        refuse_unsupported(std::string("this arithmetic on ") + to_string(type) + " is not supported");
    }
}

Value apply(Lowering& lowering, Arithmetic op, const Value& x, const Value& y) {
    program::Tape& tape = lowering.tape();
    switch (op) {
        case Arithmetic::kAdd:
            return tape.add(x, y);
        case Arithmetic::kSub:
            return tape.sub(x, y);
        case Arithmetic::kMul:
            return tape.mul(x, y);
        case Arithmetic::kDiv:
            return tape.div(x, y);
        case Arithmetic::kMax:
            return tape.max(x, y);
        case Arithmetic::kMin:
            return tape.min(x, y);
    }
    return x;
}

std::optional<float> uniform_real(const Operand& x, const Dims& dims) {
    // Only where it does not enlarge the other side.
    if (x->constant && x->constant->is_uniform() && x->dims.size() <= dims.size()) {
        return static_cast<float>(x->constant->real(0));
    }
    return std::nullopt;
}

// One side is the same number everywhere: no tensor for it.
std::optional<Operand> with_number(Lowering& lowering, Arithmetic op, const Operand& a, const Operand& b) {
    program::Tape& tape = lowering.tape();
    const Dims dims = broadcast_dims(a->dims, b->dims);
    const auto left = a->dims == dims ? std::nullopt : uniform_real(a, dims);
    const auto right = b->dims == dims && a->dims != dims ? std::nullopt : uniform_real(b, dims);
    const auto map = [&](const Operand& x, const std::function<Value(const Value&)>& f) {
        return lowering.add_array(lowering.map(lowering.array_any(x), f));
    };
    if (right && a->dims == dims) {
        const float c = *right;
        switch (op) {
            case Arithmetic::kAdd:
                return map(a, [&](const Value& x) { return tape.add_const(x, c); });
            case Arithmetic::kSub:
                return map(a, [&](const Value& x) { return tape.add_const(x, -c); });
            case Arithmetic::kMul:
                return map(a, [&](const Value& x) { return tape.scale(x, c); });
            default:
                return std::nullopt;
        }
    }
    if (left && b->dims == dims) {
        const float c = *left;
        switch (op) {
            case Arithmetic::kAdd:
                return map(b, [&](const Value& x) { return tape.add_const(x, c); });
            case Arithmetic::kSub:
                return map(b, [&](const Value& x) { return tape.add_const(tape.scale(x, -1.0F), c); });
            case Arithmetic::kMul:
                return map(b, [&](const Value& x) { return tape.scale(x, c); });
            default:
                return std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace

void require_real(const Operand& x) {
    if (kind_of(x->type) != Kind::kReal) {
        refuse_unsupported(std::string("element type ") + to_string(x->type) + " is not supported here");
    }
}

Value above(Lowering& lowering, const Value& x, float limit) {
    return lowering.graph().less(lowering.graph().scale(x, -1.0F), lowering.scalar(-limit));
}

Value truncated(Lowering& lowering, const Value& x) {
    program::GraphBuilder& graph = lowering.graph();
    const Value magnitude = graph.floor(graph.abs(x));
    return graph.select(graph.scale(magnitude, -1.0F), graph.less(x, lowering.scalar(0.0F)), magnitude);
}

Value negated(Lowering& lowering, const Value& x) {
    return lowering.graph().add_const(lowering.graph().scale(x, -1.0F), 1.0F);
}

Value wrapped_value(Lowering& lowering, ElementType type, const Value& x) {
    const std::uint32_t bits = integer_bits(type);
    if (bits != 8 && bits != 16) {
        return x;
    }
    program::GraphBuilder& graph = lowering.graph();
    const float range = bits == 8 ? 0x1p8F : 0x1p16F;
    const float lowest = is_signed(type) ? -range / 2.0F : 0.0F;
    const Value shifted = lowest == 0.0F ? x : graph.add_const(x, -lowest);
    const Value turns = graph.floor(graph.scale(shifted, 1.0F / range));
    return graph.sub(x, graph.scale(turns, range));
}

Operand arithmetic(Lowering& lowering, Arithmetic op, const Operand& a, const Operand& b) {
    if (a->type != b->type) {
        refuse_invalid(std::string("operands have element types ") + to_string(a->type) + " and " + to_string(b->type));
    }
    if (a->type == ElementType::kBool) {
        refuse_unsupported("arithmetic on bool is not supported");
    }
    const Dims dims = broadcast_dims(a->dims, b->dims);
    const std::uint64_t count = checked_elements(dims);
    if (count == 0) {
        return lowering.add_constant(Constant{a->type, dims, {}, {}});
    }
    if (a->constant && b->constant && count <= kMaxConstant) {
        lowering.require_computable(a->type);
        return lowering.add_constant(fold(op, *a->constant, *b->constant, dims));
    }
    const bool is_real = kind_of(a->type) == Kind::kReal;
    if (is_real) {
        if (auto out = with_number(lowering, op, a, b)) {
            return *std::move(out);
        }
    } else {
        require_exact(op, a->type);
    }
    const bool commutes = op != Arithmetic::kSub && op != Arithmetic::kDiv;
    Array out = lowering.zip(
        lowering.array_any(a), lowering.array_any(b), a->type,
        [&](const Value& x, const Value& y) { return apply(lowering, op, x, y); }, commutes
    );
    if (!is_real) {
        out.value = op == Arithmetic::kDiv ? truncated(lowering, out.value) : out.value;
        out.value = wrapped_value(lowering, out.type, out.value);
    }
    return lowering.add_array(std::move(out));
}

Operand unary(
    Lowering& lowering, const Operand& x, const std::function<Value(const Value&)>& f, double (*known)(double)
) {
    if (x->is_empty()) {
        return lowering.add_constant(Constant{x->type, x->dims, {}, {}});
    }
    if (x->constant && known != nullptr && x->constant->is_real()) {
        lowering.require_computable(x->type);
        const Constant& constant = *x->constant;
        return lowering.add_constant(zip_reals(constant, constant, x->dims, x->type, [known](double value, double) {
            return known(value);
        }));
    }
    return lowering.add_array(lowering.map(lowering.array_any(x), f));
}

}  // namespace assay::onnx
