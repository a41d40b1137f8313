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

constexpr std::size_t kPanelBytes = 512 * 1024;  // of exact products: inside a second-level cache
constexpr std::size_t kMinPanelRows = 32;
constexpr std::uint32_t kFloatBits = 24;
constexpr std::uint32_t kDoubleBits = 53;
constexpr std::uint32_t kMaxShortPrecision = 8;
constexpr std::uint32_t kShortSumBits = 30;
constexpr std::size_t kLeftBytes = 384 * 1024;  // of a packed left panel
constexpr std::uint32_t kHalfBits = 12;

std::uint32_t bits_of(std::size_t depth) { return static_cast<std::uint32_t>(std::bit_width(depth - 1)); }

std::size_t chunk_depth(const Node& node) {
    return std::min(node.attributes[1], node.inputs[0].shape.cols);
}

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
    Format format;
    ProductOperands operands;
    std::size_t groups = canonical::group_count(node);
    std::size_t depth = node.inputs[0].shape.cols;
    std::size_t rows = node.shape.rows / groups;  // of one group
    std::size_t cols = node.shape.cols;
    std::size_t chunk = node.attributes[1];
    std::size_t chunks = (depth + chunk - 1) / chunk;
    std::uint32_t precision = node.attributes[0];
    bool is_split = format == Format::kDouble && !fits_at_once(node);
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
    std::vector<double> scale_b;
    std::vector<double> split_b;  // high, then low halves of a chunk of the right operand
    std::vector<double> scale_a;
    std::vector<double> left_doubles;
    std::vector<double> right_doubles;
    std::vector<std::int16_t> left_shorts;
    std::vector<std::int16_t> right_shorts;
};

template <class T>
std::vector<T>& packed(Workspace& space) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return space.left_doubles;
    } else {
        return space.left_shorts;
    }
}

template <class T>
std::vector<T>& packed_right(Workspace& space) {
    if constexpr (sizeof(T) == sizeof(double)) {
        return space.right_doubles;
    } else {
        return space.right_shorts;
    }
}

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
ProductOf<T> product_of(
    const Contraction& c, const Panel& panel, std::size_t first_col, std::size_t count, T* out
) {
    const auto* a = static_cast<const T*>(c.operands.a);
    const auto* b = static_cast<const T*>(c.operands.b);
    return {
        .a = a + (panel.group * c.rows + panel.first) * c.depth + first_col,
        .b = b + panel.group * c.cols * c.depth + first_col,
        .out = out,
        .m = static_cast<std::int64_t>(panel.rows),
        .n = static_cast<std::int64_t>(c.cols),
        .k = static_cast<std::int64_t>(count),
        .a_stride = static_cast<std::int64_t>(c.depth),
        .b_stride = static_cast<std::int64_t>(c.depth),
    };
}

// The sums of one chunk with the right operand b = 2^12 high + low: 2^12 (a high) is exact, so one addition rounds once.
void multiply_split(const Contraction& c, const Panel& panel, std::size_t first, std::size_t count, Workspace& space) {
    const std::size_t size = panel.rows * c.cols;
    double* halves = grown(space.split_b, 2 * c.cols * count);
    const auto* b = static_cast<const double*>(c.operands.b) + panel.group * c.cols * c.depth + first;
    for (std::size_t n = 0; n < c.cols; ++n) {
        for (std::size_t k = 0; k < count; ++k) {
            const double whole = b[n * c.depth + k];
            const double high = (whole * 0x1.0p-12 + 0x1.8p52) - 0x1.8p52;
            halves[n * count + k] = high;
            halves[(c.cols + n) * count + k] = whole - high * 0x1.0p12;
        }
    }
    auto product = product_of<double>(c, panel, first, count, grown(space.exact, size));
    product.b = halves;
    product.b_stride = static_cast<std::int64_t>(count);
    multiply_nt(product);
    product.b = halves + c.cols * count;
    product.out = grown(space.low, size);
    multiply_nt(product);
    for (std::size_t i = 0; i < size; ++i) {
        space.exact[i] = space.exact[i] * 0x1.0p12 + space.low[i];
    }
}

