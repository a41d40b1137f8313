// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/view_cut.hpp>

#include <limits>
#include <utility>

namespace assay::program {

using canonical::View;
using canonical::ViewAxis;

CoordinateRange range_of(const ViewAxis& axis, const Dims& dims) {
    CoordinateRange range{axis.offset, axis.offset};
    for (std::size_t j = 0; j < dims.size(); ++j) {
        const std::int64_t most = std::int64_t{axis.strides[j]} * (dims[j] - 1);
        (most < 0 ? range.low : range.high) += most;
    }
    return range;
}

bool is_always_inside(const ViewAxis& axis, const Dims& dims) {
    const CoordinateRange range = range_of(axis, dims);
    return axis.divisor == 1 && range.low >= 0 && range.high < axis.size;
}

bool fits_i32(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

bool cut_axis(View& view, std::size_t at, std::uint32_t inner) {
    const ViewAxis& axis = view.axes[at];
    if (axis.divisor != 1 || inner < 2 || inner >= axis.size || axis.size % inner != 0) {
        return false;
    }
    ViewAxis high{axis.size / inner, 0, 1, std::vector<std::int32_t>(view.dims.size(), 0)};
    ViewAxis low{inner, 0, 1, std::vector<std::int32_t>(view.dims.size(), 0)};
    const auto step = static_cast<std::int32_t>(inner);
    for (std::size_t j = 0; j < view.dims.size(); ++j) {
        const std::int32_t stride = view.dims[j] == 1 ? 0 : axis.strides[j];
        (stride % step == 0 ? high.strides[j] : low.strides[j]) = stride % step == 0 ? stride / step : stride;
    }
    // The least offset of b that agrees with the whole one modulo inner and leaves b at least 0.
    const std::int64_t least = -range_of(low, view.dims).low;
    const std::int64_t excess = ((axis.offset - least) % step + step) % step;
    const std::int64_t offset = least + excess;
    if (!fits_i32(offset)) {
        return false;
    }
    low.offset = static_cast<std::int32_t>(offset);
    high.offset = static_cast<std::int32_t>((axis.offset - offset) / step);
    if (!is_always_inside(low, view.dims)) {
        return false;
    }
    view.axes[at] = std::move(high);
    view.axes.insert(view.axes.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(low));
    return true;
}

}  // namespace assay::program
