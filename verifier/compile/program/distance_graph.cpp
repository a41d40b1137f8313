// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance_graph.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <core/canonical/measurement.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::program {

using canonical::DType;
using canonical::MeasuredColumn;
using canonical::Shape;
using canonical::TensorType;

namespace {

// Copies of a number, each times -2^31, that move its low 25 bits to the top of 64.
constexpr std::uint32_t kShiftCopies = 256;

// What the measurement's row of one group is made of.
struct Sums {
    Value drift2, update2, claimed2, dot, drift_max, update_max, not_finite, sketch;
};

// The order in which nodes are appended is a part of the protocol (TOL-1), and C++ leaves the order open in which the
// arguments of a call are computed. So no two arguments of one call append nodes.
class Measuring {
  public:
    Measuring(const std::vector<StateTensor>& state, const DistanceLayout& layout) : state_(state), layout_(layout) {}

    // Returns nothing if the graph would have more than kMaxNodes nodes.
    std::optional<canonical::Graph> write() {
        for (std::uint32_t i = 0; i < state_.size(); ++i) {
            take(i);
            if (is_full()) {
                return std::nullopt;
            }
        }
        for (Open& open : open_) {
            close(open);
        }
        const Value row0 = row_of(0);
        const Value row1 = row_of(1);
        const Value placed1 = placed(row1, canonical::kMeasurementShape, 1, 0);
        const Value placed0 = placed(row0, canonical::kMeasurementShape, 0, 0);
        const Value both = graph_.add(placed0, placed1);
        // An infinity would be a step that diverges (NUM-6), and there would be nothing to judge.
        const Value least = constant(-std::numeric_limits<float>::max());
        const Value most = constant(std::numeric_limits<float>::max());
        const std::array<Value, 1> next{graph_.max(graph_.min(both, most), least)};
        canonical::Graph graph = std::move(graph_).commit(next);
        return graph.size() <= canonical::kMaxNodes ? std::optional{std::move(graph)} : std::nullopt;
    }

  private:
    // Tensors of one group that are still to be written, as one part.
    struct Open {
        std::vector<std::uint32_t> tensors;
        std::uint64_t elements = 0;
    };

    bool is_full() const { return graph_.nodes().size() > canonical::kMaxNodes; }

    // Writes a tensor that does not fit a part. Any other one joins the open part of its group, which is written when
    // it is full.
    void take(std::uint32_t index) {
        const std::uint64_t elements = state_[index].type.shape.element_count();
        if (elements > layout_.part) {
            write_alone(index);
            return;
        }
        Open& open = open_[static_cast<std::size_t>(group_of(state_[index]))];
        if (open.elements + elements > layout_.part) {
            close(open);
        }
        open.tensors.push_back(index);
        open.elements += elements;
        if (open.tensors.size() == layout_.joined) {
            close(open);
        }
    }

    void close(Open& open) {
        if (open.tensors.size() == 1) {
            write_alone(open.tensors.front());
        } else if (!open.tensors.empty()) {
            write_joined(open);
        }
        open = Open{};
    }

    void write_alone(std::uint32_t index) {
        const TensorType& type = state_[index].type;
        if (type.dtype == DType::kI32) {
            const Value differs = negation(integers_equal(index));
            const std::uint32_t elements = differs.shape.rows;
            add_integers(graph_.view(differs, reshape_view({elements}, {elements}), Shape{1, elements}));
            return;
        }
        const auto fitting =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(layout_.part / type.shape.cols, type.shape.rows));
        for (std::uint32_t first = 0; first < type.shape.rows && !is_full(); first += fitting) {
            const std::uint32_t rows = std::min(fitting, type.shape.rows - first);
            const Value start = flat(tensor(0, index), first, rows);
            const Value replayed = flat(tensor(1, index), first, rows);
            const Value claimed = flat(tensor(2, index), first, rows);
            add_part(group_of(state_[index]), start, replayed, claimed);
        }
    }

    void write_joined(const Open& open) {
        const StateGroup group = group_of(state_[open.tensors.front()]);
        if (group == StateGroup::kInteger) {
            add_integers(negation(join(open, [&](std::uint32_t i) { return integers_equal(i); })));
            return;
        }
        const Value start = join(open, [&](std::uint32_t i) { return tensor(0, i); });
        const Value replayed = join(open, [&](std::uint32_t i) { return tensor(1, i); });
        const Value claimed = join(open, [&](std::uint32_t i) { return tensor(2, i); });
        add_part(group, start, replayed, claimed);
    }

