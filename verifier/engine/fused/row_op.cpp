// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/row_op.hpp>

#include <bit>

#include <verifier/engine/fused/digit_kernel.hpp>
#include <verifier/engine/fused/lanes.hpp>

namespace assay::engine::fused {

using canonical::DType;
using canonical::Op;
using canonical::Shape;

namespace {

float as_f32(std::uint32_t bits) { return std::bit_cast<float>(bits); }

Quantisation quantisation_of(const RowCall& call) {
    const Shape e = call.reads.inputs[1].shape;
    const std::size_t cols = call.reads.shape.cols;
    return {
        .exponent = call.in<std::int32_t>(1),
        .chunks = e.cols,
        .chunk = e.cols == 1 ? cols : call.reads.attributes[1],
        .is_shared = call.is_shared(1),
        .precision = call.reads.attributes[0],
    };
}

void run_quantisation(const RowCall& call) {
    const Quantisation how = quantisation_of(call);
    switch (call.format) {
        case Format::kFloat:
            return run_quantise(call.extent, call.in<float>(0), how, call.out<float>());
        case Format::kShort:
            return run_quantise(call.extent, call.in<float>(0), how, call.out<std::int16_t>());
        case Format::kLeftDigits:
            DigitKernel(how.precision).quantise_left(call.extent, call.in<float>(0), how, call.out<std::int8_t>());
            return;
        case Format::kRightDigits:
            DigitKernel(how.precision).quantise_right(call.extent, call.in<float>(0), how, call.out<std::int8_t>());
            return;
        default:
            return run_quantise(call.extent, call.in<float>(0), how, call.out<std::int32_t>());
    }
}

void run_sum(const RowCall& call) {
    if (&call.reads == &call.node) {
        return run_row_sum(call.input_extent(0), call.in<std::int32_t>(0), call.out<std::int64_t>());
    }
    run_quantised_sum(
        call.input_extent(0), call.in<float>(0), call.in<std::int32_t>(1), call.is_shared(1), call.reads.attributes[0],
        call.out<std::int64_t>()
    );
}

void run_view(const RowCall& call) {
    const std::uint64_t first = call.extent.first_row * call.extent.cols;
    if (call.node.dtype == DType::kI64) {
        return call.view->copy(call.in<std::uint64_t>(0), first, call.extent.size(), 0, call.out<std::uint64_t>());
    }
    const std::uint32_t fill = call.node.dtype == DType::kF32
                                   ? std::bit_cast<std::uint32_t>(canonical_f32(as_f32(call.node.attributes[0])))
                                   : call.node.attributes[0];
    call.view->copy(call.in<std::uint32_t>(0), first, call.extent.size(), fill, call.out<std::uint32_t>());
}

void run_reduction(const RowCall& call) {
    switch (call.node.op) {
        case Op::kRowMax:
            return call.node.dtype == DType::kF32
                       ? run_row_max(call.input_extent(0), call.in<float>(0), call.out<float>())
                       : run_row_max(call.input_extent(0), call.in<std::int32_t>(0), call.out<std::int32_t>());
        case Op::kRowArgMax:
            return run_row_arg_max(call.input_extent(0), call.in<float>(0), call.out<std::int32_t>());
        case Op::kRowExponent:
            return run_row_exponent(
                call.input_extent(0), call.in<float>(0), call.node.attributes[0], call.out<std::int32_t>()
            );
        default:
            return run_sum(call);
    }
}

void run_source(const RowCall& call) {
    const auto [a, b] = call.node.attributes;
    switch (call.node.op) {
        case Op::kFill:
            return run_fill(call.extent.size(), as_f32(a), call.out<float>());
        case Op::kBernoulli:
            return run_bernoulli(call.extent, call.context, a, b, call.out<float>());
        case Op::kUniform:
            return run_uniform(call.extent, call.context, a, b, call.out<float>());
        default: {
            const std::uint64_t count = call.context.step / a;
            *call.out<float>() = static_cast<float>(b == 0 ? count : count % b);
            return;
        }
    }
}

// NUM-39
void run_narrowing(const RowCall& call) {
    const std::size_t count = call.extent.size();
    if (call.node.dtype == DType::kI8) {
        return run_narrow(count, call.in<std::int32_t>(0), call.out<std::int8_t>());
    }
    if (call.node.inputs.size() == 1) {
        return run_narrow(count, call.in<float>(0), call.out<std::uint16_t>());
    }
    run_narrow(call.extent, call.in<float>(0), call.in<float>(1), call.spread(1), call.out<std::uint16_t>());
}

// NUM-40
void run_widening(const RowCall& call) {
    const std::size_t count = call.extent.size();
    if (call.node.dtype == DType::kI32) {
        return run_widen(count, call.in<std::int8_t>(0), call.out<std::int32_t>());
    }
    run_widen(count, call.in<std::uint16_t>(0), call.out<float>());
}

void run_elementwise(const RowCall& call) {
    const std::size_t count = call.extent.size();
    switch (call.node.op) {
        case Op::kFromBits:
            return run_from_bits(count, call.in<std::int32_t>(0), call.out<float>());
        case Op::kToFloat:
            return run_to_float(count, call.in<std::int32_t>(0), call.out<float>());
        case Op::kToInt:
            return run_to_int(count, call.in<float>(0), call.out<std::int32_t>());
        case Op::kNarrow:
            return run_narrowing(call);
        case Op::kWiden:
            return run_widening(call);
        case Op::kSelect:
            return run_select(
                call.extent, call.in<float>(0), call.in<float>(1), call.spread(1), call.in<float>(2), call.spread(2),
                call.out<float>()
            );
        case Op::kCausalMask:
            return run_causal_mask(
                call.extent, call.in<float>(0), call.node.attributes[0], as_f32(call.node.attributes[1]),
                call.out<float>()
            );
        default:
            break;
    }
    if (call.node.inputs.size() == 2) {
        return run_binary(
            call.node.op, call.extent, call.in<float>(0), call.in<float>(1), call.spread(1), call.out<float>()
        );
    }
    run_unary(call.node.op, count, call.in<float>(0), as_f32(call.node.attributes[0]), call.out<float>());
}

}  // namespace

void run_row_op(const RowCall& call) {
    switch (call.node.op) {
        case Op::kFill:
        case Op::kBernoulli:
        case Op::kUniform:
        case Op::kStepCount:
            return run_source(call);
        case Op::kView:
            return run_view(call);
        case Op::kGatherRows:
            return run_gather(
                call.extent.rows * call.node.inputs[1].shape.cols, call.in<std::int32_t>(1), call.in<float>(0),
                call.node.inputs[0].shape, call.out<float>()
            );
        case Op::kOneHot:
            return run_one_hot(call.extent, call.in<std::int32_t>(0), call.out<float>());
        case Op::kRowMax:
        case Op::kRowExponent:
        case Op::kRowSum:
        case Op::kRowArgMax:
            return run_reduction(call);
        case Op::kQuantise:
            return run_quantisation(call);
        case Op::kDequantise:
            return run_dequantise(
                call.extent, call.in<std::int64_t>(0), call.in<std::int32_t>(1), call.is_shared(1),
                call.node.attributes[0], call.out<float>()
            );
        default:
            return run_elementwise(call);
    }
}

}  // namespace assay::engine::fused
