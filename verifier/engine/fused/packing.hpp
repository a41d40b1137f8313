// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Internal to the engine: lays out an operand for a microkernel.
namespace assay::engine::fused {

/// Transposes nothing: all elements are moved one by one.
struct NoSquare {
    static constexpr std::size_t kRows = 8;
    static constexpr std::size_t kColumns = 0;
    template <class From, class T>
    static void transpose(const From*, std::size_t, std::size_t, T*, std::size_t) {}
};

/// Packs from[rows, depth], whose rows are `stride` apart, into panels of `panel` rows: all rows' element k (or `pair`
/// elements from k on) before any row's next. Missing rows and columns of the last panel and pair are zeros.
/// Square::transpose(from, stride, rows, out, step) moves the first `rows` of kRows rows and kColumns columns, writing
/// kRows elements (or pairs) at each step of `out` in ascending order; where a panel ends before kRows rows do, what it
/// writes behind them is overwritten here, and `out` needs kRows pairs behind its end.
template <class Square, std::size_t panel, std::size_t pair, class From, class T>
void pack_panels(const From* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) {
    const std::size_t padded = (depth + pair - 1) / pair * pair;
    std::size_t squares = 0;
    if constexpr (Square::kColumns > 0) {
        squares = depth / Square::kColumns;
    }
    for (std::size_t first = 0; first < rows; first += panel) {
        const std::size_t count = std::min(panel, rows - first);
        T* const to = out + first * padded;
        if (count < panel) {
            std::fill_n(to, panel * padded, T{0});
        }
        // From the last rows on, so that what is written behind a panel's rows is overwritten by its first.
        for (std::size_t block = (count + Square::kRows - 1) / Square::kRows; block-- > 0;) {
            const std::size_t row = block * Square::kRows;
            for (std::size_t s = 0; s < squares; ++s) {
                const std::size_t k = s * Square::kColumns;
                Square::transpose(
                    from + (first + row) * stride + k, stride, std::min(Square::kRows, count - row),
                    to + k * panel + row * pair, panel * pair
                );
            }
        }
        for (std::size_t k = squares * Square::kColumns; k < padded; ++k) {
            for (std::size_t i = 0; i < count; ++i) {
                to[(k / pair * panel + i) * pair + k % pair] =
                    k < depth ? static_cast<T>(from[(first + i) * stride + k]) : T{0};
            }
        }
    }
}

}  // namespace assay::engine::fused
