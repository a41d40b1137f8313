// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/row_kernels.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <verifier/engine/fused/lanes.hpp>
#include <verifier/engine/fused/vectorised.hpp>

/// What reduces rows, and the fixed-point numbers that are summed: of row_kernels.hpp.
namespace assay::engine::fused {

namespace {

// Several running maxima or sums, so that a step need not wait for the one before. Of short rows, so many side by side.
constexpr std::size_t kLanes = 32;

// Compared as floats, which vector units do best; a NaN is not less than infinity.
ASSAY_INLINE float finite_magnitude(float x) {
    const float magnitude = std::fabs(x);
    return magnitude < std::numeric_limits<float>::infinity() ? magnitude : 0.0F;
}

// Loops over integers, of which every order gives the same result, are left to the compiler to cut into lanes.
ASSAY_INLINE std::uint32_t largest_bits(const float* __restrict x, std::size_t n) {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & kMagnitude);
    }
    return largest;
}

ASSAY_INLINE std::uint32_t largest_magnitude(const float* __restrict x, std::size_t n) {
    const std::uint32_t bits = largest_bits(x, n);
    if (bits < kInfinity) {
        return bits;
    }
    float largest = 0.0F;
    for (std::size_t i = 0; i < n; ++i) {
        largest = std::max(largest, finite_magnitude(x[i]));
    }
    return std::bit_cast<std::uint32_t>(largest);
}

// NUM-13
std::int32_t frexp_exponent(std::uint32_t magnitude) {
    if (magnitude == 0) {
        return 0;
    }
    const auto biased = static_cast<std::int32_t>(magnitude >> 23U);
    return biased != 0 ? biased - 126 : static_cast<std::int32_t>(std::bit_width(magnitude)) - 149;
}

template <class Real>
inline constexpr Real kBias = sizeof(Real) == sizeof(double) ? static_cast<Real>(kRoundingBias)
                                                             : static_cast<Real>(0x1.8p23F);

// NUM-14 with the bias that rounds it still in it.
template <class Real>
ASSAY_INLINE Real biased(float x, Real scale, Real limit) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & kMagnitude;
    Real scaled = static_cast<Real>(magnitude < kInfinity ? x : 0.0F) * scale;
    scaled = scaled > limit ? limit : scaled;
    scaled = scaled < -limit ? -limit : scaled;
    return scaled + kBias<Real>;
}

template <class Real>
ASSAY_INLINE Real quantised(float x, Real scale, Real limit) {
    return biased(x, scale, limit) - kBias<Real>;
}

// The same plus the bits of the bias: the low bits of a double of this size count whole numbers.
ASSAY_INLINE std::uint64_t quantised_bits(float x, double scale, double limit) {
    return std::bit_cast<std::uint64_t>(biased(x, scale, limit));
}

template <class Real, class T>
ASSAY_INLINE void quantise_run(
    const float* __restrict from, std::size_t count, Real scale, Real limit, T* __restrict to
) {
    for (std::size_t j = 0; j < count; ++j) {
        if constexpr (sizeof(T) == 2) {
            to[j] = static_cast<T>(static_cast<std::int32_t>(quantised(from[j], scale, limit)));
        } else {
            to[j] = static_cast<T>(quantised(from[j], scale, limit));
        }
    }
}

template <class T>
ASSAY_INLINE void quantise_block(Extent at, const float* x, const Quantisation& how, T* out) {
    const double limit = limit_of(how.precision);
    for (std::size_t i = 0; i < at.rows; ++i) {
        const std::int32_t* exponents = how.is_shared ? how.exponent : how.exponent + i * how.chunks;
        for (std::size_t c = 0; c < how.chunks; ++c) {
            const std::int64_t k = std::int64_t{how.precision} - exponents[c];
            const double scale = power_of_two(k);
            const std::size_t first = c * how.chunk;
            const std::size_t count = std::min(how.chunk, at.cols - first);
            const float* from = x + i * at.cols + first;
            T* to = out + i * at.cols + first;
            if (fits_floats(how.precision, k)) {
                quantise_run(from, count, static_cast<float>(scale), static_cast<float>(limit), to);
            } else {
                quantise_run(from, count, scale, limit, to);
            }
        }
    }
}

ASSAY_VECTORISED void quantise_floats(Extent at, const float* x, const Quantisation& how, float* out) {
    quantise_block(at, x, how, out);
}
ASSAY_VECTORISED void quantise_ints(Extent at, const float* x, const Quantisation& how, std::int32_t* out) {
    quantise_block(at, x, how, out);
}

