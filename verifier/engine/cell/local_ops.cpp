// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/local_ops.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <core/base/assert.hpp>
#include <core/canonical/view.hpp>
#include <verifier/engine/fused/row_kernels.hpp>

namespace assay::engine::cell {

using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;
using plan::Block;
using plan::IndexSet;

namespace {

constexpr std::uint32_t kFill = ~0U;

template <class T>
T* data_of(Tensor& tensor) {
    return reinterpret_cast<T*>(tensor.data.data());
}
template <class T>
const T* data_of(const Tensor& tensor) {
    return reinterpret_cast<const T*>(tensor.data.data());
}

// Calls f(extent, offset of its first element) for the rows of each range, of all columns.
template <class F>
void for_each_range(const Block& work, F f) {
    std::size_t at = 0;
    for (const IndexSet::Range& range : work.rows.ranges()) {
        const fused::Extent extent{
            .rows = range.end - range.begin, .cols = work.cols.count(), .first_row = range.begin};
        f(extent, at);
        at += extent.size();
    }
}

// NUM-32, NUM-35, where columns are missing: whole rows, of which the columns are taken.
void draw(const Node& node, const Block& work, const canonical::StepContext& context, float* out) {
    const std::size_t cols = node.shape.cols;
    const std::uint32_t parameter = node.attributes[0];
    const std::uint32_t tensor = node.attributes[1];
    const bool is_whole = work.cols.count() == cols;
    const auto draw_rows = [&](fused::Extent extent, float* to) {
        if (node.op == Op::kUniform) {
            fused::run_uniform(extent, context, parameter, tensor, to);
        } else {
            fused::run_bernoulli(extent, context, parameter, tensor, to);
        }
    };
    if (is_whole) {
        return for_each_range(work, [&](fused::Extent extent, std::size_t at) { draw_rows(extent, out + at); });
    }
    const std::vector<std::uint32_t> columns = work.cols.indices();
    std::vector<float> row(cols);
    for (const std::uint32_t index : work.rows.indices()) {
        draw_rows({.rows = 1, .cols = cols, .first_row = index}, row.data());
        for (const std::uint32_t column : columns) {
            *out++ = row[column];
        }
    }
}

void mask(const Node& node, const Block& work, const float* x, float* out) {
    const float fill = std::bit_cast<float>(node.attributes[1]);
    if (work.cols.count() == node.shape.cols) {
        return for_each_range(work, [&](fused::Extent extent, std::size_t at) {
            fused::run_causal_mask(extent, x + at, node.attributes[0], fill, out + at);
        });
    }
    const std::vector<std::uint32_t> columns = work.cols.indices();
    std::vector<float> row(node.shape.cols);
    std::vector<float> masked(node.shape.cols);
    for (const std::uint32_t index : work.rows.indices()) {
        for (std::size_t j = 0; j < columns.size(); ++j) {
            row[columns[j]] = *x++;
        }
        const fused::Extent extent{.rows = 1, .cols = node.shape.cols, .first_row = index};
        fused::run_causal_mask(extent, row.data(), node.attributes[0], fill, masked.data());
        for (const std::uint32_t column : columns) {
            *out++ = masked[column];
        }
    }
}

// NUM-14 for some of the columns: the exponent is that of the column's chunk.
void quantise(const Node& node, const Block& work, const Tensor& x, const Tensor& exponents, std::int32_t* out) {
    const auto [precision, chunk] = node.attributes;
    const std::vector<std::uint32_t> columns = work.cols.indices();
    std::vector<std::size_t> exponent_of(columns.size());  // the exponents that there are belong to these chunks
    for (std::size_t j = 1; j < columns.size(); ++j) {
        exponent_of[j] = exponent_of[j - 1] + (columns[j] / chunk != columns[j - 1] / chunk ? 1U : 0U);
    }
    const double limit = fused::limit_of(precision);
    const std::size_t rows = work.rows.count();
    std::vector<double> scales(exponents.shape.cols);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t* e = data_of<std::int32_t>(exponents) + (exponents.shape.rows == 1 ? 0 : i * scales.size());
        for (std::size_t c = 0; c < scales.size(); ++c) {
            scales[c] = fused::power_of_two(std::int64_t{precision} - e[c]);
        }
        const float* from = data_of<float>(x) + i * columns.size();
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const double scaled = static_cast<double>(from[j]) * scales[exponent_of[j]];
            const double bounded = std::min(std::max(scaled, -limit), limit);
            *out++ = std::isfinite(from[j]) ? static_cast<std::int32_t>((bounded + 0x1.8p52) - 0x1.8p52) : 0;
        }
    }
}

