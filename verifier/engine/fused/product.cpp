// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/product.hpp>

#include <algorithm>
#include <vector>

#include <core/base/assert.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/engine/fused/contraction.hpp>
#include <verifier/engine/fused/digit_kernel.hpp>
#include <verifier/engine/fused/microkernel.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::fused {

using canonical::Node;

namespace {

// Vectors of T. Where doubles would not be exact, the right operand is two: high halves and low ones.
template <class T>
struct VectorKernel {
    using Stored = typename Microkernel<T>::Stored;
    using Packed = T;
    using Operand = const T*;
    const Microkernel<T>& kernel;
    bool is_split = false;

    std::size_t left_block() const { return kernel.left_rows; }
    std::size_t right_block() const { return kernel.right_rows; }
    std::size_t left_size(std::size_t rows, std::size_t depth) const { return kernel.left_size(rows, depth); }
    std::size_t right_size(std::size_t rows, std::size_t depth) const {
        return kernel.right_size(rows, depth) * (is_split ? 2 : 1);
    }
    void pack_left(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) const {
        kernel.pack_left(from, stride, rows, depth, out);
    }
    void pack_right(const Stored* from, std::size_t stride, std::size_t rows, std::size_t depth, T* out) const {
        kernel.pack_right(from, stride, rows, depth, out);
        if constexpr (sizeof(T) == sizeof(double)) {
            if (is_split) {
                const std::size_t size = kernel.right_size(rows, depth);
                split(out, size, out, out + size);
            }
        }
    }
    Operand packed(const T* whole, std::size_t) const { return whole; }
    Operand laid_out(const void*, std::size_t, std::size_t, std::size_t) const {
        ASSERT(false);  // only for the matrix unit
        return nullptr;
    }
    // The columns whose sums stay in a first-level cache while all chunks are added up.
    std::size_t strip_cols(std::size_t) const { return kernel.right_rows; }
    // Multiplies by `cols` columns from `first` on, of the right operand's `all`.
    void multiply(
        const T* left, const T* right, std::size_t rows, std::size_t all, std::size_t first, std::size_t cols,
        std::size_t depth, const ProductFinish& finish
    ) const {
        const std::size_t offset = first * Microkernel<T>::padded(depth);
        const T* low = is_split ? right + kernel.right_size(all, depth) + offset : nullptr;
        kernel.multiply(left, right + offset, low, rows, cols, depth, finish);
    }
};

// The matrix unit's tiles of bytes.
struct TileKernel : DigitKernel {
    using Stored = float;
    using Packed = std::int8_t;
    using Operand = Digits;
    using DigitKernel::DigitKernel;
    static std::size_t left_block() { return kBlockRows; }
    static std::size_t right_block() { return kBlockRows; }
    std::size_t left_size(std::size_t rows, std::size_t depth) const { return packed_size(rows, depth); }
    std::size_t right_size(std::size_t rows, std::size_t depth) const { return packed_size(rows, depth); }
    Operand packed(const Packed* whole, std::size_t depth) const { return part(whole, depth, 0, 0); }
    static std::size_t strip_cols(std::size_t cols) { return cols; }
    void multiply(
        const Operand& left, const Operand& right, std::size_t rows, std::size_t all, std::size_t /*first*/,
        std::size_t /*cols*/, std::size_t depth, const ProductFinish& finish
    ) const {
        DigitKernel::multiply(left, right, rows, all, depth, finish);
    }
    Operand laid_out(const void* whole, std::size_t depth, std::size_t row, std::size_t column) const {
        return part(static_cast<const Packed*>(whole), depth, row, column);
    }
};

// The sizes of so many rows and columns of the result, of all chunks of the operands.
template <class Kernel>
std::size_t left_size(const Contraction& c, const Kernel& kernel, std::size_t rows) {
    std::size_t size = 0;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        size += kernel.left_size(rows, c.count(index));
    }
    return size;
}

