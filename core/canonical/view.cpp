// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/view.hpp>

#include <algorithm>

namespace assay::canonical {
namespace {

constexpr std::uint64_t kEndless = ~std::uint64_t{0};

// How a coordinate that starts at `at` and moves by `step` is inside [0, size): whether it is now, and for how many
// elements that stays so.
struct Stay {
    bool is_inside = false;
    std::uint64_t count = kEndless;
};

Stay stay(std::int64_t at, std::int64_t step, std::int64_t size) {
    Stay out{at >= 0 && at < size, kEndless};
    if (step == 0) {
        return out;
    }
    if (out.is_inside) {
        out.count = static_cast<std::uint64_t>(step > 0 ? (size - 1 - at) / step : at / -step) + 1;
    } else if (step > 0 && at < 0) {
        out.count = static_cast<std::uint64_t>((-at + step - 1) / step);
    } else if (step < 0 && at >= size) {
        out.count = static_cast<std::uint64_t>((at - size - step) / -step);
    }
    return out;
}

// Writes where the elements of `run` lie in a matrix of shape `from` to out's elements from `at` on.
void add_run(const ViewRun& run, std::uint64_t at, Shape from, ViewTile& out) {
    const auto cols = static_cast<std::int64_t>(from.cols);
    const std::int64_t step_col = (run.step % cols + cols) % cols;
    const std::int64_t step_row = (run.step - step_col) / cols;
    std::int64_t row = static_cast<std::int64_t>(run.source) / cols;
    std::int64_t col = static_cast<std::int64_t>(run.source) % cols;
    for (std::uint64_t n = 0; n < run.count; ++n) {
        const auto r = static_cast<std::uint64_t>(row);
        const auto c = static_cast<std::uint64_t>(col);
        const std::uint64_t tile = r / kTileDim * tile_cols(from) + c / kTileDim;
        out.tile[at + n] = tile;
        out.element[at + n] = static_cast<std::uint16_t>(r % kTileDim * kTileDim + c % kTileDim);
        if (out.touched.empty() || out.touched.back() != tile) {
            out.touched.push_back(tile);
        }
        col += step_col;
        row += step_row + (col >= cols ? 1 : 0);
        col -= col >= cols ? cols : 0;
    }
}

}  // namespace

// NUM-34
std::optional<std::uint64_t> flat_source(const View& view, std::uint64_t n) noexcept {
    std::array<std::int64_t, kMaxViewAxes> index{};
    for (std::size_t i = view.dims.size(); i-- > 0; n /= view.dims[i]) {
        index[i] = static_cast<std::int64_t>(n % view.dims[i]);
    }
    std::uint64_t flat = 0;
    for (const ViewAxis& axis : view.axes) {
        std::int64_t numerator = axis.offset;
        for (std::size_t i = 0; i < view.dims.size(); ++i) {
            numerator += axis.strides[i] * index[i];
        }
        if (numerator < 0 || numerator % axis.divisor != 0 || numerator / axis.divisor >= axis.size) {
            return std::nullopt;
        }
        flat = flat * axis.size + static_cast<std::uint64_t>(numerator / axis.divisor);
    }
    return flat;
}

ViewCursor::ViewCursor(const View& view) noexcept : view_(view), inner_(view.dims.size() - 1) {
    while (inner_ > 0 && view.dims[inner_] == 1) {
        --inner_;
    }
    std::uint64_t weight = 1;
    for (std::size_t a = view.axes.size(); a-- > 0;) {
        const ViewAxis& from = view.axes[a];
        axes_[a] = {from.offset, from.strides[inner_], from.divisor, from.size, weight, true};
        axes_[a].is_linear = axes_[a].stride % axes_[a].divisor == 0;
        weight *= from.size;
    }
}

void ViewCursor::seek(std::uint64_t n) noexcept {
    for (std::size_t i = view_.dims.size(); i-- > 0; n /= view_.dims[i]) {
        index_[i] = static_cast<std::uint32_t>(n % view_.dims[i]);
    }
    for (std::size_t a = 0; a < view_.axes.size(); ++a) {
        axes_[a].numerator = view_.axes[a].offset;
        for (std::size_t i = 0; i < view_.dims.size(); ++i) {
            axes_[a].numerator += std::int64_t{view_.axes[a].strides[i]} * index_[i];
        }
    }
}

ViewRun ViewCursor::next(std::uint64_t most) noexcept {
    const ViewRun out = run_at(std::min<std::uint64_t>(most, view_.dims[inner_] - index_[inner_]));
    advance(out.count);
    return out;
}

ViewRun ViewCursor::run_at(std::uint64_t most) const noexcept {
    std::uint64_t inside = kEndless;
    std::uint64_t outside = 0;
    std::uint64_t source = 0;
    std::uint64_t step = 0;  // modulo 2^64
    for (std::size_t a = 0; a < view_.axes.size(); ++a) {
        const Axis& axis = axes_[a];
        const bool is_whole = axis.divisor == 1 || axis.numerator % axis.divisor == 0;
        const std::int64_t at = axis.divisor == 1 ? axis.numerator : axis.numerator / axis.divisor;
        const std::int64_t by = axis.divisor == 1 ? axis.stride : axis.stride / axis.divisor;
        Stay s{is_whole && at >= 0 && at < axis.size, 1};
        if (axis.is_linear) {
            s = is_whole ? stay(at, by, axis.size) : Stay{};
        }
        if (s.is_inside) {
            inside = std::min(inside, s.count);
            source += static_cast<std::uint64_t>(at) * axis.weight;
            step += static_cast<std::uint64_t>(by) * axis.weight;
        } else {
            outside = std::max(outside, s.count);
        }
    }
    if (outside > 0) {
        return {std::min(most, outside), true, 0, 0};
    }
    // The next element is inside too where there is one, so that its step fits; of a single element it need not.
    const std::uint64_t count = std::min(most, inside);
    return {count, false, source, count > 1 ? static_cast<std::int64_t>(step) : 0};
}

void ViewCursor::advance(std::uint64_t count) noexcept {
    std::size_t axis = inner_;
    index_[axis] += static_cast<std::uint32_t>(count);
    for (std::size_t a = 0; a < view_.axes.size(); ++a) {
        axes_[a].numerator += axes_[a].stride * static_cast<std::int64_t>(count);
    }
    for (; index_[axis] == view_.dims[axis] && axis > 0; --axis) {
        for (std::size_t a = 0; a < view_.axes.size(); ++a) {
            const auto& strides = view_.axes[a].strides;
            axes_[a].numerator += strides[axis - 1] - std::int64_t{strides[axis]} * index_[axis];
        }
        index_[axis] = 0;
        ++index_[axis - 1];
    }
}

ViewTile view_tile(const Node& view_node, std::uint64_t tile) {
    const Shape from = view_node.inputs[0].shape;
    const Shape to = view_node.shape;
    const std::uint64_t first_row = tile / tile_cols(to) * kTileDim;
    const std::uint64_t first_col = tile % tile_cols(to) * kTileDim;
    const std::uint64_t rows = std::min<std::uint64_t>(kTileDim, to.rows - first_row);
    const std::uint64_t cols = std::min<std::uint64_t>(kTileDim, to.cols - first_col);
    ViewTile out;
    out.tile.fill(ViewTile::kNone);
    out.element.fill(0);
    ViewCursor cursor(*view_node.view);
    for (std::uint64_t i = 0; i < rows; ++i) {
        cursor.seek((first_row + i) * to.cols + first_col);
        for (std::uint64_t j = 0; j < cols;) {
            const ViewRun run = cursor.next(cols - j);
            if (!run.is_fill) {
                add_run(run, i * kTileDim + j, from, out);
            }
            j += run.count;
        }
    }
    std::sort(out.touched.begin(), out.touched.end());
    out.touched.erase(std::unique(out.touched.begin(), out.touched.end()), out.touched.end());
    return out;
}

}  // namespace assay::canonical
