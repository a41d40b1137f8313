// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/product.hpp>

#include <algorithm>
#include <bit>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/engine/fused/microkernel.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/torch_runtime.hpp>

namespace assay::engine::fused {

using canonical::Node;

namespace {

constexpr std::size_t kPanelBytes = 512 * 1024;  // of exact sums: inside a second-level cache
constexpr std::size_t kLeftBytes = 384 * 1024;   // of a packed left panel, likewise
constexpr std::size_t kMinPanelRows = 32;
constexpr std::uint32_t kFloatBits = 24;
constexpr std::uint32_t kDoubleBits = 53;
constexpr std::uint32_t kShortSumBits = 30;
constexpr std::uint32_t kMaxShortPrecision = 8;
constexpr std::uint32_t kHalfBits = 12;

std::uint32_t bits_of(std::size_t depth) { return static_cast<std::uint32_t>(std::bit_width(depth - 1)); }

std::size_t chunk_depth(const Node& node) { return std::min(node.attributes[1], node.inputs[0].shape.cols); }

bool fits_at_once(const Node& node) { return 2 * node.attributes[0] + bits_of(chunk_depth(node)) <= kDoubleBits; }
bool fits_in_two(const Node& node) {
    // The right operand's halves have at most p - 11 and 12 bits.
    const std::uint32_t precision = node.attributes[0];
    const std::uint32_t half = std::max(precision > kHalfBits ? precision - kHalfBits + 1 : 1, kHalfBits);
    return precision + half + bits_of(chunk_depth(node)) <= kDoubleBits;
}

// Everything about a contraction that its panels share.
struct Contraction {
    const Node& node;
    ProductOperands operands;
    std::size_t groups = canonical::group_count(node);
    std::size_t depth = node.inputs[0].shape.cols;
    std::size_t rows = node.shape.rows / groups;  // of one group
    std::size_t cols = node.shape.cols;
    std::size_t chunk = node.attributes[1];
    std::size_t chunks = (depth + chunk - 1) / chunk;
    std::uint32_t precision = node.attributes[0];
    bool is_split = precision > kMaxShortPrecision && !fits_at_once(node);

    std::size_t count(std::size_t index) const { return std::min(chunk, depth - index * chunk); }
};

// A few rows of one group of the output.
struct Panel {
    std::size_t group = 0;
    std::size_t first = 0;  // row of the group
    std::size_t rows = 0;
};

// What one thread needs besides; kept from panel to panel and from call to call.
struct Workspace {
    std::vector<double> exact;
    std::vector<double> low;
    std::vector<double> sums;
    std::vector<float> part;
    std::vector<double> scale_a;
    std::vector<double> scale_b;
    std::vector<double> left;
    std::vector<double> right;
    std::vector<std::int16_t> left_shorts;
    std::vector<std::int16_t> right_shorts;
};

Workspace& workspace() {
    thread_local Workspace space;
    return space;
}

template <class T>
T* grown(std::vector<T>& storage, std::size_t size) {
    if (storage.size() < size) {
        storage.resize(size);
    }
    return storage.data();
}

template <class T>
T* left_space(std::size_t size) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return grown(workspace().left, size);
    } else {
        return grown(workspace().left_shorts, size);
    }
}

template <class T>
T* right_space(std::size_t size) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return grown(workspace().right, size);
    } else {
        return grown(workspace().right_shorts, size);
    }
}

// x = 2^12 high + low, both whole.
void split(const double* x, std::size_t count, double* high, double* low) {
    for (std::size_t i = 0; i < count; ++i) {
        const double whole = x[i];
        high[i] = (whole * 0x1.0p-12 + 0x1.8p52) - 0x1.8p52;
        low[i] = whole - high[i] * 0x1.0p12;
    }
}

void find_scales(const Contraction& c, const Panel& panel, std::size_t index, double* scale_a, double* scale_b) {
    const std::size_t row = panel.group * c.rows + panel.first;
    for (std::size_t m = 0; scale_a != nullptr && m < panel.rows; ++m) {
        scale_a[m] = power_of_two(std::int64_t{c.operands.exponent_a[(row + m) * c.chunks + index]} - c.precision);
    }
    for (std::size_t n = 0; n < c.cols; ++n) {
        const std::int32_t e = c.operands.exponent_b[(panel.group * c.cols + n) * c.chunks + index];
        scale_b[n] = power_of_two(std::int64_t{e} - c.precision);
    }
}