template <class Kernel>
std::size_t right_size(const Contraction& c, const Kernel& kernel, std::size_t cols) {
    std::size_t size = 0;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        size += kernel.right_size(cols, c.count(index));
    }
    return size;
}

// The right operand of the panel's columns, chunk by chunk.
template <class Kernel>
void pack_right(const Contraction& c, const Kernel& kernel, const Panel& panel, typename Kernel::Packed* out) {
    const std::size_t row = panel.group * c.cols + panel.first_col;
    const auto* b = static_cast<const typename Kernel::Stored*>(c.operands.b) + row * c.depth;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        kernel.pack_right(b + index * c.chunk, c.depth, panel.cols, c.count(index), out);
        out += kernel.right_size(panel.cols, c.count(index));
    }
}

// The panel's rows of the left operand, chunk by chunk.
template <class Kernel>
std::vector<typename Kernel::Operand> left_operands(const Contraction& c, const Kernel& kernel, const Panel& panel) {
    const std::size_t row = panel.group * c.rows + panel.first;
    std::vector<typename Kernel::Operand> out(c.chunks);
    if (c.operands.is_laid_out_a) {
        for (std::size_t index = 0; index < c.chunks; ++index) {
            out[index] = kernel.laid_out(c.operands.a, c.depth, row, index * c.chunk);
        }
        return out;
    }
    const auto* a = static_cast<const typename Kernel::Stored*>(c.operands.a) + row * c.depth;
    auto* left = grown_packed<typename Kernel::Packed>(workspace().left, left_size(c, kernel, panel.rows));
    for (std::size_t index = 0; index < c.chunks; ++index) {
        kernel.pack_left(a + index * c.chunk, c.depth, panel.rows, c.count(index), left);
        out[index] = kernel.packed(left, c.count(index));
        left += kernel.left_size(panel.rows, c.count(index));
    }
    return out;
}

// The same of its columns of the right operand; `right` is what pack_right leaves, where the operand is not laid out.
template <class Kernel>
std::vector<typename Kernel::Operand> right_operands(
    const Contraction& c, const Kernel& kernel, const Panel& panel, const typename Kernel::Packed* right
) {
    std::vector<typename Kernel::Operand> out(c.chunks);
    for (std::size_t index = 0; index < c.chunks; ++index) {
        if (c.operands.is_laid_out_b) {
            out[index] = kernel.laid_out(c.operands.b, c.depth, panel.group * c.cols, index * c.chunk);
        } else {
            out[index] = kernel.packed(right, c.count(index));
            right += kernel.right_size(panel.cols, c.count(index));
        }
    }
    return out;
}

// Adds a chunk's exact sums, of `cols` of the panel's columns from `first` on.
void add_sums(const Contraction& c, const Panel& panel, std::size_t first, std::size_t cols, const double* sums) {
    for (std::size_t i = 0; i < panel.rows; ++i) {
        const std::size_t row = panel.group * c.rows + panel.first + i;
        std::int64_t* to = c.operands.exact + row * c.cols + panel.first_col + first;
        for (std::size_t j = 0; j < cols; ++j) {
            const auto sum = static_cast<std::int64_t>(sums[i * cols + j]);
            to[j] = static_cast<std::int64_t>(static_cast<std::uint64_t>(to[j]) + static_cast<std::uint64_t>(sum));
        }
    }
}

