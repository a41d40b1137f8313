// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/array.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::program {

using canonical::Shape;
using canonical::View;
using canonical::ViewAxis;

namespace {

template <class T>
T narrow(std::int64_t value) {
    ASSERT(value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max());
    return static_cast<T>(value);
}

// A view of `dims` whose input axes are still to be written.
View view_to(Dims dims) {
    if (dims.empty()) {
        dims.push_back(1);
    }
    ASSERT(dims.size() <= canonical::kMaxViewAxes);
    return View{std::move(dims), {}};
}

ViewAxis& add_axis(View& view, std::uint32_t size) {
    view.axes.push_back(ViewAxis{.size = size, .offset = 0, .divisor = 1, .strides = {}});
    view.axes.back().strides.resize(view.dims.size(), 0);
    return view.axes.back();
}

// One axis for each of `dims`, each reading the output's axis of the same position.
View view_along(const Dims& dims, Dims to) {
    View view = view_to(std::move(to));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        add_axis(view, dims[i]).strides[i] = 1;
    }
    if (dims.empty()) {
        add_axis(view, 1);
    }
    return view;
}

// From the front: axes of both sides are gathered until they hold the same number of elements, and read as one axis.
// Nothing where such an axis is longer than an axis of a view may be, or where there are too many.
std::optional<View> joined_axes(const Dims& dims, const Dims& to) {
    View view = view_to(to);
    const std::size_t count = view.dims.size();
    std::size_t from_next = 0;
    std::size_t to_next = 0;
    while (from_next < dims.size() || to_next < to.size()) {
        const std::size_t first = to_next;
        std::uint64_t from_count = from_next < dims.size() ? dims[from_next++] : 1;
        std::uint64_t to_count = to_next < to.size() ? to[to_next++] : 1;
        while (from_count != to_count) {
            if (from_count < to_count) {
                from_count *= dims[from_next++];
            } else {
                to_count *= to[to_next++];
            }
        }
        if (from_count > canonical::kMaxViewSize) {
            return std::nullopt;
        }
        ViewAxis& axis = add_axis(view, static_cast<std::uint32_t>(from_count));
        std::int64_t stride = 1;
        for (std::size_t i = std::min(to_next, count); i > first; --i) {
            axis.strides[i - 1] = narrow<std::int32_t>(stride);
            stride *= view.dims[i - 1];
        }
    }
    if (view.axes.empty()) {
        add_axis(view, 1);
    }
    return view.axes.size() <= canonical::kMaxViewAxes ? std::optional(std::move(view)) : std::nullopt;
}

// Leaves `rest` of axis `at`, and goes to the next one if nothing is left.
void advance(Dims& dims, std::size_t& at, std::uint32_t rest) {
    if (at < dims.size() && rest > 1) {
        dims[at] = rest;
    } else if (at < dims.size()) {
        ++at;
    }
}

// Cuts axes of both sides by their common divisors, from the front.
void cut_alike(Dims& dims, Dims& to) {
    Dims finer;
    Dims finer_to;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < dims.size() || j < to.size()) {
        std::uint32_t rest = i < dims.size() ? dims[i] : 1;
        std::uint32_t rest_to = j < to.size() ? to[j] : 1;
        const std::uint32_t common = std::gcd(rest, rest_to);
        if (common > 1) {
            finer.push_back(common);
            finer_to.push_back(common);
            rest /= common;
            rest_to /= common;
        } else if (rest > 1 && rest_to > 1) {
            finer.push_back(std::exchange(rest, 1));
            finer_to.push_back(std::exchange(rest_to, 1));
        }
        advance(dims, i, rest);
        advance(to, j, rest_to);
    }
    dims = std::move(finer);
    to = std::move(finer_to);
}

template <class T>
T at_or(const std::vector<T>& values, std::size_t i, T otherwise) {
    ASSERT(values.empty() || i < values.size());
    return values.empty() ? otherwise : values[i];
}