    // Returns one row with the elements of what `of` gives for each tensor, one after the other. Adding 0 changes the
    // sign of a zero and nothing else.
    template <typename Of>
    Value join(const Open& open, Of of) {
        const Shape shape{1, static_cast<std::uint32_t>(open.elements)};
        std::optional<Value> row;
        std::int32_t offset = 0;
        for (const std::uint32_t index : open.tensors) {
            const Value x = of(index);
            const auto elements = static_cast<std::uint32_t>(x.shape.element_count());
            canonical::View at{{shape.cols}, {{.size = elements, .offset = -offset, .strides = {1}}}};
            const Value padded = graph_.view(x, std::move(at), shape);
            row = row ? graph_.add(*row, padded) : padded;
            offset += static_cast<std::int32_t>(elements);
        }
        return *row;
    }

    Value constant(float value) { return graph_.fill(Shape{1, 1}, value); }

    Value tensor(std::uint32_t which, std::uint32_t index) {
        const auto count = static_cast<std::uint32_t>(state_.size());
        const Value x = GraphBuilder::state(measured_place(count, which, index), state_[index].type);
        return x.dtype == DType::kBf16 ? graph_.widen(x) : x;
    }

    // Rows first .. first + rows - 1 as one row.
    Value flat(const Value& x, std::uint32_t first, std::uint32_t rows) {
        const std::uint32_t cols = x.shape.cols;
        return graph_.view(x, slice_view({x.shape.rows, cols}, 0, first, rows), Shape{1, rows * cols});
    }

    // 0 where x is not finite.
    Value finite_or_zero(const Value& x) {
        const Value replacement = constant(0.0F);
        const Value zero = constant(0.0F);
        const Value is_finite = graph_.equal(graph_.sub(x, x), zero);
        return graph_.select(x, is_finite, replacement);
    }

    Value product(const Value& x, const Value& y) { return graph_.matmul_nt(x, y, kXg24); }

    // How many elements of a row of ones and zeros are one: exact up to 2^24.
    Value count(const Value& ones) {
        const Value zero = graph_.to_int(constant(0.0F));
        return graph_.dequantise(graph_.row_sum_exact(graph_.to_int(ones)), zero, 0);
    }
    Value negation(const Value& truth) { return graph_.add_const(graph_.scale(truth, -1.0F), 1.0F); }

    void add_part(StateGroup group, const Value& start, const Value& replayed, const Value& claimed) {
        // What is not a number or too large is the largest drift; of the update it is nothing (TOL-5).
        const Value least = constant(-std::numeric_limits<float>::max());
        const Value most = constant(std::numeric_limits<float>::max());
        const Value drift = graph_.max(graph_.min(graph_.sub(claimed, replayed), most), least);
        const Value update = finite_or_zero(graph_.sub(replayed, start));
        const Value moved = finite_or_zero(graph_.sub(claimed, start));
        const Value coin = graph_.bernoulli(Shape{canonical::kSketches, drift.shape.cols}, 0.5F, next_id_++);
        const Value signs = graph_.add_const(graph_.scale(coin, 2.0F), -1.0F);
        const Value zero = constant(0.0F);
        const Value is_finite = graph_.equal(graph_.sub(claimed, claimed), zero);
        const Sums sums{
            .drift2 = product(drift, drift),
            .update2 = product(update, update),
            .claimed2 = product(moved, moved),
            .dot = product(drift, update),
            .drift_max = graph_.row_max(graph_.abs(drift)),
            .update_max = graph_.row_max(graph_.abs(update)),
            .not_finite = count(negation(is_finite)),
            .sketch = product(drift, signs),
        };
        accumulate(group == StateGroup::kParameter ? 0 : 1, sums);
    }

    void accumulate(std::size_t group, const Sums& sums) {
        std::optional<Sums>& so_far = groups_[group];
        if (!so_far) {
            so_far = sums;
            return;
        }
        for (Value Sums::*field :
             {&Sums::drift2, &Sums::update2, &Sums::claimed2, &Sums::dot, &Sums::not_finite, &Sums::sketch}) {
            (*so_far).*field = graph_.add((*so_far).*field, sums.*field);
        }
        so_far->drift_max = graph_.max(so_far->drift_max, sums.drift_max);
        so_far->update_max = graph_.max(so_far->update_max, sums.update_max);
    }