template <class Kernel>
void run_wide_panel(
    const Contraction& c, const Kernel& kernel, const Panel& panel, const typename Kernel::Packed* right
) {
    Workspace& space = workspace();
    double* scale_a = grown(space.scale_a, panel.rows * c.chunks);
    double* scale_b = grown(space.scale_b, panel.cols * c.chunks);
    const bool is_exact = c.operands.exact != nullptr;
    if (is_exact) {
        std::fill_n(scale_a, panel.rows * c.chunks, 1.0);
        std::fill_n(scale_b, panel.cols * c.chunks, 1.0);
    } else {
        find_scales(c, panel, scale_a, scale_b);
    }
    const auto lefts = left_operands(c, kernel, panel);
    const auto rights = right_operands(c, kernel, panel, right);
    const std::size_t strip = kernel.strip_cols(panel.cols);
    double* sums = c.chunks > 1 || is_exact ? grown(space.sums, panel.rows * strip) : nullptr;
    const std::size_t at = (panel.group * c.rows + panel.first) * c.cols + panel.first_col;
    float* out = is_exact ? nullptr : c.operands.out + at;
    for (std::size_t col = 0; col < panel.cols; col += strip) {
        const std::size_t cols = std::min(strip, panel.cols - col);
        for (std::size_t index = 0; index < c.chunks; ++index) {
            kernel.multiply(
                lefts[index], rights[index], panel.rows, panel.cols, col, cols, c.count(index),
                {.scale_a = scale_a + index * panel.rows,
                 .scale_b = scale_b + index * panel.cols + col,
                 .sums = sums,
                 .out = is_exact ? nullptr : out + col,
                 .stride = c.cols,
                 .is_first = index == 0 || is_exact,
                 .is_last = index + 1 == c.chunks && !is_exact}
            );
            if (is_exact) {
                add_sums(c, panel, col, cols, sums);
            }
        }
    }
}

// Blocks of columns whose right operands are packed together, and then used by every panel of rows.
template <class Kernel>
void run_wide_blocks(const Contraction& c, const Kernel& kernel, std::size_t panel_rows, ThreadPool& pool) {
    using Packed = typename Kernel::Packed;
    constexpr std::size_t kMinBlocks = 8;  // of a kernel's columns, so that the left operand is not packed too often
    const std::size_t unit = kernel.right_block();
    const std::size_t bytes_of_unit = right_size(c, kernel, unit) * sizeof(Packed);
    ASSERT(bytes_of_unit > 0);
    const std::size_t block_cols =
        std::min(std::max(kRightBytes / pool.size() / bytes_of_unit, kMinBlocks) * unit, c.cols);
    const std::size_t size = right_size(c, kernel, block_cols);
    const std::size_t blocks_of_group = (c.cols + block_cols - 1) / block_cols;
    const std::size_t blocks = c.groups * blocks_of_group;
    const std::size_t at_once = std::min(std::max(kRightBytes / (size * sizeof(Packed)), pool.size()), blocks);
    const std::size_t panels = (c.rows + panel_rows - 1) / panel_rows;
    auto* right = grown_packed<Packed>(workspace().right, at_once * size);
    const auto block = [&](std::size_t index) {
        const std::size_t first = index % blocks_of_group * block_cols;
        return Panel{
            .group = index / blocks_of_group,
            .first = 0,
            .rows = c.rows,
            .first_col = first,
            .cols = std::min(block_cols, c.cols - first)};
    };
    for (std::size_t done = 0; done < blocks; done += at_once) {
        const std::size_t count = std::min(at_once, blocks - done);
        pool.run(count, [&](std::size_t i, std::size_t) { pack_right(c, kernel, block(done + i), right + i * size); });
        pool.run(count * panels, [&](std::size_t item, std::size_t) {
            Panel panel = block(done + item / panels);
            panel.first = item % panels * panel_rows;
            panel.rows = std::min(panel_rows, c.rows - panel.first);
            run_wide_panel(c, kernel, panel, right + item / panels * size);
        });
    }
}

