// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <verifier/engine/backend/product_bits.hpp>
#include <verifier/engine/fused/contraction.hpp>
#include <verifier/engine/fused/row_kernels.hpp>
#include <verifier/engine/torch/runtime.hpp>

/// Products on CPUs that no kernel of ours is for.
namespace assay::engine::fused {
namespace {

constexpr std::size_t kPanelBytes = std::size_t{512} * 1024;  // of exact sums: inside a second-level cache

// The sums of one chunk in doubles; a split right operand is 2^12 high + low, and 2^12 (a high) is exact.
void multiply_doubles(const Contraction& c, const Panel& panel, std::size_t index) {
    Workspace& space = workspace();
    const std::size_t count = c.count(index);
    const std::size_t size = panel.rows * c.cols;
    const auto* a = static_cast<const float*>(c.operands.a) + (panel.group * c.rows + panel.first) * c.depth;
    const auto* b = static_cast<const float*>(c.operands.b) + panel.group * c.cols * c.depth;
    auto* left = grown_packed<double>(space.left, panel.rows * count);
    auto* right = grown_packed<double>(space.right, 2 * c.cols * count);
    for (std::size_t m = 0; m < panel.rows; ++m) {
        std::copy_n(a + m * c.depth + index * c.chunk, count, left + m * count);
    }
    for (std::size_t n = 0; n < c.cols; ++n) {
        std::copy_n(b + n * c.depth + index * c.chunk, count, right + n * count);
    }
    ProductOf<double> product{
        .a = left,
        .b = right,
        .out = grown(space.exact, size),
        .m = static_cast<std::int64_t>(panel.rows),
        .n = static_cast<std::int64_t>(c.cols),
        .k = static_cast<std::int64_t>(count),
        .a_stride = static_cast<std::int64_t>(count),
        .b_stride = static_cast<std::int64_t>(count),
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
            .a = a + first,
            .b = b + first,
            .out = grown(space.part, size),
            .m = static_cast<std::int64_t>(panel.rows),
            .n = static_cast<std::int64_t>(c.cols),
            .k = static_cast<std::int64_t>(std::min(step, c.count(index) - done)),
            .a_stride = static_cast<std::int64_t>(c.depth),
            .b_stride = static_cast<std::int64_t>(c.depth),
        });
        add_exact(size, space.part.data(), done == 0, exact);
    }
}

void run_library_panel(const Contraction& c, const Panel& panel) {
    Workspace& space = workspace();
    const std::size_t row = panel.group * c.rows + panel.first;
    const Extent at{.rows = panel.rows, .cols = c.cols, .first_row = row};
    double* scale_b = grown(space.scale_b, c.cols * c.chunks);
    double* sums = grown(space.sums, at.size());
    find_scales(c, panel, nullptr, scale_b);
    for (std::size_t index = 0; index < c.chunks; ++index) {
        if (c.precision <= kMaxFloatPrecision) {
            multiply_floats(c, panel, index);
        } else {
            multiply_doubles(c, panel, index);
        }
        const std::int32_t* exponent_a = c.operands.exponent_a + row * c.chunks + index;
        scale_product(
            at, space.exact.data(), exponent_a, c.chunks, c.precision, scale_b + index * c.cols, index == 0, sums
        );
    }
    round_sums(at.size(), sums, c.operands.out + row * c.cols);
}

}  // namespace

void run_library(const Contraction& c, ThreadPool& pool) {
    const std::size_t by_cache = kPanelBytes / (c.cols * sizeof(double));
    const std::size_t by_threads = (c.rows * c.groups + pool.size() - 1) / pool.size();
    const std::size_t panel_rows = std::min(std::max(std::min(by_cache, by_threads), kMinPanelRows), c.rows);
    for_each_panel(c, panel_rows, pool, [&](const Panel& panel) { run_library_panel(c, panel); });
}

}  // namespace assay::engine::fused