void batch(
    const Node& node, const Block& work, const canonical::StepContext& context, const canonical::RowSource& rows,
    std::uint8_t* out
) {
    for (const std::uint32_t row : work.rows.indices()) {
        const std::uint64_t position = context.step * node.shape.rows + row;
        const Bytes values = rows.row(canonical::batch_row(context.seed, position, context.dataset.rows));
        ASSERT(values.size() == std::size_t{node.shape.cols} * 4);
        for (const IndexSet::Range& range : work.cols.ranges()) {
            const std::size_t bytes = std::size_t{range.end - range.begin} * 4;
            std::memcpy(out, values.data() + std::size_t{range.begin} * 4, bytes);
            out += bytes;
        }
    }
}

}  // namespace

bool is_positional(const Node& node, const Block& work) {
    switch (node.op) {
        case Op::kView:
        case Op::kUniform:
        case Op::kBernoulli:
        case Op::kBatchRows:
        case Op::kCausalMask:
            return true;
        case Op::kQuantise:
            return work.cols.count() != node.shape.cols && node.inputs[1].shape.cols > 1;
        default:
            return false;
    }
}

Tensor run_positional(
    const Node& node, const Block& work, std::span<const Tensor> inputs, const canonical::StepContext& context,
    const canonical::RowSource& rows
) {
    Tensor out = canonical::make_tensor(node.dtype, work.shape());
    switch (node.op) {
        case Op::kBatchRows:
            batch(node, work, context, rows, out.data.data());
            break;
        case Op::kCausalMask:
            mask(node, work, data_of<float>(inputs[0]), data_of<float>(out));
            break;
        case Op::kQuantise:
            quantise(node, work, inputs[0], inputs[1], data_of<std::int32_t>(out));
            break;
        default:
            draw(node, work, context, data_of<float>(out));
            break;
    }
    return out;
}

ViewTable::ViewTable(const Node& node, const Block& work, const Block& input)
    : node_(node), work_(work), input_(input) {
    const Shape from = node.inputs[0].shape;
    const auto positions = [](const IndexSet& set, std::uint32_t size) {
        std::vector<std::uint32_t> out(size, kFill);
        std::uint32_t position = 0;
        for (const std::uint32_t index : set.indices()) {
            out[index] = position++;
        }
        return out;
    };
    const std::vector<std::uint32_t> rows = positions(input.rows, from.rows);
    const std::vector<std::uint32_t> cols = positions(input.cols, from.cols);
    ASSERT(input.element_count() < kFill);
    sources_.reserve(work.element_count());
    canonical::ViewCursor cursor(*node_.view);
    for (const std::uint32_t row : work.rows.indices()) {
        for (const IndexSet::Range& range : work.cols.ranges()) {
            cursor.seek(std::uint64_t{row} * node.shape.cols + range.begin);
            for (std::uint64_t left = range.end - range.begin; left > 0;) {
                const canonical::ViewRun run = cursor.next(left);
                for (std::uint64_t i = 0; i < run.count; ++i) {
                    const std::uint64_t source = run.source + i * static_cast<std::uint64_t>(run.step);
                    const std::uint32_t at_row = run.is_fill ? kFill : rows[source / from.cols];
                    const std::uint32_t at_col = run.is_fill ? kFill : cols[source % from.cols];
                    ASSERT(run.is_fill || (at_row != kFill && at_col != kFill));
                    sources_.push_back(run.is_fill ? kFill : at_row * input.cols.count() + at_col);
                }
                left -= run.count;
            }
        }
    }
}

bool ViewTable::is_for(const Node& node, const Block& work, const Block& input) const {
    return node_.view == node.view && node_.shape == node.shape && node_.inputs[0].shape == node.inputs[0].shape &&
           work_ == work && input_ == input && node_.dtype == node.dtype && node_.attributes == node.attributes;
}

