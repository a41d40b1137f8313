// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/host_kernels.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <verifier/canonical/executor.hpp>

// Vector instructions where the CPU has them; without contraction every level computes the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ASSAY_VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define ASSAY_VECTORISED
#endif

namespace assay::engine {

using canonical::Op;

namespace {

constexpr std::uint32_t kCanonicalNan = 0x7fc00000;
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr double kRoundingBias = 0x1.8p52;
constexpr std::size_t kBlock = 32;

// NUM-6: one NaN, no negative zero.
inline float canonical_f32(float x) { return x != x ? std::bit_cast<float>(kCanonicalNan) : x + 0.0F; }

// NUM-10
inline double power_of_two(std::int64_t k) {
    const std::int64_t clamped = std::clamp<std::int64_t>(k, -1000, 1000);
    return std::bit_cast<double>(static_cast<std::uint64_t>(clamped + 1023) << 52U);
}

template <class F>
inline __attribute__((always_inline)) void map_flat(
    const float* __restrict x, const float* __restrict y, float* __restrict out, std::size_t count, F f
) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(f(x[i], y[i]));
    }
}

template <class F>
inline __attribute__((always_inline)) void map_scalar(
    const float* __restrict x, float y, float* __restrict out, std::size_t count, F f
) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(f(x[i], y));
    }
}

template <class F>
inline __attribute__((always_inline)) void map_binary(F32 x, F32 y, View<float> out, F f) {
    if (y.shape == x.shape) {
        return map_flat(x.data, y.data, out.data, x.size(), f);
    }
    if (y.size() == 1) {
        return map_scalar(x.data, y.data[0], out.data, x.size(), f);
    }
    for (std::size_t i = 0; i < x.rows(); ++i) {
        if (y.cols() == 1) {
            map_scalar(x.row(i), y.data[i], out.row(i), x.cols(), f);
        } else {
            map_flat(x.row(i), y.data, out.row(i), x.cols(), f);
        }
    }
}

#define ASSAY_BINARY(name, expression)                                        \
    ASSAY_VECTORISED void name(F32 x, F32 y, View<float> out) {               \
        map_binary(x, y, out, [](float a, float b) { return expression; });   \
    }
ASSAY_BINARY(add, a + b)
ASSAY_BINARY(sub, a - b)
ASSAY_BINARY(mul, a* b)
ASSAY_BINARY(div, a / b)
ASSAY_BINARY(relu_grad, a > 0.0F ? b : 0.0F)
#undef ASSAY_BINARY

#define ASSAY_UNARY(name, expression)                                                             \
    ASSAY_VECTORISED void name(F32 x, [[maybe_unused]] float constant, View<float> out) {         \
        map_scalar(x.data, constant, out.data, x.size(), [](float a, [[maybe_unused]] float b) { return expression; }); \
    }
ASSAY_UNARY(scale, a* b)
ASSAY_UNARY(add_const, a + b)
ASSAY_UNARY(relu, a > 0.0F ? a : 0.0F)
ASSAY_UNARY(square_root, std::sqrt(a))
#undef ASSAY_UNARY

float canonical_exp(float x) {
    return x != x ? x : static_cast<float>(canonical::exp_f64(static_cast<double>(x)));
}

float canonical_log(float x) {
    if (x != x || x < 0.0F) {
        return std::bit_cast<float>(kCanonicalNan);
    }
    if (x == 0.0F) {
        return -std::numeric_limits<float>::infinity();
    }
    return x > std::numeric_limits<float>::max() ? x
                                                 : static_cast<float>(canonical::log_f64(static_cast<double>(x)));
}

template <class T>
inline __attribute__((always_inline)) void transpose_blocks(In<T> x, View<T> out) {
    for (std::size_t i0 = 0; i0 < x.rows(); i0 += kBlock) {
        const std::size_t i1 = std::min(i0 + kBlock, x.rows());
        for (std::size_t j0 = 0; j0 < x.cols(); j0 += kBlock) {
            const std::size_t j1 = std::min(j0 + kBlock, x.cols());
            for (std::size_t j = j0; j < j1; ++j) {
                T* __restrict to = out.row(j);
                for (std::size_t i = i0; i < i1; ++i) {
                    to[i] = x.row(i)[j];
                }
            }
        }
    }
}

template <class T>
void slice(In<T> x, std::size_t first, View<T> out) {
    for (std::size_t i = 0; i < out.rows(); ++i) {
        std::copy_n(x.row(i) + first, out.cols(), out.row(i));
    }
}

// NUM-13
std::int32_t frexp_exponent(std::uint32_t magnitude) {
    if (magnitude == 0) {
        return 0;
    }
    const auto biased = static_cast<std::int32_t>(magnitude >> 23U);
    return biased != 0 ? biased - 126 : static_cast<std::int32_t>(std::bit_width(magnitude)) - 149;
}

