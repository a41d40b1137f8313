// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <core/canonical/node.hpp>
#include <verifier/engine/fused/product.hpp>
#include <verifier/engine/fused/thread_pool.hpp>

/// Internal to the products: what they share, whatever multiplies.
namespace assay::engine::fused {

/// Up to this precision products are exact in floats, as many columns at a time as sum up within 24 bits.
inline constexpr std::uint32_t kMaxFloatPrecision = 8;

/// Panels have no fewer rows, unless there are no more.
inline constexpr std::size_t kMinPanelRows = 32;

inline constexpr std::size_t kLeftBytes = std::size_t{256} * 1024;  ///< of a packed left panel: in a second-level cache
inline constexpr std::size_t kRightBytes = std::size_t{16} << 20U;  ///< of right operands that are packed at a time

/// Whether a chunk's sums are below 2^53.
bool fits_at_once(const canonical::Node& contract);
/// Whether this CPU's matrix unit multiplies it.
bool has_tiles(const canonical::Node& contract);

/// Everything about a contraction that its panels share.
struct Contraction {
    const canonical::Node& node;
    ProductOperands operands;
    std::size_t groups = canonical::group_count(node);
    std::size_t depth = node.inputs[0].shape.cols;
    std::size_t rows = node.shape.rows / groups;  // of one group
    std::size_t cols = node.shape.cols;
    std::size_t chunk = node.attributes[1];
    std::size_t chunks = (depth + chunk - 1) / chunk;
    std::uint32_t precision = node.attributes[0];
    bool is_split = precision > kMaxFloatPrecision && !fits_at_once(node);

    std::size_t count(std::size_t index) const { return std::min(chunk, depth - index * chunk); }
};

/// A few rows and columns of one group of the output.
struct Panel {
    std::size_t group = 0;
    std::size_t first = 0;  // row of the group
    std::size_t rows = 0;
    std::size_t first_col = 0;
    std::size_t cols = 0;
};

/// What one thread needs besides; kept from panel to panel and from call to call.
struct Workspace {
    std::vector<double> exact;
    std::vector<double> low;
    std::vector<double> sums;
    std::vector<float> part;
    std::vector<double> scale_a;
    std::vector<double> scale_b;
    std::vector<std::byte> left;
    std::vector<std::byte> right;
};

inline Workspace& workspace() {
    thread_local Workspace space;
    return space;
}

template <class T>
T* grown(std::vector<T>& storage, std::size_t size) {
    if (storage.size() < size) {
        storage = std::vector<T>();  // its content is not needed, and would be there twice
        storage.resize(size);
    }
    return storage.data();
}

/// The same for packed operands, which begin where a line of the cache does.
template <class T>
T* grown_packed(std::vector<std::byte>& storage, std::size_t count) {
    constexpr std::size_t kLine = 64;
    const std::size_t bytes = count * sizeof(T);
    std::size_t space = bytes + kLine;
    void* at = grown(storage, space);
    return static_cast<T*>(std::align(kLine, bytes, at, space));
}

/// x = 2^12 high + low, both whole.
void split(const double* x, std::size_t count, double* high, double* low);

/// The scales of a panel's rows, [chunks, rows], unless scale_a is nullptr, and of its columns, [chunks, cols].
void find_scales(const Contraction& c, const Panel& panel, double* scale_a, double* scale_b);

template <class F>
void for_each_panel(const Contraction& c, std::size_t panel_rows, ThreadPool& pool, F f) {
    const std::size_t panels = (c.rows + panel_rows - 1) / panel_rows;
    pool.run(c.groups * panels, [&](std::size_t item, std::size_t) {
        const std::size_t first = item % panels * panel_rows;
        f(Panel{
            .group = item / panels,
            .first = first,
            .rows = std::min(panel_rows, c.rows - first),
            .first_col = 0,
            .cols = c.cols,
        });
    });
}

/// Computes a contraction with the BLAS.
void run_library(const Contraction& c, ThreadPool& pool);

}  // namespace assay::engine::fused
