// SPDX-License-Identifier: Apache-2.0
#include <verifier/compile/program/graph_builder.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/compile/program/array.hpp>

namespace assay::program {

using canonical::DType;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;

std::optional<Profile> profile_named(std::string_view name) {
    for (const NamedProfile& known : kProfiles) {
        if (known.name == name) {
            return known.profile;
        }
    }
    return std::nullopt;
}

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// A matrix with more elements is summed row by row first: rows can be worked on side by side.
constexpr std::uint64_t kMaxFlatSum = 1U << 16U;

// The smallest chunk that covers `cols` columns.
std::uint32_t whole_row(std::uint32_t cols) { return div_ceil(cols, 32U) * 32U; }

// FNV-1a over 32-bit words: only how fast equal nodes are found depends on it.
class Hash {
  public:
    void add(std::uint32_t word) { state_ = (state_ ^ word) * 0x100000001b3U; }
    void add(std::int32_t word) { add(static_cast<std::uint32_t>(word)); }
    void add(Shape shape) {
        add(shape.rows);
        add(shape.cols);
    }
    // The low bits of a product know nothing of the high ones of its factors.
    std::uint64_t value() const { return state_ ^ (state_ >> 32U); }

  private:
    std::uint64_t state_ = 0xcbf29ce484222325U;
};

std::uint64_t hash_of(const Node& node) {
    Hash hash;
    hash.add(std::uint32_t{static_cast<std::uint8_t>(node.op)});
    hash.add(node.shape);
    hash.add(node.attributes[0]);
    hash.add(node.attributes[1]);
    for (const Value& input : node.inputs) {
        hash.add(std::uint32_t{static_cast<std::uint8_t>(input.source)});
        hash.add(input.index);
    }
    if (node.view) {
        for (const std::uint32_t size : node.view->dims) {
            hash.add(size);
        }
        for (const canonical::ViewAxis& axis : node.view->axes) {
            hash.add(axis.size);
            hash.add(axis.offset);
            for (const std::int32_t stride : axis.strides) {
                hash.add(stride);
            }
        }
    }
    return hash.value();
}

}  // namespace

Value GraphBuilder::state(std::uint32_t index, const canonical::TensorType& type) {
    return Value{Source::kState, index, type.dtype, type.shape};
}

Value GraphBuilder::emit(
    Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<Value> inputs
) {
    return emit(Node{op, dtype, shape, attributes, std::move(inputs), {}});
}

Value GraphBuilder::emit(Node node) {
    ASSERT(canonical::check_node(node).has_value());
    Value out{Source::kNode, static_cast<std::uint32_t>(graph_.size()), node.dtype, node.shape};
    const std::uint64_t hash = hash_of(node);
    const auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (graph_[it->second] == node) {
            out.index = it->second;
            return out;
        }
    }
    index_.emplace(hash, out.index);
    graph_.push_back(std::move(node));
    return out;
}

Value GraphBuilder::append(Node node) { return emit(std::move(node)); }

Value GraphBuilder::binary(Op op, const Value& x, const Value& y) { return emit(op, DType::kF32, x.shape, {}, {x, y}); }

Value GraphBuilder::unary(Op op, const Value& x, std::uint32_t attribute) {
    return emit(op, DType::kF32, x.shape, {attribute, 0}, {x});
}

Value GraphBuilder::batch_rows(Shape shape) { return emit(Op::kBatchRows, DType::kI32, shape, {}, {}); }

Value GraphBuilder::uniform(Shape shape, float bound, std::uint32_t tensor_id) {
    return emit(Op::kUniform, DType::kF32, shape, {bits_of(bound), tensor_id}, {});
}

Value GraphBuilder::fill(Shape shape, float value) {
    return emit(Op::kFill, DType::kF32, shape, {bits_of(value), 0}, {});
}

Value GraphBuilder::bernoulli(Shape shape, float keep, std::uint32_t tensor_id) {
    ASSERT(keep >= 0.0F && keep <= 1.0F);
    const double threshold = std::min(static_cast<double>(keep) * 0x1p32, 0x1p32 - 1.0);
    return emit(Op::kBernoulli, DType::kF32, shape, {static_cast<std::uint32_t>(threshold), tensor_id}, {});
}