    // For each element of an i32 tensor, in a column, whether it is the same in both. Two equal numbers have equal
    // floats; two that differ by less than 2^25 differ in what a product modulo 2^64 with -2^39 leaves of them, and
    // floats tell the others apart (NUM-16).
    Value integers_equal(std::uint32_t index) {
        const auto elements = static_cast<std::uint32_t>(state_[index].type.shape.element_count());
        const Value replayed = tensor(1, index);
        const Value claimed = tensor(2, index);
        const Value replayed_high = column(graph_.to_float(replayed));
        const Value high = graph_.equal(column(graph_.to_float(claimed)), replayed_high);
        const Value replayed_low = low_bits(replayed, elements);
        const Value low = graph_.equal(low_bits(claimed, elements), replayed_low);
        return graph_.mul(high, low);
    }

    void add_integers(const Value& differs) {
        const Value found = count(differs);
        integers_ = integers_ ? graph_.add(*integers_, found) : found;
    }

    Value column(const Value& x) {
        const auto elements = static_cast<std::uint32_t>(x.shape.element_count());
        return graph_.view(x, reshape_view({x.shape.rows, x.shape.cols}, {elements, 1}), Shape{elements, 1});
    }

    Value low_bits(const Value& x, std::uint32_t elements) {
        canonical::View copies{{elements, kShiftCopies}, {{.size = elements, .strides = {1, 0}}}};
        const Value repeated = graph_.view(x, std::move(copies), Shape{elements, kShiftCopies});
        const Value factor = graph_.to_int(graph_.fill(Shape{1, kShiftCopies}, -0x1p31F));
        const Value factor_exponents = exponents(1);
        return graph_.contract(repeated, exponents(elements), factor, factor_exponents, Profile{24, kShiftCopies});
    }
    Value exponents(std::uint32_t rows) { return graph_.to_int(graph_.fill(Shape{rows, 1}, 0.0F)); }

    // x with zeros around it.
    Value placed(const Value& x, Shape shape, std::uint32_t row, std::uint32_t col) {
        const std::array<std::int32_t, 2> before{static_cast<std::int32_t>(row), static_cast<std::int32_t>(col)};
        const std::array<std::int32_t, 2> after{
            static_cast<std::int32_t>(shape.rows - row - x.shape.rows),
            static_cast<std::int32_t>(shape.cols - col - x.shape.cols)};
        return graph_.view(x, pad_view({x.shape.rows, x.shape.cols}, before, after), shape);
    }

    Value row_of(std::size_t group) {
        const Shape shape{1, canonical::kMeasuredColumns};
        Value row = graph_.fill(shape, 0.0F);
        const auto put = [&](const Value& x, MeasuredColumn column) {
            row = graph_.add(row, placed(x, shape, 0, static_cast<std::uint32_t>(column)));
        };
        if (const std::optional<Sums>& sums = groups_[group]) {
            put(sums->drift2, MeasuredColumn::kDrift2);
            put(sums->update2, MeasuredColumn::kUpdate2);
            put(sums->claimed2, MeasuredColumn::kClaimed2);
            put(sums->dot, MeasuredColumn::kDot);
            put(sums->drift_max, MeasuredColumn::kDriftMax);
            put(sums->update_max, MeasuredColumn::kUpdateMax);
            put(sums->not_finite, MeasuredColumn::kNotFinite);
            put(sums->sketch, MeasuredColumn::kSketch);
        }
        if (group == 1 && integers_) {
            put(*integers_, MeasuredColumn::kIntegers);
        }
        return row;
    }

    const std::vector<StateTensor>& state_;
    DistanceLayout layout_;
    GraphBuilder graph_;
    std::array<Open, 3> open_;  // by StateGroup
    std::array<std::optional<Sums>, canonical::kMeasuredGroups> groups_;
    std::optional<Value> integers_;
    std::uint32_t next_id_ = 0;
};

}  // namespace

std::optional<canonical::Graph> write_distance_graph(
    const std::vector<StateTensor>& state, const DistanceLayout& layout
) {
    return Measuring(state, layout).write();
}

}  // namespace assay::program