inline __attribute__((always_inline)) std::uint32_t largest_magnitude(const float* __restrict x, std::size_t count) {
    std::uint32_t best = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & kMagnitude;
        const std::uint32_t finite = magnitude < kInfinity ? magnitude : 0;
        best = finite > best ? finite : best;
    }
    return best;
}

// |x * scale| is at most 2^30 after the clamp, so the rounded value lies in the low bits of the biased double.
inline __attribute__((always_inline)) void quantise_run(
    const float* __restrict x, std::size_t count, double scale, double limit, std::int32_t* __restrict out
) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x[i]) & kMagnitude;
        const float finite = magnitude < kInfinity ? x[i] : 0.0F;
        double scaled = static_cast<double>(finite) * scale;
        scaled = scaled > limit ? limit : scaled;
        scaled = scaled < -limit ? -limit : scaled;
        const double rounded = (scaled + kRoundingBias) - kRoundingBias;
        out[i] = static_cast<std::int32_t>(rounded);
    }
}

template <class T>
inline __attribute__((always_inline)) void add_scaled(
    const T* __restrict exact, double scale_a, const double* __restrict scale_b, bool is_first,
    double* __restrict sums, std::size_t count
) {
    if (is_first) {
        for (std::size_t j = 0; j < count; ++j) {
            sums[j] = static_cast<double>(exact[j]) * scale_a * scale_b[j];
        }
        return;
    }
    for (std::size_t j = 0; j < count; ++j) {
        const double v = static_cast<double>(exact[j]) * scale_a * scale_b[j];
        sums[j] = sums[j] + v;
    }
}

template <class T>
inline __attribute__((always_inline)) void add_chunk_rows(
    const T* exact, I32 ea, I32 eb, const Chunk& chunk, std::int64_t precision, View<double> sums
) {
    std::vector<double> scale_b(sums.cols());
    for (std::size_t j = 0; j < sums.cols(); ++j) {
        scale_b[j] = power_of_two(eb.row(j)[chunk.index] - precision);
    }
    for (std::size_t i = 0; i < sums.rows(); ++i) {
        const double scale_a = power_of_two(ea.row(i)[chunk.index] - precision);
        add_scaled(exact + i * sums.cols(), scale_a, scale_b.data(), chunk.index == 0, sums.row(i), sums.cols());
    }
}

ASSAY_VECTORISED void round_all(const double* __restrict sums, float* __restrict out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(static_cast<float>(sums[i]));
    }
}

ASSAY_VECTORISED bool all_finite(const float* __restrict x, std::size_t count) {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & kMagnitude);
    }
    return largest < kInfinity;
}

ASSAY_VECTORISED void widen(const std::int32_t* __restrict q, double* __restrict out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<double>(q[i]);
    }
}

}  // namespace

void binary(Op op, F32 x, F32 y, View<float> out) {
    switch (op) {
        case Op::kAdd: return add(x, y, out);
        case Op::kSub: return sub(x, y, out);
        case Op::kMul: return mul(x, y, out);
        case Op::kDiv: return div(x, y, out);
        default: return relu_grad(x, y, out);
    }
}

void unary(Op op, F32 x, float constant, View<float> out) {
    switch (op) {
        case Op::kSqrt: return square_root(x, constant, out);
        case Op::kScale: return scale(x, constant, out);
        case Op::kAddConst: return add_const(x, constant, out);
        case Op::kRelu: return relu(x, constant, out);
        default: break;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        out.data[i] = canonical_f32(op == Op::kExp ? canonical_exp(x.data[i]) : canonical_log(x.data[i]));
    }
}

void fill(std::uint32_t bits, View<float> out) {
    std::fill_n(out.data, out.size(), canonical_f32(std::bit_cast<float>(bits)));
}

void transpose(In<std::uint32_t> x, View<std::uint32_t> out) { transpose_blocks(x, out); }
void transpose(In<std::uint64_t> x, View<std::uint64_t> out) { transpose_blocks(x, out); }
void slice_cols(In<std::uint32_t> x, std::size_t first, View<std::uint32_t> out) { slice(x, first, out); }
void slice_cols(In<std::uint64_t> x, std::size_t first, View<std::uint64_t> out) { slice(x, first, out); }

void gather_rows(F32 table, I32 index, View<float> out) {
    const std::size_t depth = table.cols();
    for (std::size_t i = 0; i < index.size(); ++i) {
        const std::int64_t row = index.data[i];
        float* to = out.data + i * depth;
        if (row < 0 || row >= table.shape.rows) {
            std::fill_n(to, depth, 0.0F);  // NUM-12
        } else {
            std::copy_n(table.row(static_cast<std::size_t>(row)), depth, to);
        }
    }
}