Tensor ViewTable::run(const Tensor& input) const {
    Tensor out = canonical::make_tensor(node_.dtype, work_.shape());
    const auto copy = [&](auto* to, const auto* from, auto fill) {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            to[i] = sources_[i] == kFill ? fill : from[sources_[i]];
        }
    };
    if (node_.dtype == canonical::DType::kI64) {
        copy(data_of<std::int64_t>(out), data_of<std::int64_t>(input), std::int64_t{0});
        return out;
    }
    std::uint32_t fill = node_.attributes[0];
    if (node_.dtype == canonical::DType::kF32) {  // NUM-7
        const auto value = std::bit_cast<float>(fill);
        fill = value != value ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value + 0.0F);
    }
    copy(data_of<std::uint32_t>(out), data_of<std::uint32_t>(input), fill);
    return out;
}

Tensor magnitudes(const Node& node, const Block& work, const IndexSet& depth, const Tensor& x) {
    Tensor out = canonical::make_tensor(canonical::DType::kI32, work.shape());
    const std::uint32_t chunk = node.attributes[0];
    const std::vector<std::uint32_t> columns = depth.indices();
    const std::vector<std::uint32_t> chunks = work.cols.indices();
    const auto* from = data_of<std::uint32_t>(x);
    auto* to = data_of<std::uint32_t>(out);
    for (std::size_t i = 0; i < work.rows.count(); ++i) {
        std::size_t c = 0;
        for (const std::uint32_t column : columns) {
            while (chunks[c] < column / chunk) {
                ++c;
            }
            const std::uint32_t magnitude = *from++ & 0x7fffffffU;
            to[c] = magnitude < 0x7f800000U ? std::max(to[c], magnitude) : to[c];
        }
        to += chunks.size();
    }
    return out;
}

Tensor exponents_of(const Tensor& magnitudes) {
    Tensor out = canonical::make_tensor(canonical::DType::kI32, magnitudes.shape);
    const fused::Extent extent{.rows = magnitudes.shape.rows, .cols = magnitudes.shape.cols, .first_row = 0};
    fused::run_row_exponent(extent, data_of<float>(magnitudes), 1, data_of<std::int32_t>(out));
    return out;
}

Tensor finish_product(
    const Node& node, const Block& out, std::span<const std::vector<std::int64_t>> sums, const Tensor& exponent_a,
    const Tensor& exponent_b
) {
    Tensor result = canonical::make_tensor(node.dtype, out.shape());
    const std::int64_t precision = node.attributes[0];
    const std::uint32_t group_rows = node.shape.rows / canonical::group_count(node);
    const std::size_t cols = out.cols.count();
    const std::size_t chunks = exponent_a.shape.cols;
    std::vector<double> scale_b(static_cast<std::size_t>(exponent_b.shape.rows) * chunks);
    for (std::size_t i = 0; i < scale_b.size(); ++i) {
        scale_b[i] = fused::power_of_two(data_of<std::int32_t>(exponent_b)[i] - precision);
    }
    std::vector<double> total(cols);
    std::size_t row = 0;
    std::size_t group = 0;  // of those that are present
    std::uint32_t last = 0;
    for (const std::uint32_t index : out.rows.indices()) {
        group += row > 0 && index / group_rows != last ? 1U : 0U;
        last = index / group_rows;
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            const double scale_a =
                fused::power_of_two(data_of<std::int32_t>(exponent_a)[row * chunks + chunk] - precision);
            const std::int64_t* exact = sums[chunk].data() + row * cols;
            for (std::size_t j = 0; j < cols; ++j) {
                const double v = static_cast<double>(exact[j]) * scale_a * scale_b[(group * cols + j) * chunks + chunk];
                total[j] = chunk == 0 ? v : total[j] + v;
            }
        }
        float* to = data_of<float>(result) + row * cols;
        for (std::size_t j = 0; j < cols; ++j) {
            to[j] = static_cast<float>(total[j]) + 0.0F;
        }
        ++row;
    }
    return result;
}

}  // namespace assay::engine::cell