ASSAY_VECTORISED void quantise_shorts(Extent at, const float* x, const Quantisation& how, std::int16_t* out) {
    quantise_block(at, x, how, out);
}

}  // namespace

double power_of_two(std::int64_t k) {
    const std::int64_t clamped = std::clamp<std::int64_t>(k, -1000, 1000);
    return std::bit_cast<double>(static_cast<std::uint64_t>(clamped + 1023) << 52U);
}

double limit_of(std::uint32_t precision) { return precision == 7 ? 127.0 : power_of_two(precision); }

// The product with a normal 2^k is exact, or so small that 0 is nearest, or beyond every limit. Numbers of 22 bits are
// rounded like those of 51.
bool fits_floats(std::uint32_t precision, std::int64_t k) { return precision <= 22 && k >= -126 && k <= 127; }

ASSAY_VECTORISED void run_row_max(Extent at, const float* x, float* out) {
    for (std::size_t i = 0; i < at.rows; ++i) {
        // A NaN is never greater.
        if (at.cols < kLanes) {
            float largest = -std::numeric_limits<float>::infinity();
            for (std::size_t j = 0; j < at.cols; ++j) {
                largest = x[i * at.cols + j] > largest ? x[i * at.cols + j] : largest;
            }
            out[i] = canonical_f32(largest);
            continue;
        }
        const float* __restrict from = x + i * at.cols;
        float best[kLanes];
        std::fill_n(best, kLanes, -std::numeric_limits<float>::infinity());
        std::size_t j = 0;
        for (; j + kLanes <= at.cols; j += kLanes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                best[lane] = from[j + lane] > best[lane] ? from[j + lane] : best[lane];
            }
        }
        for (; j < at.cols; ++j) {
            best[0] = from[j] > best[0] ? from[j] : best[0];
        }
        for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
            for (std::size_t lane = 0; lane < width; ++lane) {
                best[lane] = best[lane + width] > best[lane] ? best[lane + width] : best[lane];
            }
        }
        out[i] = canonical_f32(best[0]);
    }
}

void run_row_max(Extent at, const std::int32_t* x, std::int32_t* out) {
    for (std::size_t i = 0; i < at.rows; ++i) {
        out[i] = *std::max_element(x + i * at.cols, x + (i + 1) * at.cols);
    }
}

ASSAY_VECTORISED void run_row_arg_max(Extent at, const float* x, std::int32_t* out) {
    // Minus infinity counts before anything is greater; without a branch, which nobody could predict.
    const auto look = [](float value, std::int32_t column, float& best, std::int32_t& found) {
        const bool is_better = (value > best) | ((found < 0) & (value == best));
        found = is_better ? column : found;
        best = is_better ? value : best;
    };
    const auto cols = static_cast<std::int32_t>(at.cols);
    std::size_t i = 0;
    for (; at.cols < kLanes && i + kLanes <= at.rows; i += kLanes) {
        float best[kLanes];
        std::int32_t found[kLanes];
        std::fill_n(best, kLanes, -std::numeric_limits<float>::infinity());
        std::fill_n(found, kLanes, -1);
        for (std::int32_t j = 0; j < cols; ++j) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                look(x[(i + lane) * at.cols + static_cast<std::size_t>(j)], j, best[lane], found[lane]);
            }
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            out[i + lane] = std::max(found[lane], 0);
        }
    }
    for (; i < at.rows; ++i) {
        float best = -std::numeric_limits<float>::infinity();
        std::int32_t found = -1;
        for (std::int32_t j = 0; j < cols; ++j) {
            look(x[i * at.cols + static_cast<std::size_t>(j)], j, best, found);
        }
        out[i] = std::max(found, 0);
    }
}

ASSAY_VECTORISED void run_row_exponent(Extent at, const float* x, std::size_t chunk, std::int32_t* out) {
    std::size_t i = 0;
    for (; at.cols < kLanes && at.cols <= chunk && i + kLanes <= at.rows; i += kLanes) {
        float best[kLanes] = {};
        for (std::size_t j = 0; j < at.cols; ++j) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const float magnitude = finite_magnitude(x[(i + lane) * at.cols + j]);
                best[lane] = magnitude > best[lane] ? magnitude : best[lane];
            }
        }
        for (const float largest : best) {
            *out++ = frexp_exponent(std::bit_cast<std::uint32_t>(largest));
        }
    }
    for (; i < at.rows; ++i) {
        for (std::size_t first = 0; first < at.cols; first += chunk) {
            const std::size_t count = std::min(chunk, at.cols - first);
            *out++ = frexp_exponent(largest_magnitude(x + i * at.cols + first, count));
        }
    }
}