// One spatial axis of a window.
struct Window {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad_before = 0;
    std::int64_t pad_after = 0;
};

Window window_along(const Windows& windows, std::size_t i) {
    const Window window{
        windows.kernel[i], at_or(windows.stride, i, 1U), at_or(windows.dilation, i, 1U),
        at_or(windows.pad_before, i, 0), at_or(windows.pad_after, i, 0)};
    ASSERT(window.kernel > 0 && window.stride > 0 && window.dilation > 0);
    return window;
}

std::uint32_t window_count(std::uint32_t size, const Window& window, bool rounds_up) {
    const std::int64_t room = size + window.pad_before + window.pad_after - window.dilation * (window.kernel - 1) - 1;
    ASSERT(room >= 0);
    std::int64_t count = room / window.stride + 1;
    if (rounds_up && room % window.stride != 0 && count * window.stride < size + window.pad_before) {
        ++count;  // it starts inside the array or the padding before it
    }
    return narrow<std::uint32_t>(count);
}

std::size_t spatial_axes(const Dims& dims, const Windows& windows) {
    ASSERT(dims.size() >= 3 && windows.kernel.size() == dims.size() - 2);
    return windows.kernel.size();
}

}  // namespace

std::uint64_t element_count(std::span<const std::uint32_t> dims) {
    std::uint64_t count = 1;
    for (const std::uint32_t size : dims) {
        ASSERT(size > 0 && count <= std::numeric_limits<std::uint64_t>::max() / size);
        count *= size;
    }
    return count;
}

Shape matrix_shape(std::span<const std::uint32_t> dims) {
    if (dims.empty()) {
        return Shape{1, 1};
    }
    const std::uint64_t rows = element_count(dims.first(dims.size() - 1));
    ASSERT(rows <= canonical::kMaxDimension);
    return Shape{static_cast<std::uint32_t>(rows), dims.back()};
}

std::optional<View> try_reshape_view(const Dims& dims, const Dims& to) {
    ASSERT(element_count(dims) == element_count(to));
    if (auto view = joined_axes(dims, to)) {
        return view;
    }
    Dims finer = dims;
    Dims finer_to = to;
    cut_alike(finer, finer_to);
    return finer_to.size() <= canonical::kMaxViewAxes ? joined_axes(finer, finer_to) : std::nullopt;
}

View reshape_view(const Dims& dims, const Dims& to) {
    auto view = try_reshape_view(dims, to);
    ASSERT(view.has_value());
    return *std::move(view);
}

View permute_view(const Dims& dims, std::span<const std::uint32_t> order) {
    ASSERT(order.size() == dims.size());
    Dims to;
    std::vector<bool> is_used(dims.size(), false);
    for (const std::uint32_t axis : order) {
        ASSERT(axis < dims.size() && !is_used[axis]);
        is_used[axis] = true;
        to.push_back(dims[axis]);
    }
    View view = view_to(to);
    for (const std::uint32_t size : dims) {
        add_axis(view, size);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        view.axes[order[i]].strides[i] = 1;
    }
    if (dims.empty()) {
        add_axis(view, 1);
    }
    return view;
}

View slice_view(const Dims& dims, std::uint32_t axis, std::int64_t first, std::uint32_t count, std::int32_t step) {
    ASSERT(axis < dims.size() && count > 0);
    const std::int64_t last = first + std::int64_t{step} * (count - 1);
    ASSERT(std::min(first, last) >= 0 && std::max(first, last) < dims[axis]);
    Dims to = dims;
    to[axis] = count;
    View view = view_along(dims, std::move(to));
    view.axes[axis].offset = narrow<std::int32_t>(first);
    view.axes[axis].strides[axis] = step;
    return view;
}

View pad_view(const Dims& dims, std::span<const std::int32_t> before, std::span<const std::int32_t> after) {
    ASSERT(before.size() == dims.size() && after.size() == dims.size());
    Dims to;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const std::int64_t size = std::int64_t{dims[i]} + before[i] + after[i];
        ASSERT(size > 0);
        to.push_back(narrow<std::uint32_t>(size));
    }
    View view = view_along(dims, std::move(to));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        view.axes[i].offset = -before[i];
    }
    return view;
}