// The sums of one chunk in floats, as many columns at a time as stay exact.
void multiply_floats(const Contraction& c, const Panel& panel, std::size_t first, std::size_t count, Workspace& space) {
    const std::size_t size = panel.rows * c.cols;
    const std::size_t step = std::size_t{1} << (kFloatBits - 2 * c.precision);
    float* part = grown(space.part, size);
    for (std::size_t done = 0; done < count; done += step) {
        multiply_nt(product_of<float>(c, panel, first + done, std::min(step, count - done), part));
        if (count > step || c.chunks > 1) {
            add_exact(size, part, done == 0, grown(space.exact, size));
        }
    }
}

void run_panel(const Contraction& c, const Panel& panel, Workspace& space) {
    const std::size_t row = panel.group * c.rows + panel.first;
    const Extent at{.rows = panel.rows, .cols = c.cols, .first_row = row};
    float* out = c.operands.out + row * c.cols;
    double* scale_b = grown(space.scale_b, c.cols);
    double* sums = c.chunks > 1 ? grown(space.sums, at.size()) : nullptr;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        const std::size_t first = index * c.chunk;
        const std::size_t count = std::min(c.chunk, c.depth - first);
        for (std::size_t n = 0; n < c.cols; ++n) {
            const std::int32_t e = c.operands.exponent_b[(panel.group * c.cols + n) * c.chunks + index];
            scale_b[n] = power_of_two(std::int64_t{e} - c.precision);
        }
        const std::int32_t* exponent_a = c.operands.exponent_a + row * c.chunks + index;
        const bool is_one_part = count <= std::size_t{1} << (kFloatBits - std::min(2 * c.precision, kFloatBits));
        if (c.format == Format::kFloat) {
            multiply_floats(c, panel, first, count, space);
        } else if (c.is_split) {
            multiply_split(c, panel, first, count, space);
        } else {
            multiply_nt(product_of<double>(c, panel, first, count, grown(space.exact, at.size())));
        }
        if (c.chunks > 1) {
            scale_product(at, space.exact.data(), exponent_a, c.chunks, c.precision, scale_b, index == 0, sums);
        } else if (c.format == Format::kFloat && is_one_part) {
            finish_product(at, space.part.data(), exponent_a, c.chunks, c.precision, scale_b, out);
        } else {
            finish_product(at, space.exact.data(), exponent_a, c.chunks, c.precision, scale_b, out);
        }
    }
    if (c.chunks > 1) {
        round_sums(at.size(), sums, out);
    }
}

// The same in panels for the BLAS.
void run_library(const Contraction& c, ThreadPool& pool) {
    const std::size_t by_cache = std::max(kPanelBytes / (c.cols * sizeof(double)), kMinPanelRows);
    const std::size_t by_threads = std::max((c.rows * c.groups + pool.size() - 1) / pool.size(), kMinPanelRows);
    const std::size_t panel_rows = std::min({by_cache, by_threads, c.rows});
    const std::size_t panels = (c.rows + panel_rows - 1) / panel_rows;
    pool.run(c.groups * panels, [&](std::size_t item, std::size_t) {
        const std::size_t first = item % panels * panel_rows;
        run_panel(
            c, {.group = item / panels, .first = first, .rows = std::min(panel_rows, c.rows - first)}, workspace()
        );
    });
}

// The right operand of one group, laid out for the microkernel chunk by chunk.
template <class T>
void pack_group(const Contraction& c, std::size_t group, T* out) {
    const auto* b = static_cast<const T*>(c.operands.b) + group * c.cols * c.depth;
    for (std::size_t first = 0; first < c.depth; first += c.chunk) {
        const std::size_t count = std::min(c.chunk, c.depth - first);
        Microkernel<T>::pack_right(b + first, c.depth, c.cols, count, out);
        out += Microkernel<T>::right_size(c.cols, count);
    }
}