Value GraphBuilder::step_count(std::uint32_t divisor, std::uint32_t modulus) {
    return emit(Op::kStepCount, DType::kF32, Shape{1, 1}, {divisor, modulus}, {});
}

Value GraphBuilder::view(const Value& x, canonical::View view, Shape shape, float fill) {
    Value from = x;
    std::uint32_t bits = never_fills(view) ? 0 : bits_of(fill);
    while (from.source == Source::kNode && graph_[from.index].op == Op::kView) {
        const Node& inner = graph_[from.index];
        const bool inner_fills = !never_fills(*inner.view);
        if (inner_fills && !never_fills(view) && inner.attributes[0] != bits) {
            break;
        }
        auto composed = compose_views(*inner.view, view);
        if (!composed) {
            break;
        }
        bits = inner_fills ? inner.attributes[0] : bits;
        view = *std::move(composed);
        from = inner.inputs[0];
    }
    if (shape == from.shape && is_identity(view)) {
        return from;
    }
    return emit(Node{Op::kView, x.dtype, shape, {bits, 0}, {from}, std::move(view)});
}

Value GraphBuilder::transpose(const Value& x, std::uint32_t groups) {
    ASSERT(groups > 0 && x.shape.rows % groups == 0);
    constexpr std::array<std::uint32_t, 3> kOrder{0, 2, 1};
    const std::uint32_t rows = x.shape.rows / groups;
    return view(x, permute_view({groups, rows, x.shape.cols}, kOrder), Shape{groups * x.shape.cols, rows});
}

Value GraphBuilder::slice_cols(const Value& x, std::uint32_t first, std::uint32_t count) {
    return view(x, slice_view({x.shape.rows, x.shape.cols}, 1, first, count), Shape{x.shape.rows, count});
}

Value GraphBuilder::gather_rows(const Value& table, const Value& index) {
    return emit(
        Op::kGatherRows, DType::kF32, Shape{index.shape.rows, index.shape.cols * table.shape.cols}, {}, {table, index}
    );
}

Value GraphBuilder::scatter_add_rows(const Value& q, const Value& index, Shape table) {
    return emit(Op::kScatterAddRows, DType::kI64, table, {}, {q, index});
}

Value GraphBuilder::one_hot(const Value& index, std::uint32_t classes) {
    return emit(Op::kOneHot, DType::kF32, Shape{index.shape.rows, classes}, {}, {index});
}

Value GraphBuilder::from_bits(const Value& x) { return emit(Op::kFromBits, DType::kF32, x.shape, {}, {x}); }
Value GraphBuilder::to_float(const Value& x) { return emit(Op::kToFloat, DType::kF32, x.shape, {}, {x}); }
Value GraphBuilder::narrow(const Value& x) {
    return emit(Op::kNarrow, x.dtype == DType::kF32 ? DType::kBf16 : DType::kI8, x.shape, {}, {x});
}
Value GraphBuilder::narrow(const Value& x, const Value& dither) {
    return emit(Op::kNarrow, DType::kBf16, x.shape, {}, {x, dither});
}
Value GraphBuilder::widen(const Value& x) {
    return emit(Op::kWiden, x.dtype == DType::kBf16 ? DType::kF32 : DType::kI32, x.shape, {}, {x});
}
Value GraphBuilder::to_int(const Value& x) { return emit(Op::kToInt, DType::kI32, x.shape, {}, {x}); }

// No primitive counts, but row r of a causal mask over ones has r + 1 of them. count = n^2 numbers are two digits
// r and c to the base n.
Value GraphBuilder::iota(std::uint32_t count) {
    ASSERT(count > 0 && count <= canonical::kMaxDimension);
    std::uint32_t n = 1;
    while (std::uint64_t{n} * n < count) {
        ++n;
    }
    const Value digit = add_const(row_sum(causal_mask(fill(Shape{n, n}, 1.0F), n, 0.0F)), -1.0F);
    const Value high = view(scale(digit, static_cast<float>(n)), expand_view({n, 1}, {n, n}), Shape{n, n});
    const Value both = add(high, view(digit, reshape_view({n, 1}, {1, n}), Shape{1, n}));
    return view(both, slice_view({n * n}, 0, 0, count), Shape{count, 1});
}