View expand_view(const Dims& dims, const Dims& to) {
    ASSERT(dims.size() <= to.size());
    View view = view_to(to);
    const std::size_t missing = to.size() - dims.size();
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const bool is_repeated = dims[i] != to[missing + i];
        ASSERT(!is_repeated || dims[i] == 1);
        add_axis(view, dims[i]).strides[missing + i] = is_repeated ? 0 : 1;
    }
    if (dims.empty()) {
        add_axis(view, 1);
    }
    return view;
}

Dims window_dims(const Dims& dims, const Windows& windows) {
    const std::size_t axes = spatial_axes(dims, windows);
    Dims out = dims;
    for (std::size_t i = 0; i < axes; ++i) {
        out[1 + i] = window_count(dims[1 + i], window_along(windows, i), windows.rounds_up);
    }
    return out;
}

View windows_view(const Dims& dims, const Windows& windows) {
    const std::size_t axes = spatial_axes(dims, windows);
    Dims to = window_dims(dims, windows);
    to.insert(to.end() - 1, windows.kernel.begin(), windows.kernel.end());
    View view = view_to(std::move(to));
    add_axis(view, dims.front()).strides.front() = 1;
    for (std::size_t i = 0; i < axes; ++i) {
        const Window window = window_along(windows, i);
        ViewAxis& axis = add_axis(view, dims[1 + i]);
        axis.offset = narrow<std::int32_t>(-window.pad_before);
        axis.strides[1 + i] = narrow<std::int32_t>(window.stride);
        axis.strides[1 + axes + i] = narrow<std::int32_t>(window.dilation);
    }
    add_axis(view, dims.back()).strides.back() = 1;
    return view;
}

View windows_at_view(const Dims& dims, const Windows& windows, std::uint32_t channels) {
    const std::size_t axes = spatial_axes(dims, windows);
    const Dims from = window_dims(dims, windows);
    Dims to = dims;
    to.back() = channels;
    to.insert(to.end() - 1, windows.kernel.begin(), windows.kernel.end());
    View view = view_to(std::move(to));
    add_axis(view, dims.front()).strides.front() = 1;
    for (std::size_t i = 0; i < axes; ++i) {
        const Window window = window_along(windows, i);
        ViewAxis& axis = add_axis(view, from[1 + i]);
        axis.offset = narrow<std::int32_t>(window.pad_before);
        axis.divisor = narrow<std::uint32_t>(window.stride);
        axis.strides[1 + i] = 1;
        axis.strides[1 + axes + i] = narrow<std::int32_t>(-window.dilation);
    }
    add_axis(view, channels).strides.back() = 1;
    return view;
}

View kernel_last(const View& windows, std::size_t axes) {
    ASSERT(windows.dims.size() == 2 * axes + 2);
    View view = windows;
    const auto move_channels = [axes](auto& values) {
        std::rotate(values.begin() + static_cast<std::ptrdiff_t>(1 + axes), values.end() - 1, values.end());
    };
    move_channels(view.dims);
    for (ViewAxis& axis : view.axes) {
        move_channels(axis.strides);
    }
    return view;
}

View at_rest(const View& view, std::uint64_t elements, std::uint64_t index) {
    View out = view;
    std::uint64_t all = element_count(view.dims);
    while (all > elements) {
        const std::uint32_t size = out.dims.back();
        const auto at = static_cast<std::int64_t>(index % size);
        for (canonical::ViewAxis& axis : out.axes) {
            const std::int64_t offset = axis.offset + at * axis.strides.back();
            axis.offset = narrow<std::int32_t>(offset);
            axis.strides.pop_back();
        }
        out.dims.pop_back();
        index /= size;
        all /= size;
    }
    return out;
}

}  // namespace assay::program
