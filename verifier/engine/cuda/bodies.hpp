// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include <verifier/engine/cuda/kernels.hpp>
#include <verifier/engine/cuda/residues.hpp>

/// Internal to the engine: kernel bodies, the work of one GPU thread. A body is copied to the device and called with
/// each index.
namespace assay::engine::cuda {

/// a / b for non-negative numbers, in 32 bits if both fit, which is much faster on a device.
ASSAY_HOST_DEVICE inline Rank quotient(Rank a, Rank b) {
    const bool is_short = ((a | b) >> 32) == 0;
    return is_short ? Rank{static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b)} : a / b;
}

/// Row and column of an element of a row-major matrix.
struct Place {
    Rank i = 0;
    Rank j = 0;
};
ASSAY_HOST_DEVICE inline Place place_of(Rank index, Rank cols) {
    const Rank i = quotient(index, cols);
    return {i, index - i * cols};
}

/// NUM-13 for one row and chunk: each lane finds the largest magnitude of every `lanes`-th element.
struct RowExponentBody {
    const float* x = nullptr;
    Rank cols = 0;
    Rank chunk = 0;
    Rank chunks = 0;
    std::int32_t* e = nullptr;

    ASSAY_HOST_DEVICE std::uint32_t largest(Rank index, Rank lane, Rank lanes) const {
        const Place place = place_of(index, chunks);
        const Rank first = place.j * chunk;
        const Rank last = first + chunk < cols ? first + chunk : cols;
        const float* row = x + place.i * cols;
        std::uint32_t best = 0;
        for (Rank j = first + lane; j < last; j += lanes) {
            const std::uint32_t magnitude = finite_magnitude(row[j]);
            best = magnitude > best ? magnitude : best;
        }
        return best;
    }
    ASSAY_HOST_DEVICE void write(Rank index, std::uint32_t magnitude) const { e[index] = exponent_of(magnitude); }
};

/// A quantised operand (NUM-14); at() gives element (i, j).
struct Quantised {
    QuantiseCall call;
    double limit = 0.0;

    ASSAY_HOST_DEVICE std::int32_t at(Rank i, Rank j) const {
        const Rank where = i * call.cols + j;
        if (call.words != nullptr) {
            return call.words[where];
        }
        const std::int32_t e = call.e[i * call.e_row_stride + (call.chunk == 0 ? 0 : quotient(j, call.chunk))];
        return quantise_one(call.x[where], power_of_two(std::int64_t{call.precision} - e), limit);
    }
};

template <class T>
struct QuantiseBody {
    Quantised from;

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        const Place place = place_of(index, from.call.cols);
        static_cast<T*>(from.call.out)[index] = static_cast<T>(from.at(place.i, place.j));
    }
};

/// Computes all residues of four columns; kCount is the residue_count.
template <std::size_t kCount>
struct ResidueBody {
    Quantised from;

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        constexpr auto kM = kModuli;
        const QuantiseCall& call = from.call;
        const Rank vectors = call.padded_cols / 4;
        const Place place = place_of(index, vectors);
        const Rank j = place.j * 4;
        const Place padded = place_of(place.i, call.padded_rows);  // group, and row within the group
        const Rank group_rows = quotient(call.rows, call.groups);
        const Rank i = padded.j;
        const Rank row = padded.i * group_rows + i;
        std::array<std::int32_t, 4> q{};
        for (Rank k = 0; k < 4; ++k) {
            q[static_cast<std::size_t>(k)] = i < group_rows && j + k < call.cols ? from.at(row, j + k) : 0;
        }
        const Rank plane = call.groups * call.padded_rows * vectors;
        for (std::size_t m = 0; m < kCount; ++m) {
            std::uint32_t packed = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                const std::int32_t r = kCount == 1 ? q[k] : centred_residue(q[k], kM[m]);
                packed |= (static_cast<std::uint32_t>(r) & 0xffU) << (8 * k);
            }
            static_cast<std::uint32_t*>(call.out)[static_cast<Rank>(m) * plane + index] = packed;
        }
    }
};

/// NUM-17. kCount 0: sums in doubles; 1: one plane of int32; else residues.
template <std::size_t kCount>
struct FinishBody {
    FinishCall call;