// A panel of rows with the microkernel; `right` is what pack_group made.
template <class T>
void run_wide_panel(const Contraction& c, const Panel& panel, const T* right, Workspace& space) {
    const std::size_t row = panel.group * c.rows + panel.first;
    const auto* a = static_cast<const T*>(c.operands.a) + row * c.depth;
    T* left = grown(packed<T>(space), Microkernel<T>::left_size(panel.rows, std::min(c.chunk, c.depth)));
    double* scale_a = grown(space.scale_a, panel.rows);
    double* scale_b = grown(space.scale_b, c.cols);
    double* sums = c.chunks > 1 ? grown(space.sums, panel.rows * c.cols) : nullptr;
    for (std::size_t index = 0; index < c.chunks; ++index) {
        const std::size_t first = index * c.chunk;
        const std::size_t count = std::min(c.chunk, c.depth - first);
        for (std::size_t m = 0; m < panel.rows; ++m) {
            scale_a[m] = power_of_two(std::int64_t{c.operands.exponent_a[(row + m) * c.chunks + index]} - c.precision);
        }
        for (std::size_t n = 0; n < c.cols; ++n) {
            const std::int32_t e = c.operands.exponent_b[(panel.group * c.cols + n) * c.chunks + index];
            scale_b[n] = power_of_two(std::int64_t{e} - c.precision);
        }
        Microkernel<T>::pack_left(a + first, c.depth, panel.rows, count, left);
        Microkernel<T>::multiply(
            left, right, panel.rows, c.cols, count,
            {.scale_a = scale_a, .scale_b = scale_b, .sums = sums, .out = c.operands.out + row * c.cols,
             .is_first = index == 0, .is_last = index + 1 == c.chunks}
        );
        right += Microkernel<T>::right_size(c.cols, count);
    }
}

template <class T>
void run_wide(const Contraction& c, ThreadPool& pool) {
    constexpr std::size_t kTileRows = Microkernel<T>::kLeftRows;
    const std::size_t by_cache = kLeftBytes / (std::min(c.chunk, c.depth) * sizeof(T));
    const std::size_t by_threads = (c.rows * c.groups + pool.size() - 1) / pool.size();
    const std::size_t wanted = std::max(std::min(by_cache, by_threads), kMinPanelRows);
    const std::size_t panel_rows = std::min((wanted + kTileRows - 1) / kTileRows * kTileRows, c.rows);
    const std::size_t panels = (c.rows + panel_rows - 1) / panel_rows;
    const std::size_t group_size = Microkernel<T>::right_size(c.cols, c.depth + c.chunks);
    if (panels == 1) {
        pool.run(c.groups, [&](std::size_t group, std::size_t) {
            T* right = grown(packed_right<T>(workspace()), group_size);
            pack_group(c, group, right);
            run_wide_panel(c, {.group = group, .first = 0, .rows = c.rows}, right, workspace());
        });
        return;
    }
    // Several panels share what the calling thread packs.
    T* right = grown(packed_right<T>(workspace()), c.groups * group_size);
    pool.run(c.groups, [&](std::size_t group, std::size_t) { pack_group(c, group, right + group * group_size); });
    pool.run(c.groups * panels, [&](std::size_t item, std::size_t) {
        const std::size_t first = item % panels * panel_rows;
        run_wide_panel(
            c, {.group = item / panels, .first = first, .rows = std::min(panel_rows, c.rows - first)},
            right + item / panels * group_size, workspace()
        );
    });
}

}  // namespace

Format product_format(const Node& contract) {
    const std::uint32_t precision = contract.attributes[0];
    if (precision <= kMaxShortPrecision) {
        const bool fits_short = 2 * precision + bits_of(chunk_depth(contract)) <= kShortSumBits;
        return fits_short && Microkernel<std::int16_t>::is_available() ? Format::kShort : Format::kFloat;
    }
    return fits_at_once(contract) || fits_in_two(contract) ? Format::kDouble : Format::kWords;
}

void run_product(const Node& contract, Format format, const ProductOperands& operands, ThreadPool& pool) {
    const Contraction c{.node = contract, .format = format, .operands = operands};
    if (format == Format::kShort) {
        return run_wide<std::int16_t>(c, pool);
    }
    ASSERT(format == Format::kDouble || format == Format::kFloat);
    if (format == Format::kDouble && !c.is_split && Microkernel<double>::is_available()) {
        return run_wide<double>(c, pool);
    }
    run_library(c, pool);
}

}  // namespace assay::engine::fused
