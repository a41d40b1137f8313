// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <core/base/assert.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

using canonical::Shape;
using canonical::View;

namespace {

Dims spatial_and_batch(const Dims& dims) { return Dims(dims.begin(), dims.end() - 1); }

// Of an array whose last `last` axes are the columns.
Shape shape_with_columns(const Dims& dims, std::size_t last) {
    const auto rows = std::span(dims).first(dims.size() - last);
    const auto cols = std::span(dims).last(last);
    ASSERT(element_count(rows) <= canonical::kMaxDimension && element_count(cols) <= canonical::kMaxDimension);
    return Shape{static_cast<std::uint32_t>(element_count(rows)), static_cast<std::uint32_t>(element_count(cols))};
}

// A pass over memory costs about as much as this many multiply-adds of a contraction; and so many passes are made over
// the operand of one, or over the terms of a sum.
constexpr std::uint64_t kPassCost = 8;
constexpr std::uint64_t kOperandPasses = 3;
constexpr std::uint64_t kSumPasses = 5;
// What a correlation reads is written out, so it has a limit.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28U;

// Whether the input's gradient is possible, and cheaper, as a correlation of the output's gradient with the kernel (a
// contraction for each place of the input) than as a product for each window whose columns are then summed where
// windows overlap.
bool is_correlation_cheaper(const Dims& dims, const Dims& out, std::uint64_t kernel) {
    const std::uint64_t channels = dims.back();
    const std::uint64_t out_channels = out.back();
    const std::uint64_t places = element_count(spatial_and_batch(dims));
    const std::uint64_t windows = element_count(spatial_and_batch(out));
    if (kernel * out_channels > canonical::kMaxDimension || places * kernel * out_channels > kMostElements) {
        return false;
    }
    const std::uint64_t correlation = places * kernel * out_channels * (channels + kOperandPasses * kPassCost);
    const std::uint64_t sums = kernel == 1 ? 1 : kernel * kSumPasses;
    return correlation <= windows * kernel * channels * out_channels + places * channels * sums * kPassCost;
}

}  // namespace

Value Tape::conv_back(const Convolution& conv, const Value& gradient) {
    const Dims& dims = conv.dims;
    const std::size_t axes = dims.size() - 2;
    const std::uint32_t out_channels = conv.weight.shape.rows;
    Dims out = window_dims(dims, conv.windows);
    out.back() = out_channels;
    if (!is_correlation_cheaper(dims, out, element_count(conv.windows.kernel))) {
        const Value weight = graph_.transpose(conv.weight);
        return sum_back(
            windows_view(dims, conv.windows), graph_.matmul_nt(gradient, weight, conv.profile), matrix_shape(dims)
        );
    }
    const View windows = windows_at_view(dims, conv.windows, out_channels);
    // [out channels, kernel..., channels] -> [channels, kernel..., out channels]
    const std::uint32_t kernel = static_cast<std::uint32_t>(element_count(conv.windows.kernel));
    constexpr std::array<std::uint32_t, 3> kOrder{2, 1, 0};
    const Value weight = graph_.view(
        conv.weight, permute_view({out_channels, kernel, dims.back()}, kOrder),
        Shape{dims.back(), kernel * out_channels}
    );
    return graph_.matmul_nt(
        graph_.view(gradient, windows, shape_with_columns(windows.dims, axes + 1)), weight, conv.profile
    );
}

Value Tape::conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight, const Value& bias) {
    return add(conv(x, dims, windows, weight), bias);
}

Value Tape::conv(const Value& x, const Dims& dims, const Windows& windows, const Value& weight) {
    const std::size_t axes = windows.kernel.size();
    const View view = windows_view(dims, windows);
    const Value columns = graph_.view(x, view, shape_with_columns(view.dims, axes + 1));
    ASSERT(weight.shape.cols == columns.shape.cols && x.shape == matrix_shape(dims));
    const Convolution conv{dims, windows, weight, profile_};
    return record(graph_.matmul_nt(columns, weight, profile_), [x, columns, conv](Tape& tape, const Value& gradient) {
        GraphBuilder& graph = tape.graph_;
        if (tape.wants(conv.weight)) {
            const Value left = graph.transpose(gradient);
            tape.accumulate(conv.weight, graph.matmul_nt(left, graph.transpose(columns), conv.profile));
        }
        if (tape.wants(x)) {
            tape.accumulate(x, tape.conv_back(conv, gradient));
        }
    });
}

