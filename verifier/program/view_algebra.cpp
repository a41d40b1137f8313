// SPDX-License-Identifier: Apache-2.0
#include <verifier/program/array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::program {

using canonical::View;
using canonical::ViewAxis;

namespace {

// The numerators that an axis' coordinate takes.
struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

Range range_of(const ViewAxis& axis, const Dims& dims) {
    Range range{axis.offset, axis.offset};
    for (std::size_t j = 0; j < dims.size(); ++j) {
        const std::int64_t most = std::int64_t{axis.strides[j]} * (dims[j] - 1);
        (most < 0 ? range.low : range.high) += most;
    }
    return range;
}

bool is_always_inside(const ViewAxis& axis, const Dims& dims) {
    const Range range = range_of(axis, dims);
    return axis.divisor == 1 && range.low >= 0 && range.high < axis.size;
}

bool fits_i32(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

std::uint64_t input_count(const View& view) {
    std::uint64_t count = 1;
    for (const ViewAxis& axis : view.axes) {
        count *= axis.size;
    }
    return count;
}

// Cuts axis `at` into one of size / inner and one of size inner, if the coordinate is inner * a + b with whole a and b
// and b always in 0 .. inner-1.
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
        if (have == want && in > 0 && out > 0) {
            --in;
            --out;
        } else if (have == 1 && in > 0) {
            // An axis of one element: the other side gets one too.
            outer.axes.insert(outer.axes.begin() + static_cast<std::ptrdiff_t>(out),
                              ViewAxis{1, 0, 1, std::vector<std::int32_t>(outer.dims.size(), 0)});
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

namespace {

// A linear form over the adjoint's indices: first those of the view's input axes (x), then those of its output axes
// (y), then the constant.
using Form = std::vector<std::int64_t>;

void reduce(Form& form, std::int64_t* divisor) {
    std::int64_t common = divisor != nullptr ? *divisor : 0;
    for (const std::int64_t c : form) {
        common = std::gcd(common, c);
    }
    if (common > 1) {
        for (std::int64_t& c : form) {
            c /= common;
        }
        if (divisor != nullptr) {
            *divisor /= common;
        }
    }
}

// Solves the equations "coordinate i is x_i" for the y: as many as possible, each as form / divisor over x and the y
// that stay free.
class Inversion {
  public:
    explicit Inversion(const View& view) : view_(view), x_count_(view.axes.size()), y_count_(view.dims.size()) {
        solved_.resize(y_count_);
        for (const ViewAxis& axis : view.axes) {
            add_equation(axis);
        }
    }

    View adjoint() const;

  private:
    struct Solution {
        Form form;
        std::int64_t divisor = 1;
    };

    void add_equation(const ViewAxis& axis);
    // form = 0 with the solution in the place of y_j.
    void eliminate(Form& form, std::size_t j, const Solution& solution) const;
    void solve_for(std::size_t j, Form form);
    ViewAxis to_axis(const Form& form, std::int64_t divisor, std::uint32_t size, const View& out) const;

    const View& view_;
    std::size_t x_count_;
    std::size_t y_count_;
    std::size_t equations_ = 0;
    std::vector<std::optional<Solution>> solved_;
    std::vector<Form> constraints_;
};

void Inversion::eliminate(Form& form, std::size_t j, const Solution& solution) const {
    const std::int64_t factor = form[x_count_ + j];
    if (factor == 0) {
        return;
    }
    form[x_count_ + j] = 0;
    for (std::size_t i = 0; i < form.size(); ++i) {
        form[i] = form[i] * solution.divisor + factor * solution.form[i];
    }
}

void Inversion::solve_for(std::size_t j, Form form) {
    const std::int64_t factor = form[x_count_ + j];
    form[x_count_ + j] = 0;
    for (std::int64_t& c : form) {
        c = factor > 0 ? -c : c;
    }
    Solution solution{std::move(form), std::abs(factor)};
    reduce(solution.form, &solution.divisor);
    for (auto& other : solved_) {
        if (other && other->form[x_count_ + j] != 0) {
            eliminate(other->form, j, solution);
            other->divisor *= solution.divisor;
            reduce(other->form, &other->divisor);
        }
    }
    solved_[j] = std::move(solution);
}

void Inversion::add_equation(const ViewAxis& axis) {
    Form form(x_count_ + y_count_ + 1, 0);
    form[equations_++] = axis.size == 1 ? 0 : -std::int64_t{axis.divisor};
    form.back() = axis.offset;
    for (std::size_t j = 0; j < y_count_; ++j) {
        form[x_count_ + j] = axis.strides[j];
    }
    for (std::size_t j = 0; j < y_count_; ++j) {
        if (solved_[j]) {
            eliminate(form, j, *solved_[j]);
        }
    }
    reduce(form, nullptr);
    // The y that is solved for need not be walked over: the longest.
    std::optional<std::size_t> longest;
    for (std::size_t j = 0; j < y_count_; ++j) {
        if (form[x_count_ + j] != 0 && (!longest || view_.dims[j] > view_.dims[*longest])) {
            longest = j;
        }
    }
    if (longest) {
        solve_for(*longest, std::move(form));
    } else if (std::any_of(form.begin(), form.end(), [](std::int64_t c) { return c != 0; })) {
        constraints_.push_back(std::move(form));
    }
}

ViewAxis Inversion::to_axis(const Form& form, std::int64_t divisor, std::uint32_t size, const View& out) const {
    ASSERT(divisor <= canonical::kMaxDimension && std::all_of(form.begin(), form.end(), fits_i32));
    ViewAxis axis{size, static_cast<std::int32_t>(form.back()), static_cast<std::uint32_t>(divisor), {}};
    for (std::size_t i = 0; i < x_count_; ++i) {
        axis.strides.push_back(static_cast<std::int32_t>(form[i]));
    }
    for (std::size_t j = 0; j < y_count_; ++j) {
        if (!solved_[j]) {
            axis.strides.push_back(static_cast<std::int32_t>(form[x_count_ + j]));
        }
    }
    axis.strides.resize(out.dims.size(), 0);
    return axis;
}

View Inversion::adjoint() const {
    View out;
    for (const ViewAxis& axis : view_.axes) {
        out.dims.push_back(axis.size);
    }
    for (std::size_t j = 0; j < y_count_; ++j) {
        if (!solved_[j]) {
            out.dims.push_back(view_.dims[j]);
        }
    }
    if (out.dims.empty()) {
        out.dims.push_back(1);
    }
    for (std::size_t j = 0; j < y_count_; ++j) {
        Form itself(x_count_ + y_count_ + 1, 0);
        itself[x_count_ + j] = 1;
        out.axes.push_back(
            solved_[j] ? to_axis(solved_[j]->form, solved_[j]->divisor, view_.dims[j], out)
                       : to_axis(itself, 1, view_.dims[j], out)
        );
    }
    // What has to be 0 is an axis of one element.
    for (const Form& form : constraints_) {
        out.axes.push_back(to_axis(form, 1, 1, out));
    }
    if (out.axes.empty()) {
        out.axes.push_back(ViewAxis{1, 0, 1, std::vector<std::int32_t>(out.dims.size(), 0)});
    }
    ASSERT(out.dims.size() <= canonical::kMaxViewAxes && out.axes.size() <= canonical::kMaxViewAxes);
    return out;
}

// Cuts input axes that are read like several, so that each is solved for on its own.
void cut_where_possible(View& view) {
    for (std::size_t i = 0; i < view.axes.size();) {
        bool is_cut = false;
        for (std::size_t j = 0; j < view.dims.size() && !is_cut; ++j) {
            const std::int64_t stride = std::abs(std::int64_t{view.axes[i].strides[j]});
            const std::vector<std::int32_t>& all = view.axes[i].strides;
            const bool leaves_some = stride > 1 && stride < view.axes[i].size &&
                                     std::any_of(all.begin(), all.end(), [=](auto s) { return s % stride != 0; });
            is_cut = leaves_some && cut_axis(view, i, static_cast<std::uint32_t>(stride));
        }
        i += is_cut ? 0 : 1;
    }
}

// Without output axes of one element, whose index is always 0.
View without_single_dims(const View& view) {
    View out{{}, view.axes};
    for (ViewAxis& axis : out.axes) {
        axis.strides.clear();
    }
    for (std::size_t j = 0; j < view.dims.size(); ++j) {
        if (view.dims[j] == 1) {
            continue;
        }
        out.dims.push_back(view.dims[j]);
        for (std::size_t i = 0; i < view.axes.size(); ++i) {
            out.axes[i].strides.push_back(view.axes[i].strides[j]);
        }
    }
    return out;
}

// Without input axes of one element that are always read at 0.
void drop_single_axes(View& view) {
    std::erase_if(view.axes, [&](const ViewAxis& axis) {
        const Range range = range_of(axis, view.dims);
        return axis.size == 1 && range.low == 0 && range.high == 0;
    });
}

}  // namespace

View adjoint_view(const View& view) {
    View finer = without_single_dims(view);
    cut_where_possible(finer);
    drop_single_axes(finer);
    return Inversion(finer).adjoint();
}

}  // namespace assay::program
