// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <verifier/compile/onnx/call.hpp>

/// Inside onnx only: elementwise arithmetic on operands, constants staying constants.
namespace assay::onnx {

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };

/// With broadcasting; both of one type. Integers of 8 and 16 bits wrap around.
Operand arithmetic(Lowering& lowering, Arithmetic op, const Operand& a, const Operand& b);

/// `f` of each element; `known` the same at import, where it is worth having.
Operand unary(
    Lowering& lowering, const Operand& x, const std::function<Value(const Value&)>& f,
    double (*known)(double) = nullptr
);

/// 1 where x > limit, else 0; no gradient.
Value above(Lowering& lowering, const Value& x, float limit);
/// Towards zero; no gradient.
Value truncated(Lowering& lowering, const Value& x);
/// 1 - x for bools.
Value negated(Lowering& lowering, const Value& x);
/// An f32 value of integers as its type's width holds it.
Value wrapped_value(Lowering& lowering, ElementType type, const Value& x);
/// Refuses what is not a real number.
void require_real(const Operand& x);

/// An operator that is one method of the tape, of one real operand.
template <Value (program::Tape::*kMethod)(const Value&)>
Outputs lower_tape(Call& call) {
    require_real(call.in(0));
    return {unary(call.lowering(), call.in(0), [&](const Value& v) { return (call.tape().*kMethod)(v); })};
}

}  // namespace assay::onnx
