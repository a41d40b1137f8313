// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/canonical/samples.hpp>
#include <verifier/engine/fused/microkernel.hpp>
#include <verifier/engine/fused/packing.hpp>

/// Microkernels against sums of integers: those that this CPU has, and the text of all others with a model of their
/// instructions.
namespace assay::engine::fused {
namespace {

using canonical::test::Random;

#define TARGET
#define IN_ORDER(value)

/// What vpmaddwd with vpaddd, or vpdpwssd, does with `lanes` pairs: sums modulo 2^32 of two products of 16 bits.
template <std::size_t lanes>
struct ShortModel {
    using Element = std::int16_t;
    struct Operand {
        std::int16_t values[2 * lanes];
    };
    struct Sums {
        std::uint32_t values[lanes];
    };
    static constexpr std::size_t kLanes = lanes;
    static constexpr std::size_t kPair = 2;
    static Sums zero() { return {}; }
    static Operand load(const Element* from) {
        Operand out;
        std::copy_n(from, 2 * lanes, out.values);
        return out;
    }
    static Operand broadcast(const Element* from) {
        Operand out;
        for (std::size_t i = 0; i < 2 * lanes; ++i) {
            out.values[i] = from[i % 2];
        }
        return out;
    }
    static Sums multiply_add(Sums sums, const Operand& a, const Operand& b) {
        for (std::size_t i = 0; i < 2 * lanes; ++i) {
            sums.values[i / 2] += static_cast<std::uint32_t>(std::int32_t{a.values[i]} * std::int32_t{b.values[i]});
        }
        return sums;
    }
    static void store(const Sums& sums, double* out) {
        for (std::size_t i = 0; i < lanes; ++i) {
            out[i] = static_cast<double>(static_cast<std::int32_t>(sums.values[i]));
        }
    }
};

/// What a fused multiply-add does with `lanes` doubles whose sums are exact.
template <std::size_t lanes>
struct DoubleModel {
    using Element = double;
    struct Operand {
        double values[lanes];
    };
    using Sums = Operand;
    static constexpr std::size_t kLanes = lanes;
    static constexpr std::size_t kPair = 1;
    static Sums zero() { return {}; }
    static Operand load(const Element* from) {
        Operand out;
        std::copy_n(from, lanes, out.values);
        return out;
    }
    static Operand broadcast(const Element* from) {
        Operand out;
        std::fill_n(out.values, lanes, *from);
        return out;
    }
    static Sums multiply_add(Sums sums, const Operand& a, const Operand& b) {
        for (std::size_t i = 0; i < lanes; ++i) {
            sums.values[i] += a.values[i] * b.values[i];
        }
        return sums;
    }
    static void store(const Sums& sums, double* out) { std::copy_n(sums.values, lanes, out); }
};

namespace short_256 {
using Vector = ShortModel<8>;
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTileVectors = 2;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace short_256

namespace short_512 {
using Vector = ShortModel<16>;
constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileVectors = 3;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace short_512

namespace double_256 {
using Vector = DoubleModel<4>;
constexpr std::size_t kTileRows = 6;
constexpr std::size_t kTileVectors = 2;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace double_256

namespace double_512 {
using Vector = DoubleModel<8>;
constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileVectors = 3;
#include <verifier/engine/fused/microkernel_tile.inc>
}  // namespace double_512

template <std::size_t tile_rows, std::size_t tile_cols>
void finish_plainly(
    const double* tile, std::size_t row, std::size_t rows, std::size_t col, std::size_t cols, const ProductFinish& f
) {
    for (std::size_t i = 0; i < tile_rows && row + i < rows; ++i) {
        for (std::size_t j = 0; j < tile_cols && col + j < cols; ++j) {
            finish_element(tile[i * tile_cols + j], row + i, col + j, cols, f);
        }
    }
}

template <class T, std::size_t rows, std::size_t cols>
Microkernel<T> modelled(typename Microkernel<T>::MultiplyTile* multiply_tile) {
    using Stored = typename Microkernel<T>::Stored;
    return {
        .instructions = Instructions::kNone,
        .left_rows = rows,
        .right_rows = cols,
        .pack_left = pack_panels<NoSquare, rows, Microkernel<T>::kPair, Stored, T>,
        .pack_right = pack_panels<NoSquare, cols, Microkernel<T>::kPair, Stored, T>,
        .multiply_tile = multiply_tile,
        .finish_tile = finish_plainly<rows, cols>};
}

template <class T>
std::vector<Microkernel<T>> all_kernels();

template <>
std::vector<Microkernel<std::int16_t>> all_kernels() {
    std::vector<Microkernel<std::int16_t>> out = microkernels<std::int16_t>();
    out.push_back(modelled<std::int16_t, 6, 16>(short_256::multiply_tile));
    out.push_back(modelled<std::int16_t, 8, 48>(short_512::multiply_tile));
    return out;
}

template <>
std::vector<Microkernel<double>> all_kernels() {
    std::vector<Microkernel<double>> out = microkernels<double>();
    out.push_back(modelled<double, 6, 8>(double_256::multiply_tile));
    out.push_back(modelled<double, 8, 24>(double_512::multiply_tile));
    return out;
}

struct Case {
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::size_t depth = 0;
    std::int32_t most = 0;  ///< of an operand's absolute values
};

/// A number within +-most; one in eight is at a limit.
std::int32_t operand(const Case& c, Random& random) {
    const auto most = static_cast<std::uint32_t>(c.most);
    if (random.below(8) == 0) {
        return random.below(2) == 0 ? c.most : -c.most;
    }
    return static_cast<std::int32_t>(random.below(2 * most + 1)) - c.most;
}

template <class Stored>
std::vector<Stored> operands(std::size_t rows, const Case& c, std::size_t stride, Random& random) {
    std::vector<Stored> out(rows * stride, std::numeric_limits<Stored>::max());
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < c.depth; ++k) {
            out[i * stride + k] = static_cast<Stored>(operand(c, random));
        }
    }
    return out;
}

/// Multiplies two chunks and compares with sums of integers that are scaled and rounded as NUM-17 says.
template <class T>
void check_product(const Microkernel<T>& kernel, const Case& c, Random& random) {
    using Stored = typename Microkernel<T>::Stored;
    const std::size_t stride = c.depth + random.below(3);
    const std::size_t out_stride = c.cols + random.below(3);
    std::vector<double> scale_a(c.rows);
    std::vector<double> scale_b(c.cols);
    std::vector<double> sums(c.rows * c.cols);
    std::vector<double> expected(c.rows * c.cols);
    std::vector<float> out(c.rows * out_stride);
    for (int chunk = 0; chunk < 2; ++chunk) {
        for (double& scale : scale_a) {
            scale = std::ldexp(1.0, static_cast<int>(random.below(40)) - 60);
        }
        for (double& scale : scale_b) {
            scale = std::ldexp(1.0, static_cast<int>(random.below(40)) - 20);
        }
        const std::vector<Stored> a = operands<Stored>(c.rows, c, stride, random);
        const std::vector<Stored> b = operands<Stored>(c.cols, c, stride, random);
        std::vector<T> left(kernel.left_size(c.rows, c.depth));
        std::vector<T> right(kernel.right_size(c.cols, c.depth));
        kernel.pack_left(a.data(), stride, c.rows, c.depth, left.data());
        kernel.pack_right(b.data(), stride, c.cols, c.depth, right.data());
        kernel.multiply(
            left.data(), right.data(), nullptr, c.rows, c.cols, c.depth,
            {.scale_a = scale_a.data(),
             .scale_b = scale_b.data(),
             .sums = sums.data(),
             .out = out.data(),
             .stride = out_stride,
             .is_first = chunk == 0,
             .is_last = chunk == 1}
        );
        for (std::size_t i = 0; i < c.rows; ++i) {
            for (std::size_t j = 0; j < c.cols; ++j) {
                std::int64_t sum = 0;
                for (std::size_t k = 0; k < c.depth; ++k) {
                    sum += static_cast<std::int64_t>(a[i * stride + k]) * static_cast<std::int64_t>(b[j * stride + k]);
                }
                expected[i * c.cols + j] += static_cast<double>(sum) * scale_a[i] * scale_b[j];
            }
        }
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < c.rows; ++i) {
        for (std::size_t j = 0; j < c.cols; ++j) {
            const float rounded = static_cast<float>(expected[i * c.cols + j]) + 0.0F;
            wrong += std::bit_cast<std::uint32_t>(rounded) != std::bit_cast<std::uint32_t>(out[i * out_stride + j]);
        }
    }
    CHECK(wrong == 0);
}

template <class T>
void check_kernels(const std::vector<Case>& cases) {
    Random random(14);
    for (const Microkernel<T>& kernel : all_kernels<T>()) {
        CAPTURE(static_cast<int>(kernel.instructions));
        CAPTURE(kernel.right_rows);
        for (const Case& c : cases) {
            CAPTURE(c.rows);
            CAPTURE(c.cols);
            CAPTURE(c.depth);
            check_product(kernel, c, random);
        }
    }
}

}  // namespace

TEST_CASE("NUM-16, NUM-17: products of 16-bit integers on every instruction set") {
    // The last but one is XG-8's, the last XG-11's deepest sum: 2^30 where all operands are at their limit.
    check_kernels<std::int16_t>(
        {{1, 1, 1, 16384},
         {5, 15, 3, 11585},
         {6, 16, 16, 4096},
         {7, 17, 33, 2048},
         {8, 48, 256, 2048},
         {9, 49, 100, 2048},
         {61, 130, 255, 256},
         {100, 100, 256, 2048}}
    );
    check_kernels<std::int16_t>({{20, 50, 65536, 128}});
}

TEST_CASE("NUM-16, NUM-17: products of doubles on every instruction set") {
    constexpr std::int32_t k21Bits = 1 << 21;
    check_kernels<double>(
        {{1, 1, 1, k21Bits},
         {5, 7, 3, k21Bits},
         {6, 8, 4, k21Bits},
         {7, 9, 5, k21Bits},
         {8, 24, 8, k21Bits},
         {9, 25, 129, k21Bits},
         {61, 70, 1000, k21Bits},
         {70, 30, 2048, k21Bits}}
    );
}

}  // namespace assay::engine::fused
