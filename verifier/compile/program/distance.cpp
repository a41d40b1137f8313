// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/distance.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/graph_builder.hpp>

namespace assay::program {

using canonical::DType;
using canonical::MeasuredColumn;
using canonical::Shape;
using canonical::Tensor;
using canonical::TensorType;

namespace {

constexpr std::uint32_t kStates = 3;
// Shorter parts keep intermediate tensors small, longer ones the graph.
constexpr std::uint64_t kMinPart = 1U << 20U;
constexpr std::uint64_t kMaxPart = canonical::kMaxDimension;
// Copies of a number, each times -2^31, that move its low 25 bits to the top of 64.
constexpr std::uint32_t kShiftCopies = 256;
constexpr std::array<std::string_view, kStates> kStateNames{"start.", "replayed.", "claimed."};

// Of the Merkle tree over so many tensors.
std::uint32_t depth_of(std::uint32_t tensors) { return static_cast<std::uint32_t>(std::bit_width(tensors - 1)); }

// What the measurement's row of one group is made of.
struct Sums {
    Value drift2, update2, claimed2, dot, drift_max, update_max, not_finite, sketch;
};

// The order in which nodes are appended is a part of the protocol (TOL-1), and C++ leaves the order open in which the
// arguments of a call are computed. So no two arguments of one call append nodes.
class Measuring {
  public:
    Measuring(const std::vector<StateTensor>& state, std::uint64_t part) : state_(state), part_(part) {}

    canonical::Graph write() {
        for (std::uint32_t i = 0; i < state_.size(); ++i) {
            const TensorType& type = state_[i].type;
            if (type.dtype == DType::kI32) {
                add_integers(i, type);
                continue;
            }
            const auto rows =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(part_ / type.shape.cols, type.shape.rows));
            for (std::uint32_t first = 0; first < type.shape.rows; first += rows) {
                add_part(i, first, std::min(rows, type.shape.rows - first));
            }
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
        return std::move(graph_).commit(next);
    }

  private:
    Value constant(float value) { return graph_.fill(Shape{1, 1}, value); }