Value GraphBuilder::add(const Value& x, const Value& y) { return binary(Op::kAdd, x, y); }
Value GraphBuilder::sub(const Value& x, const Value& y) { return binary(Op::kSub, x, y); }
Value GraphBuilder::mul(const Value& x, const Value& y) { return binary(Op::kMul, x, y); }
Value GraphBuilder::div(const Value& x, const Value& y) { return binary(Op::kDiv, x, y); }
Value GraphBuilder::sqrt(const Value& x) { return unary(Op::kSqrt, x); }
Value GraphBuilder::scale(const Value& x, float factor) { return unary(Op::kScale, x, bits_of(factor)); }
Value GraphBuilder::add_const(const Value& x, float term) { return unary(Op::kAddConst, x, bits_of(term)); }
Value GraphBuilder::relu(const Value& x) { return unary(Op::kRelu, x); }
Value GraphBuilder::relu_grad(const Value& x, const Value& gradient) { return binary(Op::kReluGrad, x, gradient); }
Value GraphBuilder::exp(const Value& x) { return unary(Op::kExp, x); }
Value GraphBuilder::log(const Value& x) { return unary(Op::kLog, x); }

Value GraphBuilder::tanh(const Value& x) { return unary(Op::kTanh, x); }
Value GraphBuilder::erf(const Value& x) { return unary(Op::kErf, x); }
Value GraphBuilder::sin(const Value& x) { return unary(Op::kSin, x); }
Value GraphBuilder::cos(const Value& x) { return unary(Op::kCos, x); }
Value GraphBuilder::abs(const Value& x) { return unary(Op::kAbs, x); }
Value GraphBuilder::floor(const Value& x) { return unary(Op::kFloor, x); }
Value GraphBuilder::rint(const Value& x) { return unary(Op::kRint, x); }
Value GraphBuilder::max(const Value& x, const Value& y) { return binary(Op::kMax, x, y); }
Value GraphBuilder::min(const Value& x, const Value& y) { return binary(Op::kMin, x, y); }
Value GraphBuilder::less(const Value& x, const Value& y) { return binary(Op::kLess, x, y); }
Value GraphBuilder::equal(const Value& x, const Value& y) { return binary(Op::kEqual, x, y); }

Value GraphBuilder::select(const Value& x, const Value& condition, const Value& y) {
    return emit(Op::kSelect, DType::kF32, x.shape, {}, {x, condition, y});
}

Value GraphBuilder::causal_mask(const Value& x, std::uint32_t rows, float fill) {
    return emit(Op::kCausalMask, DType::kF32, x.shape, {rows, bits_of(fill)}, {x});
}

Value GraphBuilder::row_max(const Value& x) { return emit(Op::kRowMax, x.dtype, Shape{x.shape.rows, 1}, {}, {x}); }

Value GraphBuilder::row_arg_max(const Value& x) {
    return emit(Op::kRowArgMax, DType::kI32, Shape{x.shape.rows, 1}, {}, {x});
}

// A chunk that is longer than the row says the same as one that just covers it, which sums use: one node for both.
Value GraphBuilder::row_exponent(const Value& x, std::uint32_t chunk) {
    const std::uint32_t used = std::min(chunk, whole_row(x.shape.cols));
    return emit(Op::kRowExponent, DType::kI32, Shape{x.shape.rows, div_ceil(x.shape.cols, used)}, {used, 0}, {x});
}

Value GraphBuilder::row_sum_exact(const Value& q) {
    return emit(Op::kRowSum, DType::kI64, Shape{q.shape.rows, 1}, {}, {q});
}

Value GraphBuilder::quantise(const Value& x, const Value& exponent, std::uint32_t precision, std::uint32_t chunk) {
    return emit(Op::kQuantise, DType::kI32, x.shape, {precision, chunk}, {x, exponent});
}

Value GraphBuilder::dequantise(const Value& q, const Value& exponent, std::uint32_t precision) {
    return emit(Op::kDequantise, DType::kF32, q.shape, {precision, 0}, {q, exponent});
}

Value GraphBuilder::contract(
    const Value& qa, const Value& ea, const Value& qb, const Value& eb, const Profile& profile, std::uint32_t groups
) {
    ASSERT(groups > 0 && qb.shape.rows % groups == 0);
    const Shape shape{qa.shape.rows, qb.shape.rows / groups};
    return emit(Op::kContract, DType::kF32, shape, {profile.precision, profile.chunk}, {qa, ea, qb, eb});
}