template <class F>
void for_each_panel(const Contraction& c, std::size_t panel_rows, ThreadPool& pool, F f) {
    const std::size_t panels = (c.rows + panel_rows - 1) / panel_rows;
    pool.run(c.groups * panels, [&](std::size_t item, std::size_t) {
        const std::size_t first = item % panels * panel_rows;
        f(Panel{.group = item / panels, .first = first, .rows = std::min(panel_rows, c.rows - first)});
    });
}

// With the microkernel.

template <class T>
std::size_t packed_size(const Contraction& c) {
    return Microkernel<T>::right_size(c.cols, c.depth + 1) * (c.is_split ? 2 : 1);
}

// The right operand of one group, chunk by chunk; of a split one each chunk's high halves and then its low ones.
template <class T>
void pack_group(const Contraction& c, std::size_t group, T* out) {
    const auto* b = static_cast<const typename Microkernel<T>::Stored*>(c.operands.b) + group * c.cols * c.depth;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        const std::size_t size = Microkernel<T>::right_size(c.cols, c.count(index));
        Microkernel<T>::pack_right(b + index * c.chunk, c.depth, c.cols, c.count(index), out);
        if constexpr (sizeof(T) == sizeof(double)) {
            if (c.is_split) {
                split(out, size, out, out + size);
            }
        }
        out += c.is_split ? 2 * size : size;
    }
}

template <class T>
void run_wide_panel(const Contraction& c, const Panel& panel, const T* right) {
    Workspace& space = workspace();
    const std::size_t row = panel.group * c.rows + panel.first;
    const auto* a = static_cast<const typename Microkernel<T>::Stored*>(c.operands.a) + row * c.depth;
    T* left = left_space<T>(Microkernel<T>::left_size(panel.rows, c.count(0)));
    double* scale_a = grown(space.scale_a, panel.rows);
    double* scale_b = grown(space.scale_b, c.cols);
    double* sums = c.chunks > 1 ? grown(space.sums, panel.rows * c.cols) : nullptr;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        const std::size_t size = Microkernel<T>::right_size(c.cols, c.count(index));
        find_scales(c, panel, index, scale_a, scale_b);
        Microkernel<T>::pack_left(a + index * c.chunk, c.depth, panel.rows, c.count(index), left);
        Microkernel<T>::multiply(
            left, right, c.is_split ? right + size : nullptr, panel.rows, c.cols, c.count(index),
            {.scale_a = scale_a, .scale_b = scale_b, .sums = sums, .out = c.operands.out + row * c.cols,
             .is_first = index == 0, .is_last = index + 1 == c.chunks}
        );
        right += c.is_split ? 2 * size : size;
    }
}

template <class T>
void run_wide(const Contraction& c, ThreadPool& pool) {
    constexpr std::size_t kTileRows = Microkernel<T>::kLeftRows;
    const std::size_t by_cache = kLeftBytes / (c.count(0) * sizeof(T));
    const std::size_t by_threads = (c.rows * c.groups + pool.size() - 1) / pool.size();
    const std::size_t wanted = std::max(std::min(by_cache, by_threads), kMinPanelRows);
    const std::size_t panel_rows = std::min((wanted + kTileRows - 1) / kTileRows * kTileRows, c.rows);
    const std::size_t group_size = packed_size<T>(c);
    if (panel_rows == c.rows) {
        for_each_panel(c, panel_rows, pool, [&](const Panel& panel) {
            T* right = right_space<T>(group_size);
            pack_group(c, panel.group, right);
            run_wide_panel(c, panel, right);
        });
        return;
    }
    // Several panels share what is packed before them.
    T* right = right_space<T>(c.groups * group_size);
    pool.run(c.groups, [&](std::size_t group, std::size_t) { pack_group(c, group, right + group * group_size); });
    for_each_panel(c, panel_rows, pool, [&](const Panel& panel) {
        run_wide_panel(c, panel, right + panel.group * group_size);
    });
}

// With the BLAS.