    Value tensor(std::uint32_t which, std::uint32_t index) const {
        const auto count = static_cast<std::uint32_t>(state_.size());
        return GraphBuilder::state(measured_place(count, which, index), state_[index].type);
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

    void add_part(std::uint32_t index, std::uint32_t first, std::uint32_t rows) {
        const Value start = flat(tensor(0, index), first, rows);
        const Value replayed = flat(tensor(1, index), first, rows);
        const Value claimed = flat(tensor(2, index), first, rows);
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
        accumulate(group_of(state_[index]) == StateGroup::kParameter ? 0 : 1, sums);
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

    // Two equal numbers have equal floats; two that differ by less than 2^25 differ in what a product modulo 2^64 with
    // -2^39 leaves of them, and floats tell the others apart (NUM-16).
    void add_integers(std::uint32_t index, const TensorType& type) {
        const auto elements = static_cast<std::uint32_t>(type.shape.element_count());
        const Value replayed = tensor(1, index);
        const Value claimed = tensor(2, index);
        const Value replayed_high = column(graph_.to_float(replayed));
        const Value high = graph_.equal(column(graph_.to_float(claimed)), replayed_high);
        const Value replayed_low = low_bits(replayed, elements);
        const Value low = graph_.equal(low_bits(claimed, elements), replayed_low);
        const Value differs = negation(graph_.mul(high, low));
        const Value found = count(graph_.view(differs, reshape_view({elements}, {elements}), Shape{1, elements}));
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
    std::uint64_t part_;
    GraphBuilder graph_;
    std::array<std::optional<Sums>, canonical::kMeasuredGroups> groups_;
    std::optional<Value> integers_;
    std::uint32_t next_id_ = 0;
};

Result<void, DistanceError> check_state(const std::vector<StateTensor>& state) {
    if (state.empty() || state.size() > canonical::kMaxStateTensors) {
        return Unexpected{DistanceError::kTensors};
    }
    for (const StateTensor& tensor : state) {
        const auto [dtype, shape] = tensor.type;
        if (dtype == DType::kI64) {
            return Unexpected{DistanceError::kWideInteger};
        }
        const std::uint64_t whole = dtype == DType::kI32 ? shape.element_count() : shape.cols;
        if (whole > canonical::kMaxDimension) {
            return Unexpected{DistanceError::kTooLarge};
        }
    }
    return {};
}

// About how many nodes a graph with parts of this size has.
std::uint64_t node_count(const std::vector<StateTensor>& state, std::uint64_t part) {
    constexpr std::uint64_t kNodesPerPart = 48;
    std::uint64_t parts = 4;
    for (const StateTensor& tensor : state) {
        parts +=
            div_ceil(std::uint64_t{tensor.type.shape.rows}, std::max<std::uint64_t>(part / tensor.type.shape.cols, 1));
    }
    return parts * kNodesPerPart;
}

std::vector<StateTensor> initial_tensors(const std::vector<StateTensor>& state) {
    const auto count = static_cast<std::uint32_t>(state.size());
    std::vector<StateTensor> initial;
    for (std::uint32_t which = 0; which < kStates; ++which) {
        const std::uint32_t first = measured_place(count, which, 0);
        while (initial.size() < first) {
            initial.push_back({"gap." + std::to_string(initial.size()), {DType::kF32, Shape{1, 1}}});
        }
        for (const StateTensor& tensor : state) {
            initial.push_back({std::string(kStateNames[which]) + tensor.name, tensor.type});
        }
    }
    return initial;
}

}  // namespace

StateGroup group_of(const StateTensor& tensor) {
    if (tensor.type.dtype != DType::kF32) {
        return StateGroup::kInteger;
    }
    const std::string_view name = tensor.name;
    const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
    const bool is_slot = starts("momentum.") || starts("adam.") || starts("accumulated.");
    const bool is_running = name.ends_with(".running_mean") || name.ends_with(".running_var");
    return is_slot || is_running ? StateGroup::kOther : StateGroup::kParameter;
}

std::uint32_t measured_place(std::uint32_t tensors, std::uint32_t which, std::uint32_t tensor) {
    ASSERT(tensors >= 1 && tensors <= canonical::kMaxStateTensors && which < kStates && tensor < tensors);
    return (which << depth_of(tensors)) + tensor;
}

Result<Program, DistanceError> build_distance_program(const std::vector<StateTensor>& state) {
    TRY(check_state(state));
    std::uint64_t part = kMinPart;
    for (const StateTensor& tensor : state) {
        while (part < tensor.type.shape.cols && part < kMaxPart) {
            part *= 2;
        }
    }
    while (node_count(state, part) > canonical::kMaxNodes) {
        if (part == kMaxPart) {
            return Unexpected{DistanceError::kTooLarge};
        }
        part *= 2;
    }
    Program program = make_function(
        {"measurement", {DType::kF32, canonical::kMeasurementShape}}, initial_tensors(state),
        Measuring(state, part).write()
    );
    ASSERT(check_program(program).has_value());
    return program;
}

std::vector<Tensor> measured_state(
    std::span<const Tensor> start, std::span<const Tensor> replayed, std::span<const Tensor> claimed
) {
    const auto count = static_cast<std::uint32_t>(start.size());
    ASSERT(replayed.size() == count && claimed.size() == count);
    std::vector<Tensor> out(measured_place(count, kStates - 1, count - 1) + std::size_t{1});
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT(start[i].shape == replayed[i].shape && start[i].shape == claimed[i].shape);
        out[measured_place(count, 0, i)] = start[i];
        out[measured_place(count, 1, i)] = replayed[i];
        out[measured_place(count, 2, i)] = claimed[i];
    }
    return out;
}

}  // namespace assay::program