ASSAY_VECTORISED void run_row_sum(Extent at, const std::int32_t* q, std::int64_t* out) {
    for (std::size_t i = 0; i < at.rows; ++i) {
        std::int64_t sum = 0;
        for (std::size_t j = 0; j < at.cols; ++j) {
            sum += q[i * at.cols + j];
        }
        out[i] = sum;
    }
}

ASSAY_VECTORISED void run_quantised_sum(
    Extent at, const float* x, const std::int32_t* exponent, bool is_shared, std::uint32_t precision, std::int64_t* out
) {
    const double limit = limit_of(precision);
    std::size_t i = 0;
    for (; at.cols < kLanes && i + kLanes <= at.rows; i += kLanes) {
        double factors[kLanes];
        double sums[kLanes] = {};
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            factors[lane] = power_of_two(std::int64_t{precision} - exponent[is_shared ? 0 : i + lane]);
        }
        for (std::size_t j = 0; j < at.cols; ++j) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                sums[lane] += quantised(x[(i + lane) * at.cols + j], factors[lane], limit);
            }
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            out[i + lane] = static_cast<std::int64_t>(sums[lane]);
        }
    }
    for (; i < at.rows; ++i) {
        const double factor = power_of_two(std::int64_t{precision} - exponent[is_shared ? 0 : i]);
        const float* __restrict from = x + i * at.cols;
        std::uint64_t sum = 0;
        for (std::size_t j = 0; j < at.cols; ++j) {
            sum += quantised_bits(from[j], factor, limit);
        }
        out[i] = static_cast<std::int64_t>(sum - at.cols * std::bit_cast<std::uint64_t>(kRoundingBias));
    }
}

void run_quantise(Extent at, const float* x, const Quantisation& how, std::int32_t* out) {
    quantise_ints(at, x, how, out);
}
void run_quantise(Extent at, const float* x, const Quantisation& how, float* out) { quantise_floats(at, x, how, out); }
void run_quantise(Extent at, const float* x, const Quantisation& how, std::int16_t* out) {
    quantise_shorts(at, x, how, out);
}

ASSAY_VECTORISED void run_dequantise(
    Extent at, const std::int64_t* q, const std::int32_t* exponent, bool is_shared, std::uint32_t precision, float* out
) {
    for (std::size_t i = 0; i < at.rows; ++i) {
        const double factor = power_of_two(std::int64_t{exponent[is_shared ? 0 : i]} - precision);
        for (std::size_t j = 0; j < at.cols; ++j) {
            const std::size_t n = i * at.cols + j;
            out[n] = canonical_f32(static_cast<float>(static_cast<double>(q[n]) * factor));
        }
    }
}

ASSAY_VECTORISED void scale_product(
    Extent at, const double* exact, const std::int32_t* exponent_a, std::size_t stride_a, std::uint32_t precision,
    const double* scale_b, bool is_first, double* sums
) {
    for (std::size_t i = 0; i < at.rows; ++i) {
        const double scale_a = power_of_two(std::int64_t{exponent_a[i * stride_a]} - precision);
        const double* __restrict from = exact + i * at.cols;
        double* __restrict to = sums + i * at.cols;
        for (std::size_t j = 0; j < at.cols; ++j) {
            const double v = from[j] * scale_a * scale_b[j];
            to[j] = is_first ? v : to[j] + v;
        }
    }
}

ASSAY_VECTORISED void round_sums(std::size_t count, const double* __restrict sums, float* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = canonical_f32(static_cast<float>(sums[i]));
    }
}

ASSAY_VECTORISED void add_exact(std::size_t count, const float* __restrict x, bool is_first, double* __restrict sums) {
    for (std::size_t i = 0; i < count; ++i) {
        const double value = static_cast<double>(x[i]);
        sums[i] = is_first ? value : sums[i] + value;
    }
}

ASSAY_VECTORISED void scatter_add_rows(
    const std::int32_t* q, const std::int32_t* index, std::size_t count, canonical::Shape shape, std::size_t begin,
    std::size_t end, std::int64_t* out
) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t row = index[i];
        if (row < 0 || row >= shape.rows) {
            continue;  // NUM-12
        }
        const std::int32_t* __restrict from = q + i * shape.cols;
        std::int64_t* __restrict to = out + static_cast<std::size_t>(row) * shape.cols;
        for (std::size_t j = begin; j < end; ++j) {
            to[j] += from[j];
        }
    }
}

ASSAY_VECTORISED bool all_finite(std::size_t count, const float* x) { return largest_bits(x, count) < kInfinity; }

}  // namespace assay::engine::fused