Value Tape::max_pool_by_places(const Value& x, const Dims& dims, const Windows& windows) {
    const View view = kernel_last(windows_view(dims, windows), windows.kernel.size());
    const Dims found = window_dims(dims, windows);
    const std::uint64_t count = element_count(found);
    const auto at = [&](std::uint64_t place) {
        return this->view(x, at_rest(view, count, place), matrix_shape(found), -std::numeric_limits<float>::infinity());
    };
    Value out = at(0);
    for (std::uint64_t place = 1; place < element_count(windows.kernel); ++place) {
        out = max(at(place), out);  // on ties the gradient goes to the second
    }
    return out;
}

Value Tape::avg_pool_by_places(const Value& x, const Dims& dims, const Windows& windows) {
    const View view = kernel_last(windows_view(dims, windows), windows.kernel.size());
    const Dims found = window_dims(dims, windows);
    const std::uint64_t places = element_count(windows.kernel);
    Value sum = this->view(x, at_rest(view, element_count(found), 0), matrix_shape(found));
    for (std::uint64_t place = 1; place < places; ++place) {
        sum = add(sum, this->view(x, at_rest(view, element_count(found), place), matrix_shape(found)));
    }
    return scale(sum, 1.0F / static_cast<float>(places));
}

Value Tape::max_pool(const Value& x, const Dims& dims, const Windows& windows) {
    if (element_count(window_dims(dims, windows)) > canonical::kMaxDimension) {
        return max_pool_by_places(x, dims, windows);
    }
    const std::size_t axes = windows.kernel.size();
    const View view = kernel_last(windows_view(dims, windows), axes);
    const Shape shape = matrix_shape(window_dims(dims, windows));
    const Value terms =
        graph_.view(x, view, shape_with_columns(view.dims, axes), -std::numeric_limits<float>::infinity());
    const Value largest = graph_.row_max(terms);
    const auto rows = largest.shape.rows;
    const Value out = graph_.view(largest, reshape_view({rows}, {shape.rows, shape.cols}), shape);
    return record(out, [x, view, terms, rows](Tape& tape, const Value& gradient) {
        if (!tape.wants(x)) {
            return;
        }
        GraphBuilder& graph = tape.graph_;
        const Value column =
            graph.view(gradient, reshape_view({gradient.shape.rows, gradient.shape.cols}, {rows, 1}), Shape{rows, 1});
        const Value chosen = graph.one_hot(graph.row_arg_max(terms), terms.shape.cols);
        tape.accumulate(x, tape.sum_back(view, graph.mul(chosen, column), x.shape));
    });
}

Value Tape::avg_pool(const Value& x, const Dims& dims, const Windows& windows) {
    if (std::max(element_count(window_dims(dims, windows)), element_count(dims)) > canonical::kMaxDimension) {
        return avg_pool_by_places(x, dims, windows);
    }
    const std::size_t axes = windows.kernel.size();
    const View view = kernel_last(windows_view(dims, windows), axes);
    const Shape shape = matrix_shape(window_dims(dims, windows));
    const float share = 1.0F / static_cast<float>(element_count(windows.kernel));
    const auto window_mean = [axes, share](GraphBuilder& graph, const Value& y, const View& terms, Shape to) {
        const Value sums = graph.row_sum(graph.view(y, terms, shape_with_columns(terms.dims, axes)));
        return graph.scale(graph.view(sums, reshape_view({sums.shape.rows}, {to.rows, to.cols}), to), share);
    };
    const View back = kernel_last(windows_at_view(dims, windows, dims.back()), axes);
    return pointwise(x, window_mean(graph_, x, view, shape), [=](GraphBuilder& graph, const Value& gradient) {
        return window_mean(graph, gradient, back, x.shape);
    });
}

}  // namespace assay::program