    ASSAY_HOST_DEVICE double exact(Rank index, Rank i, Rank j) const {
        if constexpr (kCount == 0) {
            return call.upper == nullptr ? call.sums[index] : call.upper[index] * 4096.0 + call.sums[index];
        } else {
            const Place place = place_of(i, quotient(call.rows, call.groups));
            const Rank row = place.i * call.padded_rows + place.j;
            const Rank where = row * call.padded_cols + j;
            const Rank plane = call.groups * call.padded_rows * call.padded_cols;
            if constexpr (kCount == 1) {
                return static_cast<double>(call.residues[where]);
            } else {
                std::array<std::int32_t, kCount> sums{};
                for (std::size_t m = 0; m < kCount; ++m) {
                    sums[m] = call.residues[static_cast<Rank>(m) * plane + where];
                }
                return static_cast<double>(from_residues(sums));
            }
        }
    }

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        const auto [i, j] = place_of(index, call.cols);
        const Rank right = quotient(i, quotient(call.rows, call.groups)) * call.cols + j;
        const std::int64_t precision = call.precision;
        const double left_scale = power_of_two(call.e_left[i * call.chunks + call.index] - precision);
        const double right_scale = power_of_two(call.e_right[right * call.chunks + call.index] - precision);
        double v = (exact(index, i, j) * left_scale) * right_scale;
        if (call.index != 0) {
            v = call.total[index] + v;
        }
        if (call.index + 1 == call.chunks) {
            call.out[index] = canon(static_cast<float>(v));
        } else {
            call.total[index] = v;
        }
    }
};

/// Dequantises one element (NUM-15).
struct DequantiseBody {
    const std::int64_t* q = nullptr;
    const std::int32_t* e = nullptr;
    Rank e_row_stride = 0;
    Rank cols = 0;
    std::int64_t precision = 0;
    float* out = nullptr;

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        const std::int64_t power = e[quotient(index, cols) * e_row_stride];
        out[index] = canon(static_cast<float>(static_cast<double>(q[index]) * power_of_two(power - precision)));
    }
};

template <canonical::Op kOp>
struct ElementwiseBody {
    ElementwiseCall call;

    template <class T>
    ASSAY_HOST_DEVICE T at(std::size_t operand, Rank i, Rank j) const {
        const Operand& x = call.in[operand];
        return static_cast<const T*>(x.data)[i * x.row_stride + j * x.col_stride];
    }

    ASSAY_HOST_DEVICE float unary(float x) const {
        using canonical::Op;
        if constexpr (kOp == Op::kSqrt) {
            return std::sqrt(x);
        } else if constexpr (kOp == Op::kScale) {
            return x * as_float(call.attributes[0]);
        } else if constexpr (kOp == Op::kAddConst) {
            return x + as_float(call.attributes[0]);
        } else if constexpr (kOp == Op::kRelu) {
            return x > 0.0F ? x : 0.0F;
        } else if constexpr (kOp == Op::kAbs) {
            return x < 0.0F ? -x : x;
        } else if constexpr (kOp == Op::kFloor) {
            return floor_of(x);
        } else if constexpr (kOp == Op::kRint) {
            return nearest_of(x);
        } else if constexpr (kOp == Op::kExp) {
            return exp_of(x);
        } else if constexpr (kOp == Op::kLog) {
            return log_of(x);
        } else if constexpr (kOp == Op::kTanh) {
            return tanh_of(x);
        } else if constexpr (kOp == Op::kErf) {
            return erf_of(x);
        } else if constexpr (kOp == Op::kSin) {
            return trig_of(x, 0);
        } else if constexpr (kOp == Op::kCos) {
            return trig_of(x, 1);
        } else {
            static_assert(kOp == Op::kFromBits);
            return x;
        }
    }

    ASSAY_HOST_DEVICE static float binary(float x, float y) {
        using canonical::Op;
        if constexpr (kOp == Op::kAdd) {
            return x + y;
        } else if constexpr (kOp == Op::kSub) {
            return x - y;
        } else if constexpr (kOp == Op::kMul) {
            return x * y;
        } else if constexpr (kOp == Op::kDiv) {
            return x / y;
        } else if constexpr (kOp == Op::kReluGrad) {
            return x > 0.0F ? y : 0.0F;
        } else if constexpr (kOp == Op::kMax) {
            return x > y ? x : y;
        } else if constexpr (kOp == Op::kMin) {
            return x < y ? x : y;
        } else if constexpr (kOp == Op::kLess) {
            return x < y ? 1.0F : 0.0F;
        } else {
            static_assert(kOp == Op::kEqual);
            return x == y ? 1.0F : 0.0F;
        }
    }