Value GraphBuilder::matmul_nt(const Value& a, const Value& b, const Profile& profile, std::uint32_t groups) {
    const Value exponent_a = row_exponent(a, profile.chunk);
    const Value exponent_b = row_exponent(b, profile.chunk);
    const Value fixed_a = quantise(a, exponent_a, profile.precision, profile.chunk);
    const Value fixed_b = quantise(b, exponent_b, profile.precision, profile.chunk);
    return contract(fixed_a, exponent_a, fixed_b, exponent_b, profile, groups);
}

Value GraphBuilder::row_sum(const Value& x) {
    if (x.shape.cols == 1) {
        return x;
    }
    const Value exponent = row_exponent(x, whole_row(x.shape.cols));
    const Value fixed = quantise(x, exponent, kSumPrecision, 0);
    return dequantise(row_sum_exact(fixed), exponent, kSumPrecision);
}

Value GraphBuilder::col_sum(const Value& x) { return x.shape.rows == 1 ? x : transpose(row_sum(transpose(x))); }

Value GraphBuilder::sum(const Value& x) {
    const auto flat = [this](const Value& y) {
        const auto count = static_cast<std::uint32_t>(y.shape.element_count());
        return view(y, reshape_view({y.shape.rows, y.shape.cols}, {1, count}), Shape{1, count});
    };
    const bool is_long = x.shape.rows > 1 && x.shape.cols > 1 && x.shape.element_count() > kMaxFlatSum;
    return row_sum(flat(is_long ? row_sum(x) : x));
}

Value GraphBuilder::mean(const Value& column) {
    ASSERT(column.shape.cols == 1);
    return scale(sum(column), 1.0F / static_cast<float>(column.shape.rows));
}

Value GraphBuilder::sum_to(const Value& x, Shape shape) {
    ASSERT((shape.rows == 1 || shape.rows == x.shape.rows) && (shape.cols == 1 || shape.cols == x.shape.cols));
    if (shape == x.shape) {
        return x;
    }
    if (shape == Shape{1, 1}) {
        return sum(x);
    }
    return shape.cols == 1 ? row_sum(x) : col_sum(x);
}

Value GraphBuilder::scatter_sum(const Value& x, const Value& index, Shape table) {
    const Value per_row = row_exponent(x, whole_row(x.shape.cols));
    const Value exponent = row_max(transpose(per_row));
    const Value fixed = quantise(x, exponent, kSumPrecision, 0);
    return dequantise(scatter_add_rows(fixed, index, table), exponent, kSumPrecision);
}

canonical::Graph GraphBuilder::commit(std::span<const Value> state) && {
    graph_.push_back(Node{Op::kCommit, DType::kF32, Shape{}, {}, {state.begin(), state.end()}, {}});
    return std::move(graph_);
}

canonical::Graph GraphBuilder::commit(std::span<const Value> state, Value& loss) && {
    Node last{Op::kCommit, DType::kF32, Shape{}, {}, {state.begin(), state.end()}, {}};
    std::vector<bool> is_needed(graph_.size(), false);
    const auto need = [&](const Value& value) {
        if (value.source == Source::kNode) {
            is_needed[value.index] = true;
        }
    };
    need(loss);
    std::for_each(state.begin(), state.end(), need);
    for (std::size_t i = graph_.size(); i-- > 0;) {
        if (is_needed[i]) {
            std::for_each(graph_[i].inputs.begin(), graph_[i].inputs.end(), need);
        }
    }
    std::vector<std::uint32_t> place(graph_.size(), 0);
    const auto move_to_place = [&](Value& value) {
        value.index = value.source == Source::kNode ? place[value.index] : value.index;
    };
    canonical::Graph out;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
        if (is_needed[i]) {
            place[i] = static_cast<std::uint32_t>(out.size());
            std::for_each(graph_[i].inputs.begin(), graph_[i].inputs.end(), move_to_place);
            out.push_back(std::move(graph_[i]));
        }
    }
    std::for_each(last.inputs.begin(), last.inputs.end(), move_to_place);
    move_to_place(loss);
    out.push_back(std::move(last));
    return out;
}

}  // namespace assay::program
