// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <core/canonical/node.hpp>

namespace assay::canonical {
namespace {

struct Name {
    Op op;
    const char* text;
};
constexpr std::array kNames{
    Name{Op::kBatchRows, "batch_rows"},
    Name{Op::kUniform, "uniform"},
    Name{Op::kFill, "fill"},
    Name{Op::kBernoulli, "bernoulli"},
    Name{Op::kStepCount, "step_count"},
    Name{Op::kView, "view"},
    Name{Op::kGatherRows, "gather_rows"},
    Name{Op::kScatterAddRows, "scatter_add_rows"},
    Name{Op::kOneHot, "one_hot"},
    Name{Op::kFromBits, "from_bits"},
    Name{Op::kToFloat, "to_float"},
    Name{Op::kToInt, "to_int"},
    Name{Op::kNarrow, "narrow"},
    Name{Op::kWiden, "widen"},
    Name{Op::kAdd, "add"},
    Name{Op::kSub, "sub"},
    Name{Op::kMul, "mul"},
    Name{Op::kDiv, "div"},
    Name{Op::kSqrt, "sqrt"},
    Name{Op::kScale, "scale"},
    Name{Op::kAddConst, "add_const"},
    Name{Op::kRelu, "relu"},
    Name{Op::kReluGrad, "relu_grad"},
    Name{Op::kExp, "exp"},
    Name{Op::kLog, "log"},
    Name{Op::kTanh, "tanh"},
    Name{Op::kErf, "erf"},
    Name{Op::kSin, "sin"},
    Name{Op::kCos, "cos"},
    Name{Op::kAbs, "abs"},
    Name{Op::kFloor, "floor"},
    Name{Op::kRint, "rint"},
    Name{Op::kMax, "max"},
    Name{Op::kMin, "min"},
    Name{Op::kLess, "less"},
    Name{Op::kEqual, "equal"},
    Name{Op::kSelect, "select"},
    Name{Op::kCausalMask, "causal_mask"},
    Name{Op::kRowMax, "row_max"},
    Name{Op::kRowExponent, "row_exponent"},
    Name{Op::kRowSum, "row_sum"},
    Name{Op::kRowArgMax, "row_arg_max"},
    Name{Op::kQuantise, "quantise"},
    Name{Op::kDequantise, "dequantise"},
    Name{Op::kContract, "contract"},
    Name{Op::kCommit, "commit"},
};

/// Whether exactly the valid numbers have names.
consteval bool is_complete() {
    for (unsigned number = 0; number < 256; ++number) {
        const Op op = static_cast<Op>(number);
        unsigned count = 0;
        for (const Name& name : kNames) {
            count += name.op == op ? 1U : 0U;
        }
        if (count != (is_valid(op) ? 1U : 0U)) {
            return false;
        }
    }
    return true;
}
static_assert(is_complete());

}  // namespace

const char* to_string(Op op) noexcept {
    for (const Name& name : kNames) {
        if (name.op == op) {
            return name.text;
        }
    }
    return "unknown";
}

}  // namespace assay::canonical