    ASSAY_HOST_DEVICE static constexpr bool is_binary() {
        using canonical::Op;
        return kOp == Op::kAdd || kOp == Op::kSub || kOp == Op::kMul || kOp == Op::kDiv || kOp == Op::kReluGrad ||
               kOp == Op::kMax || kOp == Op::kMin || kOp == Op::kLess || kOp == Op::kEqual;
    }

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        using canonical::Op;
        const auto [i, j] = place_of(index, call.cols);
        if constexpr (kOp == Op::kToInt) {
            static_cast<std::int32_t*>(call.out)[index] = to_int(at<float>(0, i, j));
        } else if constexpr (kOp == Op::kNarrow) {
            narrow(index, i, j);
        } else if constexpr (kOp == Op::kWiden) {
            if (call.dtype == canonical::DType::kI32) {
                static_cast<std::int32_t*>(call.out)[index] = at<std::int8_t>(0, i, j);
            } else {
                static_cast<float*>(call.out)[index] = widen_of(at<std::uint16_t>(0, i, j));
            }
        } else {
            static_cast<float*>(call.out)[index] = canon(value(i, j));
        }
    }

    ASSAY_HOST_DEVICE void narrow(Rank index, Rank i, Rank j) const {
        if (call.dtype == canonical::DType::kI8) {
            static_cast<std::int8_t*>(call.out)[index] = narrow_of(at<std::int32_t>(0, i, j));
        } else if (call.in[1].data == nullptr) {
            static_cast<std::uint16_t*>(call.out)[index] = narrow_of(at<float>(0, i, j));
        } else {
            static_cast<std::uint16_t*>(call.out)[index] = narrow_of(at<float>(0, i, j), at<float>(1, i, j));
        }
    }

    ASSAY_HOST_DEVICE float value(Rank i, Rank j) const {
        using canonical::Op;
        if constexpr (kOp == Op::kToFloat) {
            return static_cast<float>(at<std::int32_t>(0, i, j));
        } else if constexpr (kOp == Op::kSelect) {
            return at<float>(1, i, j) != 0.0F ? at<float>(0, i, j) : at<float>(2, i, j);
        } else if constexpr (kOp == Op::kCausalMask) {
            return j <= place_of(i, call.attributes[0]).j ? at<float>(0, i, j) : as_float(call.attributes[1]);
        } else if constexpr (is_binary()) {
            return binary(at<float>(0, i, j), at<float>(1, i, j));
        } else {
            return unary(at<float>(0, i, j));
        }
    }
};

/// Draws four random elements (NUM-32, NUM-35).
template <bool kIsUniform>
struct DrawBody {
    std::uint32_t attribute = 0;
    std::uint32_t tensor = 0;
    const Clock* clock = nullptr;
    Rank count = 0;
    float* out = nullptr;

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        const PhiloxNumbers numbers{tensor, clock->step, clock->seed};
        const auto words = philox(static_cast<std::uint32_t>(index), numbers);
        for (std::size_t k = 0; k < 4; ++k) {
            const Rank where = index * 4 + static_cast<Rank>(k);
            if (where >= count) {
                return;
            }
            if constexpr (kIsUniform) {
                const float bound = as_float(attribute);
                const float u = static_cast<float>(words[k] >> 8U) * 0x1.0p-24F;
                out[where] = canon(u * (2.0F * bound) - bound);
            } else {
                out[where] = words[k] < attribute ? 1.0F : 0.0F;
            }
        }
    }
};

/// Leaves a 1 where an element, the bits of an f32 or a bf16, is an infinity or NaN (NUM-6). All that write, write the
/// same.
template <class Word>
struct NotFiniteBody {
    static constexpr auto kExponent = static_cast<Word>(kInfinity >> (32 - 8 * sizeof(Word)));
    const Word* x = nullptr;
    std::int32_t* found = nullptr;

    ASSAY_HOST_DEVICE void operator()(Rank index) const {
        if ((x[index] & kExponent) == kExponent) {
            *found = 1;
        }
    }
};

}  // namespace assay::engine::cuda
