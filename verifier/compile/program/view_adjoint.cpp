// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <core/base/assert.hpp>
#include <verifier/compile/program/view_cut.hpp>

namespace assay::program {

using canonical::View;
using canonical::ViewAxis;

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
        const CoordinateRange range = range_of(axis, view.dims);
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
