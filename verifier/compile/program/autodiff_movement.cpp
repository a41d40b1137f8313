// SPDX-License-Identifier: Apache-2.0
#include <core/base/assert.hpp>
#include <verifier/compile/program/autodiff.hpp>

namespace assay::program {

using canonical::Shape;
using canonical::View;

namespace {

// How many of the readings of an element are summed at once: all of them, unless so many that it is better (rows can be
// worked on side by side) or necessary to sum those of the last axes first.
std::uint32_t readings_at_once(const View& back, std::uint64_t elements, std::uint64_t times) {
    constexpr std::uint64_t kMany = 1U << 16U;
    std::uint64_t at_once = times;
    if (times > kMany) {
        at_once = back.dims.back();
        for (std::size_t i = back.dims.size() - 1; i-- > 0 && at_once * back.dims[i] <= kMany;) {
            at_once *= back.dims[i];
        }
        const bool has_room = elements * (times / at_once) <= canonical::kMaxDimension;
        at_once = has_room || times > canonical::kMaxDimension ? at_once : times;
    }
    return static_cast<std::uint32_t>(at_once);
}

}  // namespace

// The adjoint gives [elements of the input, times each is read], whose rows are summed. Where there are too many
// elements for rows, the readings are added one by one.
Value Tape::sum_back(const View& view, const Value& gradient, Shape shape) {
    const View back = adjoint_view(view);
    const std::uint64_t elements = shape.element_count();
    const std::uint64_t times = element_count(back.dims) / elements;
    if (elements <= canonical::kMaxDimension && times > 1) {
        const std::uint32_t at_once = readings_at_once(back, elements, times);
        const auto rows = static_cast<std::uint32_t>(elements * (times / at_once));
        Value sums = graph_.row_sum(graph_.view(gradient, back, Shape{rows, at_once}));
        if (rows > elements) {
            const Shape rest{static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(rows / elements)};
            sums = graph_.row_sum(graph_.view(sums, reshape_view({rows}, {rest.rows, rest.cols}), rest));
        }
        const auto count = static_cast<std::uint32_t>(elements);
        return graph_.view(sums, reshape_view({count}, {shape.rows, shape.cols}), shape);
    }
    Value sum = graph_.view(gradient, at_rest(back, elements, 0), shape);
    for (std::uint64_t i = 1; i < times; ++i) {
        sum = graph_.add(sum, graph_.view(gradient, at_rest(back, elements, i), shape));
    }
    return sum;
}

Value Tape::view(const Value& x, const View& view, Shape shape, float fill) {
    const Value out = graph_.view(x, view, shape, fill);
    if (out == x) {
        return x;
    }
    return record(out, [x, view](Tape& tape, const Value& gradient) {
        if (tape.wants(x)) {
            tape.accumulate(x, tape.sum_back(view, gradient, x.shape));
        }
    });
}

Value Tape::view(const Value& x, const View& view, float fill) {
    return this->view(x, view, matrix_shape(view.dims), fill);
}

Value Tape::transpose(const Value& x, std::uint32_t groups) {
    const Value out = graph_.transpose(x, groups);
    if (out == x) {
        return x;
    }
    return pointwise(x, out, [groups](GraphBuilder& graph, const Value& gradient) {
        return graph.transpose(gradient, groups);
    });
}

Value Tape::embed(const Value& table, const Value& index) {
    return record(graph_.gather_rows(table, index), [table, index](Tape& tape, const Value& gradient) {
        if (tape.wants(table)) {
            tape.accumulate(table, tape.graph_.scatter_sum(gradient, index, table.shape));
        }
    });
}

// Each part where it belongs among zeros, and all of them added: a sum with zeros changes nothing.
Value Tape::concat(std::span<const Value> values, std::span<const Dims> dims, std::uint32_t axis) {
    ASSERT(!values.empty() && values.size() == dims.size() && axis < dims[0].size());
    Dims whole = dims[0];
    whole[axis] = 0;
    for (const Dims& part : dims) {
        whole[axis] += part[axis];
    }
    Value out;
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<std::int32_t> before(whole.size(), 0);
        std::vector<std::int32_t> after(whole.size(), 0);
        before[axis] = static_cast<std::int32_t>(first);
        after[axis] = static_cast<std::int32_t>(whole[axis] - first - dims[i][axis]);
        first += dims[i][axis];
        const Value part = view(values[i], pad_view(dims[i], before, after));
        out = i == 0 ? part : add(out, part);
    }
    return out;
}

}  // namespace assay::program