template <class Kernel>
void run_wide(const Contraction& c, const Kernel& kernel, ThreadPool& pool) {
    using Packed = typename Kernel::Packed;
    const std::size_t block = kernel.left_block();
    const std::size_t row_bytes = left_size(c, kernel, block) / block * sizeof(Packed);
    ASSERT(row_bytes > 0);
    const std::size_t by_cache = kLeftBytes / row_bytes;
    const std::size_t by_threads = (c.rows * c.groups + pool.size() - 1) / pool.size();
    const std::size_t wanted = std::max(std::min(by_cache, by_threads), kMinPanelRows);
    const std::size_t panel_rows = std::min((wanted + block - 1) / block * block, c.rows);
    const std::size_t size = c.operands.is_laid_out_b ? 0 : right_size(c, kernel, c.cols);
    if (panel_rows < c.rows && size > 0) {
        return run_wide_blocks(c, kernel, panel_rows, pool);
    }
    for_each_panel(c, panel_rows, pool, [&](const Panel& panel) {
        auto* right = grown_packed<Packed>(workspace().right, size);
        if (size > 0) {
            pack_right(c, kernel, panel, right);
        }
        run_wide_panel(c, kernel, panel, right);
    });
}

}  // namespace

void split(const double* x, std::size_t count, double* high, double* low) {
    for (std::size_t i = 0; i < count; ++i) {
        const double whole = x[i];
        high[i] = (whole * 0x1.0p-12 + 0x1.8p52) - 0x1.8p52;
        low[i] = whole - high[i] * 0x1.0p12;
    }
}

void find_scales(const Contraction& c, const Panel& panel, double* scale_a, double* scale_b) {
    const auto scales = [&](const std::int32_t* exponents, std::size_t count, double* out) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t index = 0; index < c.chunks; ++index) {
                const std::int32_t e = exponents[i * c.chunks + index];
                out[index * count + i] = power_of_two(std::int64_t{e} - c.precision);
            }
        }
    };
    if (scale_a != nullptr) {
        scales(c.operands.exponent_a + (panel.group * c.rows + panel.first) * c.chunks, panel.rows, scale_a);
    }
    scales(c.operands.exponent_b + (panel.group * c.cols + panel.first_col) * c.chunks, panel.cols, scale_b);
}

void run_product(const Node& contract, const ProductOperands& operands, ThreadPool& pool) {
    const Contraction c{.node = contract, .operands = operands};
    const Format format = product_format(contract);
    ASSERT(format == Format::kShort || format == Format::kFloat);
    if (has_tiles(contract)) {
        run_wide(c, TileKernel(c.precision), pool);
    } else if (format == Format::kShort) {
        run_wide(c, VectorKernel<std::int16_t>{.kernel = microkernels<std::int16_t>().front()}, pool);
    } else if (c.precision > kMaxFloatPrecision && !microkernels<double>().empty()) {
        run_wide(c, VectorKernel<double>{.kernel = microkernels<double>().front(), .is_split = c.is_split}, pool);
    } else {
        run_library(c, pool);
    }
}

void release_workspace() noexcept { workspace() = Workspace{}; }

std::optional<Node> accumulating(const Node& contract) {
    Node out = contract;
    const std::uint32_t depth = (contract.inputs[0].shape.cols + canonical::kTileDim - 1) / canonical::kTileDim;
    // Some kernels hold the sums of short chunks alone.
    for (std::uint32_t tiles = std::min(depth, out.attributes[1] / canonical::kTileDim); tiles > 0; tiles /= 2) {
        out.attributes[1] = tiles * canonical::kTileDim;
        const Format format = product_format(out);
        const bool has_kernel = has_tiles(out) || format == Format::kShort || !microkernels<double>().empty();
        if (has_kernel && format != Format::kWords && fits_at_once(out)) {
            return out;
        }
    }
    return std::nullopt;
}

void accumulate_product(const Node& contract, const void* a, const void* b, std::int64_t* sums, ThreadPool& pool) {
    const Contraction c{.node = contract, .operands = {.a = a, .b = b, .exact = sums}};
    if (has_tiles(contract)) {
        run_wide(c, TileKernel(c.precision), pool);
    } else if (product_format(contract) == Format::kShort) {
        run_wide(c, VectorKernel<std::int16_t>{.kernel = microkernels<std::int16_t>().front()}, pool);
    } else {
        run_wide(c, VectorKernel<double>{.kernel = microkernels<double>().front(), .is_split = false}, pool);
    }
}

}  // namespace assay::engine::fused
