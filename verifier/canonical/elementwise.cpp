// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <verifier/canonical/executor.hpp>
#include <verifier/canonical/kernels.hpp>

namespace assay::canonical {
namespace {

// NUM-8: one correctly rounded operation per element.
template <class F>
void unary(const Work& work, Block& out, F f) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = canonical_bits(f(as_f32(x[j])));
        }
    }
}

template <class F>
void binary(const Work& work, Block& out, F f) {
    const std::size_t rows = work.rows();
    const std::size_t cols = work.cols();
    const Shape second = work.node.inputs[1].shape;
    std::array<std::uint32_t, kTileDim> spread{};
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint32_t* x = work.operands[0]->words.data() + i * kTileDim;
        for (std::size_t j = 0; j < kTileDim; ++j) {
            spread[j] = work.operands[1]->words[broadcast_index(second, i, j)];
        }
        std::uint32_t* to = out.words.data() + i * kTileDim;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = canonical_bits(f(as_f32(x[j]), as_f32(spread[j])));
        }
    }
}

float canonical_exp(float x) { return x != x ? x : static_cast<float>(exp_f64(static_cast<double>(x))); }

float canonical_log(float x) {
    if (x != x || x < 0.0F) {
        return as_f32(kCanonicalNan);
    }
    if (x == 0.0F) {
        return as_f32(0xff800000U);
    }
    return x > FLT_MAX ? x : static_cast<float>(log_f64(static_cast<double>(x)));
}

void fill(const Work& work, Block& out) {
    const std::uint32_t bits = canonical_bits(as_f32(work.node.attributes[0]));
    const std::size_t rows = work.rows();
    for (std::size_t i = 0; i < rows; ++i) {
        std::fill_n(out.words.data() + i * kTileDim, work.cols(), bits);
    }
}

}  // namespace

void run_elementwise(const Work& work, Block& out) noexcept {
    const float constant = as_f32(work.node.attributes[0]);
    switch (work.node.op) {
        case Op::kFill:
            return fill(work, out);
        case Op::kAdd:
            return binary(work, out, [](float x, float y) { return x + y; });
        case Op::kSub:
            return binary(work, out, [](float x, float y) { return x - y; });
        case Op::kMul:
            return binary(work, out, [](float x, float y) { return x * y; });
        case Op::kDiv:
            return binary(work, out, [](float x, float y) { return x / y; });
        case Op::kReluGrad:
            return binary(work, out, [](float x, float g) { return x > 0.0F ? g : 0.0F; });
        case Op::kSqrt:
            return unary(work, out, [](float x) { return std::sqrt(x); });
        case Op::kScale:
            return unary(work, out, [constant](float x) { return x * constant; });
        case Op::kAddConst:
            return unary(work, out, [constant](float x) { return x + constant; });
        case Op::kRelu:
            return unary(work, out, [](float x) { return x > 0.0F ? x : 0.0F; });
        case Op::kExp:
            return unary(work, out, canonical_exp);
        default:
            return unary(work, out, canonical_log);
    }
}

}  // namespace assay::canonical
