// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <verifier/compile/onnx/call.hpp>

/// Internal to the importer: elementwise arithmetic on operands. Constant operands give constants.
namespace assay::onnx {

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };

/// Applies `op` with broadcasting; both operands must have the same type. 8- and 16-bit integers wrap around.
Operand arithmetic(Lowering& lowering, Arithmetic op, const Operand& a, const Operand& b);

/// Applies `f` to each element. `known`, if given, computes the same at import if `x` is constant.
Operand unary(
    Lowering& lowering, const Operand& x, const std::function<Value(const Value&)>& f, double (*known)(double) = nullptr
);

/// 1 where x > limit, else 0; no gradient.
Value above(Lowering& lowering, const Value& x, float limit);
/// Truncates towards zero; no gradient.
Value truncated(Lowering& lowering, const Value& x);
/// Logical not: 1 - x for bools.
Value negated(Lowering& lowering, const Value& x);
/// Wraps integers, held as f32, to the width of `type`.
Value wrapped_value(Lowering& lowering, ElementType type, const Value& x);
/// Throws Refusal unless the operand is real.
void require_real(const Operand& x);

/// Lowers an operator that is a single unary Tape method, on one real operand.
template <Value (program::Tape::*kMethod)(const Value&)>
Outputs lower_tape(Call& call) {
    require_real(call.in(0));
    return {unary(call.lowering(), call.in(0), [&](const Value& v) { return (call.tape().*kMethod)(v); })};
}

}  // namespace assay::onnx
