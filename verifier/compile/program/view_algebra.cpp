// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/array.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/program/view_cut.hpp>

namespace assay::program {

using canonical::View;
using canonical::ViewAxis;

namespace {

std::uint64_t input_count(const View& view) {
    std::uint64_t count = 1;
    for (const ViewAxis& axis : view.axes) {
        count *= axis.size;
    }
    return count;
}

// Cuts the output's axis `at` into one of size / inner and one of size inner, if the strides can be written.
bool cut_dim(View& view, std::size_t at, std::uint32_t inner) {
    const auto is_wide = [&](const ViewAxis& axis) { return !fits_i32(std::int64_t{axis.strides[at]} * inner); };
    if (std::any_of(view.axes.begin(), view.axes.end(), is_wide)) {
        return false;
    }
    const auto behind = static_cast<std::ptrdiff_t>(at) + 1;
    view.dims[at] /= inner;
    view.dims.insert(view.dims.begin() + behind, inner);
    for (ViewAxis& axis : view.axes) {
        const std::int32_t stride = axis.strides[at];
        axis.strides.insert(axis.strides.begin() + behind, stride);
        axis.strides[at] = static_cast<std::int32_t>(std::int64_t{stride} * inner);
    }
    return true;
}

// cut_axis, after cutting an axis of the output where that is what is in the way.
bool cut_axis_and_dims(View& view, std::size_t at, std::uint32_t inner) {
    if (cut_axis(view, at, inner)) {
        return true;
    }
    View finer = view;
    for (std::size_t j = finer.dims.size(); j-- > 0;) {
        const std::int64_t stride = std::abs(std::int64_t{finer.axes[at].strides[j]});
        if (stride == 0 || stride >= inner || inner % stride != 0) {
            continue;
        }
        const auto size = static_cast<std::uint32_t>(inner / stride);
        if (finer.dims[j] > size && finer.dims[j] % size == 0 && !cut_dim(finer, j, size)) {
            return false;
        }
    }
    if (!cut_axis(finer, at, inner)) {
        return false;
    }
    view = std::move(finer);
    return true;
}

// Cuts both so that the outer view's input axes are the inner one's output axes.
bool align(View& inner, View& outer) {
    std::size_t in = inner.dims.size();
    std::size_t out = outer.axes.size();
    while (in > 0 || out > 0) {
        const std::uint32_t have = in > 0 ? inner.dims[in - 1] : 1;
        const std::uint32_t want = out > 0 ? outer.axes[out - 1].size : 1;
        ASSERT(have > 0 && want > 0);  // as in every view
        if (have == want && in > 0 && out > 0) {
            --in;
            --out;
        } else if (have == 1 && in > 0) {
            // An axis of one element: the other side gets one too.
            outer.axes.insert(
                outer.axes.begin() + static_cast<std::ptrdiff_t>(out),
                ViewAxis{1, 0, 1, std::vector<std::int32_t>(outer.dims.size(), 0)}
            );
            --in;
        } else if (want == 1 && out > 0) {
            inner.dims.insert(inner.dims.begin() + static_cast<std::ptrdiff_t>(in), 1);
            for (ViewAxis& axis : inner.axes) {
                axis.strides.insert(axis.strides.begin() + static_cast<std::ptrdiff_t>(in), 0);
            }
            --out;
        } else if (have > want && have % want == 0 && cut_dim(inner, in - 1, want)) {
            --out;
        } else if (want > have && want % have == 0 && cut_axis_and_dims(outer, out - 1, have)) {
            --in;
        } else {
            return false;
        }
    }
    return true;
}

bool depends_only_on(const ViewAxis& axis, std::size_t j) {
    for (std::size_t k = 0; k < axis.strides.size(); ++k) {
        if ((axis.strides[k] != 0) != (k == j)) {
            return false;
        }
    }
    return true;
}

// Whether `axis` is the output's axis j itself.
bool passes_through(const ViewAxis& axis, std::size_t j, const Dims& dims) {
    return depends_only_on(axis, j) && axis.size == dims[j] && axis.offset == 0 && axis.divisor == 1 &&
           axis.strides[j] == 1;
}

// Whether any whole index outside the output's axis j makes the coordinate fall outside `axis`.
bool ends_with(const ViewAxis& axis, std::size_t j, const Dims& dims) {
    if (!depends_only_on(axis, j)) {
        return false;
    }
    const std::int64_t stride = axis.strides[j];
    const std::int64_t before = axis.offset - stride;
    const std::int64_t behind = axis.offset + stride * dims[j];
    const std::int64_t limit = std::int64_t{axis.size} * axis.divisor;
    return stride > 0 ? before < 0 && behind >= limit : before >= limit && behind < 0;
}

// Whether an index of the inner view's output that the outer view has outside it is outside once composed.
bool keeps_bounds(const View& inner, const View& outer, std::size_t j) {
    if (is_always_inside(outer.axes[j], outer.dims)) {
        return true;
    }
    const bool is_whole = outer.axes[j].divisor == 1;
    return std::any_of(inner.axes.begin(), inner.axes.end(), [&](const ViewAxis& axis) {
        return is_whole ? ends_with(axis, j, inner.dims) : passes_through(axis, j, inner.dims);
    });
}

// `axis` of the inner view with the outer view's coordinates in the place of its indices.
std::optional<ViewAxis> substitute(const ViewAxis& axis, const View& inner, const View& outer) {
    std::vector<std::int64_t> strides(outer.dims.size(), 0);
    std::int64_t offset = axis.offset;
    for (std::size_t j = 0; j < inner.dims.size(); ++j) {
        const ViewAxis& coordinate = outer.axes[j];
        if (axis.strides[j] == 0) {
            continue;
        }
        if (coordinate.divisor != 1) {
            if (!passes_through(axis, j, inner.dims)) {
                return std::nullopt;
            }
            ViewAxis same = coordinate;
            same.size = axis.size;
            return same;
        }
        offset += std::int64_t{axis.strides[j]} * coordinate.offset;
        for (std::size_t k = 0; k < strides.size(); ++k) {
            strides[k] += std::int64_t{axis.strides[j]} * coordinate.strides[k];
        }
    }
    if (!fits_i32(offset) || !std::all_of(strides.begin(), strides.end(), fits_i32)) {
        return std::nullopt;
    }
    ViewAxis out{axis.size, static_cast<std::int32_t>(offset), axis.divisor, {}};
    for (const std::int64_t stride : strides) {
        out.strides.push_back(static_cast<std::int32_t>(stride));
    }
    return out;
}

}  // namespace

bool never_fills(const View& view) {
    return std::all_of(view.axes.begin(), view.axes.end(), [&](const ViewAxis& axis) {
        return is_always_inside(axis, view.dims);
    });
}

bool is_identity(const View& view) {
    if (!never_fills(view)) {
        return false;
    }
    std::vector<std::int64_t> strides(view.dims.size(), 0);
    std::int64_t offset = 0;
    std::int64_t step = 1;
    for (std::size_t i = view.axes.size(); i-- > 0;) {
        const ViewAxis& axis = view.axes[i];
        offset += step * axis.offset;
        for (std::size_t j = 0; j < strides.size(); ++j) {
            strides[j] += step * axis.strides[j];
        }
        step *= axis.size;
    }
    std::int64_t expected = 1;
    for (std::size_t j = view.dims.size(); j-- > 0;) {
        if (view.dims[j] != 1 && strides[j] != expected) {
            return false;
        }
        expected *= view.dims[j];
    }
    return offset == 0 && expected == step;
}

std::optional<View> compose_views(const View& inner_view, const View& outer_view) {
    View inner = inner_view;
    View outer = outer_view;
    ASSERT(element_count(inner.dims) == input_count(outer));
    if (!align(inner, outer) || outer.dims.size() > canonical::kMaxViewAxes) {
        return std::nullopt;
    }
    for (std::size_t j = 0; j < inner.dims.size(); ++j) {
        if (!keeps_bounds(inner, outer, j)) {
            return std::nullopt;
        }
    }
    View out{outer.dims, {}};
    for (const ViewAxis& axis : inner.axes) {
        auto composed = substitute(axis, inner, outer);
        if (!composed) {
            return std::nullopt;
        }
        out.axes.push_back(*std::move(composed));
    }
    return out;
}

}  // namespace assay::program
