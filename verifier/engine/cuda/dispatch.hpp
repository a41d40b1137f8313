// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <verifier/engine/cuda/bodies.hpp>

/// Internal to the engine: selects the kernel body of each call; a Launcher runs it for every index.
namespace assay::engine::cuda {

/// Calls `f` with the std::integral_constant of an elementwise operation. Returns false for other operations.
template <class F>
bool with_elementwise(canonical::Op op, const F& f) {
    using canonical::Op;
    const auto call = [&f]<Op kOp>(std::integral_constant<Op, kOp> which) {
        f(which);
        return true;
    };
#define ASSAY_CASE(name) \
    case Op::name:       \
        return call(std::integral_constant<Op, Op::name>{})
    switch (op) {
        ASSAY_CASE(kAdd);
        ASSAY_CASE(kSub);
        ASSAY_CASE(kMul);
        ASSAY_CASE(kDiv);
        ASSAY_CASE(kReluGrad);
        ASSAY_CASE(kMax);
        ASSAY_CASE(kMin);
        ASSAY_CASE(kLess);
        ASSAY_CASE(kEqual);
        ASSAY_CASE(kSelect);
        ASSAY_CASE(kCausalMask);
        ASSAY_CASE(kSqrt);
        ASSAY_CASE(kScale);
        ASSAY_CASE(kAddConst);
        ASSAY_CASE(kRelu);
        ASSAY_CASE(kAbs);
        ASSAY_CASE(kFloor);
        ASSAY_CASE(kRint);
        ASSAY_CASE(kExp);
        ASSAY_CASE(kLog);
        ASSAY_CASE(kTanh);
        ASSAY_CASE(kErf);
        ASSAY_CASE(kSin);
        ASSAY_CASE(kCos);
        ASSAY_CASE(kFromBits);
        ASSAY_CASE(kToFloat);
        ASSAY_CASE(kToInt);
        ASSAY_CASE(kNarrow);
        ASSAY_CASE(kWiden);
        default:
            return false;
    }
#undef ASSAY_CASE
}

/// Calls `f` with `count`, which must be a residue_count, as std::integral_constant.
template <class F>
void with_count(std::size_t count, const F& f) {
    switch (count) {
        case 1:
            return f(std::integral_constant<std::size_t, 1>{});
        case 2:
            return f(std::integral_constant<std::size_t, 2>{});
        case 3:
            return f(std::integral_constant<std::size_t, 3>{});
        case 4:
            return f(std::integral_constant<std::size_t, 4>{});
        case 5:
            return f(std::integral_constant<std::size_t, 5>{});
        case 6:
            return f(std::integral_constant<std::size_t, 6>{});
        case 7:
            return f(std::integral_constant<std::size_t, 7>{});
        default:
            return f(std::integral_constant<std::size_t, kMaxModuli>{});
    }
}

/// Kernels on a Launcher, which provides `each(count, body)`, `each_row(count, row_exponent_body)` and `use_stream`.
template <class Launcher>
class KernelsOf final : public Kernels {
  public:
    void use_stream(void* stream) override { launcher_.use_stream(stream); }

    void row_exponent(const float* x, Rank rows, Rank cols, Rank chunk, std::int32_t* e) override {
        const Rank chunks = (cols + chunk - 1) / chunk;
        launcher_.each_row(rows * chunks, RowExponentBody{x, cols, chunk, chunks, e});
    }

    void quantise(const QuantiseCall& call) override {
        const double limit = call.precision == 7 ? 127.0 : power_of_two(call.precision);
        const Quantised from{call, limit};
        const Rank count = call.rows * call.cols;
        switch (call.form) {
            case Form::kWords:
                return launcher_.each(count, QuantiseBody<std::int32_t>{from});
            case Form::kFloats:
                return launcher_.each(count, QuantiseBody<float>{from});
            case Form::kDoubles:
                return launcher_.each(count, QuantiseBody<double>{from});
            default:
                return with_count(call.count, [&](auto residues) {
                    const Rank vectors = call.groups * call.padded_rows * (call.padded_cols / 4);
                    launcher_.each(vectors, ResidueBody<residues.value>{from});
                });
        }
    }

    void dequantise(
        const std::int64_t* q, const std::int32_t* e, Rank e_row_stride, Rank rows, Rank cols, std::uint32_t precision,
        float* out
    ) override {
        launcher_.each(rows * cols, DequantiseBody{q, e, e_row_stride, cols, precision, out});
    }

    void finish(const FinishCall& call) override {
        const Rank count = call.rows * call.cols;
        if (call.residues == nullptr) {
            return launcher_.each(count, FinishBody<0>{call});
        }
        with_count(call.count, [&](auto residues) { launcher_.each(count, FinishBody<residues.value>{call}); });
    }

    void elementwise(const ElementwiseCall& call) override {
        with_elementwise(call.op, [&](auto op) {
            launcher_.each(call.rows * call.cols, ElementwiseBody<op.value>{call});
        });
    }

    void uniform(const DrawCall& call) override {
        launcher_.each(
            (call.count + 3) / 4, DrawBody<true>{call.attribute, call.tensor, call.clock, call.count, call.out}
        );
    }
    void bernoulli(const DrawCall& call) override {
        launcher_.each(
            (call.count + 3) / 4, DrawBody<false>{call.attribute, call.tensor, call.clock, call.count, call.out}
        );
    }

    void find_not_finite(const std::uint32_t* x, Rank count, std::int32_t* found) override {
        launcher_.each(count, NotFiniteBody<std::uint32_t>{x, found});
    }
    void find_not_finite(const std::uint16_t* x, Rank count, std::int32_t* found) override {
        launcher_.each(count, NotFiniteBody<std::uint16_t>{x, found});
    }

  private:
    Launcher launcher_;
};

}  // namespace assay::engine::cuda