// The sums of one chunk in doubles; a split right operand is 2^12 high + low, and 2^12 (a high) is exact.
void multiply_doubles(const Contraction& c, const Panel& panel, std::size_t index) {
    Workspace& space = workspace();
    const std::size_t count = c.count(index);
    const std::size_t size = panel.rows * c.cols;
    const auto* a = static_cast<const float*>(c.operands.a) + (panel.group * c.rows + panel.first) * c.depth;
    const auto* b = static_cast<const float*>(c.operands.b) + panel.group * c.cols * c.depth;
    double* left = grown(space.left, panel.rows * count);
    double* right = grown(space.right, 2 * c.cols * count);
    for (std::size_t m = 0; m < panel.rows; ++m) {
        std::copy_n(a + m * c.depth + index * c.chunk, count, left + m * count);
    }
    for (std::size_t n = 0; n < c.cols; ++n) {
        std::copy_n(b + n * c.depth + index * c.chunk, count, right + n * count);
    }
    ProductOf<double> product{
        .a = left, .b = right, .out = grown(space.exact, size),
        .m = static_cast<std::int64_t>(panel.rows), .n = static_cast<std::int64_t>(c.cols),
        .k = static_cast<std::int64_t>(count),
        .a_stride = static_cast<std::int64_t>(count), .b_stride = static_cast<std::int64_t>(count),
    };
    if (!c.is_split) {
        return multiply_nt(product);
    }
    double* low = right + c.cols * count;
    split(right, c.cols * count, right, low);
    multiply_nt(product);
    product.b = low;
    product.out = grown(space.low, size);
    multiply_nt(product);
    for (std::size_t i = 0; i < size; ++i) {
        space.exact[i] = space.exact[i] * 0x1.0p12 + space.low[i];
    }
}

// The same in floats, as many columns at a time as stay exact.
void multiply_floats(const Contraction& c, const Panel& panel, std::size_t index) {
    Workspace& space = workspace();
    const std::size_t size = panel.rows * c.cols;
    const std::size_t step = std::size_t{1} << (kFloatBits - 2 * c.precision);
    const auto* a = static_cast<const float*>(c.operands.a) + (panel.group * c.rows + panel.first) * c.depth;
    const auto* b = static_cast<const float*>(c.operands.b) + panel.group * c.cols * c.depth;
    double* exact = grown(space.exact, size);
    for (std::size_t done = 0; done < c.count(index); done += step) {
        const std::size_t first = index * c.chunk + done;
        multiply_nt(ProductOf<float>{
            .a = a + first, .b = b + first, .out = grown(space.part, size),
            .m = static_cast<std::int64_t>(panel.rows), .n = static_cast<std::int64_t>(c.cols),
            .k = static_cast<std::int64_t>(std::min(step, c.count(index) - done)),
            .a_stride = static_cast<std::int64_t>(c.depth), .b_stride = static_cast<std::int64_t>(c.depth),
        });
        add_exact(size, space.part.data(), done == 0, exact);
    }
}

void run_library_panel(const Contraction& c, const Panel& panel) {
    Workspace& space = workspace();
    const std::size_t row = panel.group * c.rows + panel.first;
    const Extent at{.rows = panel.rows, .cols = c.cols, .first_row = row};
    double* scale_b = grown(space.scale_b, c.cols);
    double* sums = grown(space.sums, at.size());
    for (std::size_t index = 0; index < c.chunks; ++index) {
        find_scales(c, panel, index, nullptr, scale_b);
        if (c.precision <= kMaxShortPrecision) {
            multiply_floats(c, panel, index);
        } else {
            multiply_doubles(c, panel, index);
        }
        const std::int32_t* exponent_a = c.operands.exponent_a + row * c.chunks + index;
        scale_product(at, space.exact.data(), exponent_a, c.chunks, c.precision, scale_b, index == 0, sums);
    }
    round_sums(at.size(), sums, c.operands.out + row * c.cols);
}

void run_library(const Contraction& c, ThreadPool& pool) {
    const std::size_t by_cache = kPanelBytes / (c.cols * sizeof(double));
    const std::size_t by_threads = (c.rows * c.groups + pool.size() - 1) / pool.size();
    const std::size_t panel_rows = std::min(std::max(std::min(by_cache, by_threads), kMinPanelRows), c.rows);
    for_each_panel(c, panel_rows, pool, [&](const Panel& panel) { run_library_panel(c, panel); });
}

}  // namespace

Format product_format(const Node& contract) {
    const std::uint32_t precision = contract.attributes[0];
    if (precision <= kMaxShortPrecision) {
        const bool fits_short = 2 * precision + bits_of(chunk_depth(contract)) <= kShortSumBits;
        return fits_short && Microkernel<std::int16_t>::is_available() ? Format::kShort : Format::kFloat;
    }
    return fits_at_once(contract) || fits_in_two(contract) ? Format::kFloat : Format::kWords;
}

void run_product(const Node& contract, const ProductOperands& operands, ThreadPool& pool) {
    const Contraction c{.node = contract, .operands = operands};
    const Format format = product_format(contract);
    ASSERT(format == Format::kShort || format == Format::kFloat);
    if (format == Format::kShort) {
        run_wide<std::int16_t>(c, pool);
    } else if (c.precision > kMaxShortPrecision && Microkernel<double>::is_available()) {
        run_wide<double>(c, pool);
    } else {
        run_library(c, pool);
    }
}

}  // namespace assay::engine::fused