void scatter_add_rows(I32 q, I32 index, View<std::int64_t> out) {
    std::fill_n(out.data, out.size(), 0);
    const std::size_t depth = out.cols();
    for (std::size_t i = 0; i < index.size(); ++i) {
        const std::int64_t row = index.data[i];
        if (row < 0 || row >= out.shape.rows) {
            continue;
        }
        const std::int32_t* from = q.data + i * depth;
        std::int64_t* to = out.row(static_cast<std::size_t>(row));
        for (std::size_t j = 0; j < depth; ++j) {
            to[j] += from[j];
        }
    }
}

void one_hot(I32 index, View<float> out) {
    std::fill_n(out.data, out.size(), 0.0F);
    for (std::size_t i = 0; i < out.rows(); ++i) {
        const std::int64_t column = index.data[i];
        if (column >= 0 && column < out.shape.cols) {
            out.row(i)[column] = 1.0F;
        }
    }
}

void row_max(F32 x, View<float> out) {
    for (std::size_t i = 0; i < x.rows(); ++i) {
        float best = -std::numeric_limits<float>::infinity();
        for (std::size_t j = 0; j < x.cols(); ++j) {
            best = x.row(i)[j] > best ? x.row(i)[j] : best;  // never NaN: the comparison is false
        }
        out.data[i] = canonical_f32(best);
    }
}

void row_max(I32 x, View<std::int32_t> out) {
    for (std::size_t i = 0; i < x.rows(); ++i) {
        out.data[i] = *std::max_element(x.row(i), x.row(i) + x.cols());
    }
}

ASSAY_VECTORISED void row_exponent(F32 x, std::size_t chunk, View<std::int32_t> out) {
    for (std::size_t i = 0; i < x.rows(); ++i) {
        for (std::size_t c = 0; c < out.cols(); ++c) {
            const std::size_t count = std::min(chunk, x.cols() - c * chunk);
            out.row(i)[c] = frexp_exponent(largest_magnitude(x.row(i) + c * chunk, count));
        }
    }
}

void row_sum(I32 q, View<std::int64_t> out) {
    for (std::size_t i = 0; i < q.rows(); ++i) {
        std::int64_t sum = 0;
        for (std::size_t j = 0; j < q.cols(); ++j) {
            sum += q.row(i)[j];
        }
        out.data[i] = sum;
    }
}

ASSAY_VECTORISED void quantise(
    F32 x, I32 exponent, std::uint32_t precision, std::size_t chunk, View<std::int32_t> out
) {
    const double limit = power_of_two(precision);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        const std::int32_t* e = exponent.row(exponent.rows() == 1 ? 0 : i);
        for (std::size_t c = 0; c * chunk < x.cols(); ++c) {
            const double scale = power_of_two(std::int64_t{precision} - e[c]);
            const std::size_t count = std::min(chunk, x.cols() - c * chunk);
            quantise_run(x.row(i) + c * chunk, count, scale, limit, out.row(i) + c * chunk);
        }
    }
}

void dequantise(I64 q, I32 exponent, std::uint32_t precision, View<float> out) {
    for (std::size_t i = 0; i < q.rows(); ++i) {
        const std::int64_t e = exponent.data[exponent.rows() == 1 ? 0 : i];
        const double scale = power_of_two(e - std::int64_t{precision});
        for (std::size_t j = 0; j < q.cols(); ++j) {
            out.row(i)[j] = canonical_f32(static_cast<float>(static_cast<double>(q.row(i)[j]) * scale));
        }
    }
}

void to_double(I32 q, double* out) { widen(q.data, out, q.size()); }

void multiply_exact(I32 qa, I32 qb, const Chunk& chunk, std::int64_t* out) {
    for (std::size_t i = 0; i < qa.rows(); ++i) {
        for (std::size_t j = 0; j < qb.rows(); ++j) {
            std::uint64_t sum = 0;
            for (std::size_t k = chunk.first; k < chunk.first + chunk.count; ++k) {
                sum += static_cast<std::uint64_t>(std::int64_t{qa.row(i)[k]} * qb.row(j)[k]);
            }
            out[i * qb.rows() + j] = std::bit_cast<std::int64_t>(sum);
        }
    }
}

ASSAY_VECTORISED void add_chunk(
    const double* exact, I32 ea, I32 eb, const Chunk& chunk, std::uint32_t precision, View<double> sums
) {
    add_chunk_rows(exact, ea, eb, chunk, precision, sums);
}

ASSAY_VECTORISED void add_chunk(
    const std::int64_t* exact, I32 ea, I32 eb, const Chunk& chunk, std::uint32_t precision, View<double> sums
) {
    add_chunk_rows(exact, ea, eb, chunk, precision, sums);
}

void round_sums(In<double> sums, View<float> out) { round_all(sums.data, out.data, sums.size()); }

bool is_finite(F32 x) { return all_finite(x.data, x.size()); }

}  // namespace assay::engine
