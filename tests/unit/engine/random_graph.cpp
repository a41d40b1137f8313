// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/engine/random_graph.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

#include <core/base/assert.hpp>
#include <tests/unit/canonical/samples.hpp>
#include <verifier/compile/program/array.hpp>

namespace assay::test {

using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;
using canonical::View;
using canonical::test::Kind;
using canonical::test::Random;

namespace {

constexpr std::uint32_t kMaxElements = 20'000;

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
bool is_f32(const Input& x) { return x.dtype == DType::kF32; }

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}
    Case make();

  private:
    template <class Range>
    const auto& one_of(const Range& range) {
        return *std::next(std::begin(range), random_.below(static_cast<std::uint32_t>(std::size(range))));
    }
    bool one_in(std::uint32_t n) { return random_.below(n) == 0; }

    template <class Wanted>
    std::optional<Input> pick(Wanted is_wanted) {
        std::vector<Input> found;
        std::copy_if(values_.begin(), values_.end(), std::back_inserter(found), is_wanted);
        if (found.empty()) {
            return std::nullopt;
        }
        // What was made last is read more often, as in a program.
        const std::size_t recent = std::min<std::size_t>(found.size(), 6);
        return one_in(2) ? one_of(found) : found[found.size() - 1 - random_.below(static_cast<std::uint32_t>(recent))];
    }
    Input emit(Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<Input> inputs);
    Input emit_view(const Input& x, View view, Shape shape, std::uint32_t fill);

    void add_state();
    Shape shape() { return {one_of(rows_), one_of(cols_)}; }
    std::optional<Input> second_operand(const Input& x);

    void source();
    void elementwise();
    void compare_and_select();
    void conversion();
    void narrow_or_widen();
    void reduction();
    void view();
    View random_view(const program::Dims& dims);
    void gather();
    void scatter();
    void exact_sum();
    void softmax();
    void quantise_alone();
    void product();
    Input quantised(const Input& x, std::uint32_t precision, std::uint32_t chunk);
    Input transposed(const Input& x);
    void finish(Case& out);

    Random random_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::uint32_t> cols_;
    Graph graph_;
    std::vector<Input> values_;
    std::vector<Tensor> state_;
};

Input Maker::emit(Op op, DType dtype, Shape shape, std::array<std::uint32_t, 2> attributes, std::vector<Input> inputs) {
    graph_.push_back({op, dtype, shape, attributes, std::move(inputs), {}});
    ASSERT(canonical::check_node(graph_.back()).has_value());
    return values_.emplace_back(output_of(graph_, graph_.size() - 1));
}

Input Maker::emit_view(const Input& x, View view, Shape shape, std::uint32_t fill) {
    Node& node = graph_.emplace_back();
    node.op = Op::kView;
    node.dtype = x.dtype;
    node.shape = shape;
    node.attributes[0] = fill;
    node.inputs.push_back(x);
    node.view = std::move(view);
    ASSERT(canonical::check_node(node).has_value());
    return values_.emplace_back(output_of(graph_, graph_.size() - 1));
}

void Maker::add_state() {
    const Kind kind = one_in(6) ? Kind::kHostile : Kind::kPlain;
    if (one_in(3)) {
        state_.push_back(random_narrow(one_in(2) ? DType::kBf16 : DType::kI8, shape(), random_, kind));
    } else if (one_in(4)) {
        state_.push_back(random_i32({one_of(rows_), one_in(2) ? 1 : one_of(cols_)}, random_, -3, 40));
    } else {
        state_.push_back(canonical::test::random_f32(shape(), random_, kind));
    }
    values_.push_back(state_of(state_, state_.size() - 1));
}

void Maker::source() {
    switch (random_.below(4)) {
        case 0:
            emit(Op::kFill, DType::kF32, shape(), {bits_of(random_.unit()), 0}, {});
            break;
        case 1:
            emit(Op::kUniform, DType::kF32, shape(), {bits_of(0.5F), random_.next_u32()}, {});
            break;
        case 2:
            emit(Op::kBernoulli, DType::kF32, shape(), {0xc0000000U, random_.next_u32()}, {});
            break;
        default:
            emit(Op::kStepCount, DType::kF32, {1, 1}, {1 + random_.below(3), random_.below(4)}, {});
            break;
    }
}

std::optional<Input> Maker::second_operand(const Input& x) {
    return pick([&](const Input& y) {
        return is_f32(y) && (y.shape.rows == 1 || y.shape.rows == x.shape.rows) &&
               (y.shape.cols == 1 || y.shape.cols == x.shape.cols);
    });
}

void Maker::elementwise() {
    const auto x = pick(is_f32);
    const auto y = second_operand(*x);
    if (y && !one_in(3)) {
        constexpr std::array kBinary{Op::kAdd, Op::kAdd, Op::kSub, Op::kMul,     Op::kMul,
                                     Op::kDiv, Op::kMax, Op::kMin, Op::kReluGrad};
        emit(one_of(kBinary), DType::kF32, x->shape, {}, {*x, *y});
        return;
    }
    constexpr std::array kUnary{Op::kSqrt, Op::kRelu,  Op::kExp,  Op::kLog,   Op::kTanh,
                                Op::kTanh, Op::kErf,   Op::kSin,  Op::kCos,   Op::kAbs,
                                Op::kAbs,  Op::kFloor, Op::kRint, Op::kScale, Op::kAddConst};
    const Op op = one_of(kUnary);
    const bool has_constant = op == Op::kScale || op == Op::kAddConst;
    emit(op, DType::kF32, x->shape, {has_constant ? bits_of(4.0F * random_.unit()) : 0, 0}, {*x});
}

void Maker::compare_and_select() {
    const auto x = pick(is_f32);
    const auto y = second_operand(*x);
    if (!y) {
        return;
    }
    switch (random_.below(4)) {
        case 0:
            emit(Op::kLess, DType::kF32, x->shape, {}, {*x, *y});
            break;
        case 1:
            emit(Op::kEqual, DType::kF32, x->shape, {}, {*x, *y});
            break;
        case 2: {
            const std::uint32_t period = 1 + random_.below(x->shape.rows + 2);
            emit(Op::kCausalMask, DType::kF32, x->shape, {period, one_in(2) ? 0xff800000U : 0}, {*x});
            break;
        }
        default:
            emit(Op::kSelect, DType::kF32, x->shape, {}, {*x, *y, *second_operand(*x)});
            break;
    }
}

void Maker::narrow_or_widen() {
    const auto narrow = pick([](const Input& v) { return canonical::is_narrow(v.dtype); });
    const auto integers = pick([](const Input& v) { return v.dtype == DType::kI32; });
    if (narrow && !one_in(3)) {
        emit(Op::kWiden, narrow->dtype == DType::kBf16 ? DType::kF32 : DType::kI32, narrow->shape, {}, {*narrow});
    } else if (integers && one_in(3)) {
        emit(Op::kNarrow, DType::kI8, integers->shape, {}, {*integers});
    } else {
        const auto x = pick(is_f32);
        const auto dither = second_operand(*x);
        emit(Op::kNarrow, DType::kBf16, x->shape, {}, dither && one_in(2) ? std::vector{*x, *dither} : std::vector{*x});
    }
}

void Maker::conversion() {
    if (one_in(2)) {
        const auto x = pick(is_f32);
        emit(Op::kToInt, DType::kI32, x->shape, {}, {*x});
        return;
    }
    if (const auto x = pick([](const Input& v) { return v.dtype == DType::kI32; })) {
        emit(one_in(4) ? Op::kFromBits : Op::kToFloat, DType::kF32, x->shape, {}, {*x});
    }
}

void Maker::reduction() {
    const auto x = pick([](const Input& v) { return v.dtype == DType::kF32 || v.dtype == DType::kI32; });
    const Shape column{x->shape.rows, 1};
    if (is_f32(*x) && one_in(3)) {
        emit(Op::kRowArgMax, DType::kI32, column, {}, {*x});
    } else if (is_f32(*x) || one_in(2)) {
        emit(Op::kRowMax, x->dtype, column, {}, {*x});
    } else {
        emit(Op::kRowSum, DType::kI64, column, {}, {*x});
    }
}

View Maker::random_view(const program::Dims& dims) {
    const auto axis = random_.below(static_cast<std::uint32_t>(dims.size()));
    const std::uint32_t size = dims[axis];
    switch (random_.below(6)) {
        case 0: {
            const std::uint32_t first = random_.below(size);
            return program::slice_view(dims, axis, first, 1 + random_.below(size - first));
        }
        case 1:
            return program::slice_view(dims, axis, size - 1, size, -1);
        case 2: {
            std::array<std::int32_t, canonical::kMaxViewAxes> before{};
            std::array<std::int32_t, canonical::kMaxViewAxes> after{};
            before[axis] = static_cast<std::int32_t>(random_.below(4));
            after[axis] = static_cast<std::int32_t>(random_.below(4)) - (size > 4 ? 2 : 0);
            return program::pad_view(dims, std::span(before).first(dims.size()), std::span(after).first(dims.size()));
        }
        case 3: {
            program::Dims to{1 + random_.below(2)};
            std::copy(dims.begin(), dims.end(), std::back_inserter(to));
            return program::expand_view(dims, to);
        }
        case 4:
            if (dims.size() == 3) {
                program::Windows windows;
                windows.kernel = {1 + random_.below(std::min(dims[1], 3U))};
                windows.stride = {1 + random_.below(2)};
                return one_in(2) ? program::windows_view(dims, windows)
                                 : program::adjoint_view(program::windows_view(dims, windows));
            }
            [[fallthrough]];
        default: {
            std::vector<std::uint32_t> order(dims.size());
            for (std::uint32_t i = 0; i < order.size(); ++i) {
                order[i] = i;
                std::swap(order[i], order[random_.below(i + 1)]);
            }
            return program::permute_view(dims, order);
        }
    }
}

void Maker::view() {
    const auto found = pick([](const Input& v) { return !canonical::is_narrow(v.dtype); });
    Input x = *found;
    program::Dims dims{x.shape.rows, x.shape.cols};
    if (one_in(2)) {
        constexpr std::array kFactors{2U, 4U, 32U, 3U};
        const std::uint32_t factor = one_of(kFactors);
        if (x.shape.rows % factor == 0) {
            dims = {factor, x.shape.rows / factor, x.shape.cols};
        } else if (x.shape.cols % factor == 0) {
            dims = {x.shape.rows, factor, x.shape.cols / factor};
        }
    }
    View view = random_view(dims);
    if (view.axes.size() == dims.size()) {
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (view.axes[i].size != dims[i]) {
                // The adjoint reads an array of the windows; make the input one by repeating elements.
                return;
            }
        }
    } else {
        return;
    }
    if (program::element_count(view.dims) > kMaxElements) {
        return;
    }
    // Any cut of the dimensions into rows and columns; a known width makes partners for the result.
    std::size_t cut = view.dims.size() - 1;
    if (one_in(3)) {
        cut = random_.below(static_cast<std::uint32_t>(view.dims.size()) + 1);
    }
    const auto product = [&](std::size_t first, std::size_t last) {
        std::uint32_t out = 1;
        for (std::size_t i = first; i < last; ++i) {
            out *= view.dims[i];
        }
        return out;
    };
    const Shape to{product(0, cut), product(cut, view.dims.size())};
    const std::uint32_t fill = x.dtype == DType::kI64 || one_in(2) ? 0 : bits_of(0.75F);
    emit_view(x, std::move(view), to, fill);
}

void Maker::gather() {
    const auto table = pick([](const Input& v) { return is_f32(v) && v.shape.cols % 32 == 0; });
    const auto index = pick([](const Input& v) { return v.dtype == DType::kI32 && v.shape.cols <= 3; });
    if (index && one_in(3) && index->shape.cols == 1) {
        emit(Op::kOneHot, DType::kF32, {index->shape.rows, one_of(cols_)}, {}, {*index});
    } else if (table && index) {
        emit(
            Op::kGatherRows, DType::kF32, {index->shape.rows, index->shape.cols * table->shape.cols}, {},
            {*table, *index}
        );
    }
}

Input Maker::quantised(const Input& x, std::uint32_t precision, std::uint32_t chunk) {
    const std::uint32_t chunks = (x.shape.cols + chunk - 1) / chunk;
    const Input e = emit(Op::kRowExponent, DType::kI32, {x.shape.rows, chunks}, {chunk, 0}, {x});
    const Input q = emit(Op::kQuantise, DType::kI32, x.shape, {precision, chunk}, {x, e});
    if (!one_in(8)) {
        values_.pop_back();  // only products read it
    }
    return q;
}

Input Maker::transposed(const Input& x) {
    constexpr std::array<std::uint32_t, 2> kOrder{1, 0};
    return emit_view(x, program::permute_view({x.shape.rows, x.shape.cols}, kOrder), {x.shape.cols, x.shape.rows}, 0);
}

// Sums with one exponent for the whole tensor, as the gradient of an embedding.
void Maker::scatter() {
    const auto index = pick([](const Input& v) { return v.dtype == DType::kI32 && v.shape.cols == 1; });
    if (!index) {
        return;
    }
    const auto x =
        pick([&](const Input& v) { return is_f32(v) && v.shape.rows == index->shape.rows && v.shape.cols % 32 == 0; });
    if (!x) {
        return;
    }
    const Input each =
        emit(Op::kRowExponent, DType::kI32, {x->shape.rows, 1}, {(x->shape.cols + 31) / 32 * 32, 0}, {*x});
    const Input e = emit(Op::kRowMax, DType::kI32, {1, 1}, {}, {transposed(each)});
    const Input q = emit(Op::kQuantise, DType::kI32, x->shape, {30, 0}, {*x, e});
    const Input sum = emit(Op::kScatterAddRows, DType::kI64, {one_of(rows_), x->shape.cols}, {}, {q, *index});
    emit(Op::kDequantise, DType::kF32, sum.shape, {30, 0}, {sum, e});
}

// A row's sum with the row's own exponent; now and then of columns, or with terms that somebody else reads too.
void Maker::exact_sum() {
    const auto found = pick(is_f32);
    const Input x = one_in(4) ? transposed(*found) : *found;
    const std::uint32_t chunk = (x.shape.cols + 31) / 32 * 32;
    const Input e = emit(Op::kRowExponent, DType::kI32, {x.shape.rows, 1}, {chunk, 0}, {x});
    const Input q = emit(Op::kQuantise, DType::kI32, x.shape, {one_in(5) ? 7U : 30U, one_in(2) ? chunk : 0}, {x, e});
    const Input sum = emit(Op::kRowSum, DType::kI64, {x.shape.rows, 1}, {}, {q});
    emit(Op::kDequantise, DType::kF32, sum.shape, {graph_[q.index].attributes[0], 0}, {sum, e});
    if (one_in(4)) {
        emit(Op::kToFloat, DType::kF32, q.shape, {}, {q});
    }
}

void Maker::softmax() {
    const auto x = pick(is_f32);
    const Shape column{x->shape.rows, 1};
    const std::uint32_t chunk = (x->shape.cols + 31) / 32 * 32;
    const Input top = emit(Op::kRowMax, DType::kF32, column, {}, {*x});
    const Input shifted = emit(Op::kSub, DType::kF32, x->shape, {}, {*x, top});
    const Input power = emit(Op::kExp, DType::kF32, x->shape, {}, {shifted});
    const Input e = emit(Op::kRowExponent, DType::kI32, column, {chunk, 0}, {power});
    const Input q = emit(Op::kQuantise, DType::kI32, x->shape, {30, chunk}, {power, e});
    const Input sum = emit(Op::kRowSum, DType::kI64, column, {}, {q});
    const Input total = emit(Op::kDequantise, DType::kF32, column, {30, 0}, {sum, e});
    if (one_in(2)) {
        emit(Op::kDiv, DType::kF32, x->shape, {}, {power, total});
    } else {
        emit(Op::kSub, DType::kF32, x->shape, {}, {shifted, emit(Op::kLog, DType::kF32, column, {}, {total})});
    }
}

// Exponents that belong to nothing.
void Maker::quantise_alone() {
    const auto x = pick(is_f32);
    const auto e = pick([&](const Input& v) {
        return v.dtype == DType::kI32 && v.shape.cols == 1 && (v.shape.rows == 1 || v.shape.rows == x->shape.rows);
    });
    if (e) {
        emit(Op::kQuantise, DType::kI32, x->shape, {1 + random_.below(30), 0}, {*x, *e});
    }
}

void Maker::product() {
    const auto a = pick([](const Input& v) { return is_f32(v) && v.shape.cols > 1; });
    if (!a) {
        return;
    }
    const auto b = pick([&](const Input& v) { return is_f32(v) && v.shape.cols == a->shape.cols; });
    constexpr std::array kProfiles{std::array{21U, 2048U}, std::array{21U, 64U}, std::array{24U, 16384U},
                                   std::array{8U, 256U},   std::array{8U, 32U},  std::array{7U, 65536U}};
    const auto [precision, chunk] = one_of(kProfiles);
    std::uint32_t n = b->shape.rows;
    for (const std::uint32_t groups : {3U, 2U}) {
        const bool fits = b->shape.rows % (32 * groups) == 0 && a->shape.rows % (32 * groups) == 0;
        n = fits && one_in(2) ? b->shape.rows / groups : n;
    }
    const Input qa = quantised(*a, precision, chunk);
    const Input qb = *b == *a ? qa : quantised(*b, precision, chunk);
    const Input ea = graph_[qa.index].inputs[1];
    const Input eb = graph_[qb.index].inputs[1];
    emit(Op::kContract, DType::kF32, {a->shape.rows, n}, {precision, chunk}, {qa, ea, qb, eb});
}

// The next state: what fits, what was there, another tensor of that type; and some nodes more.
void Maker::finish(Case& out) {
    out = make_case(graph_, state_);
    const Outcome made = by_definition(out);
    const auto is_usable = [&](const Input& v) {
        const Tensor& tensor = v.source == Source::kNode ? made.outputs[v.index] : state_[v.index];
        const bool is_half = v.dtype == DType::kBf16;
        for (std::size_t i = 0; (is_f32(v) || is_half) && i < v.shape.element_count(); ++i) {
            const std::uint32_t bits =
                is_half ? canonical::test::get_u16(tensor, i) * 65536U : canonical::test::get_u32(tensor, i);
            if ((bits & 0x7f800000U) == 0x7f800000U) {
                return one_in(500);
            }
        }
        return true;
    };
    Node& commit = out.graph.back();
    for (Input& next : commit.inputs) {
        const auto other = pick([&](const Input& v) { return v.dtype == next.dtype && v.shape == next.shape; });
        if (other && one_in(2) && is_usable(*other)) {
            next = *other;
        }
    }
    for (int i = 0; i < 6; ++i) {
        const auto more = pick([](const Input& v) { return v.source == Source::kNode; });
        if (more && is_usable(*more)) {
            commit.inputs.push_back(*more);
            out.state.push_back(canonical::make_tensor(more->dtype, more->shape));
        }
    }
    std::vector<canonical::TensorType> types;
    for (const Tensor& tensor : out.state) {
        types.push_back({tensor.dtype, tensor.shape});
    }
    ASSERT(canonical::check_graph(out.graph, types, types).has_value());
}

Case Maker::make() {
    constexpr std::array kRows{1U, 2U, 31U, 32U, 33U, 64U, 64U, 96U};
    constexpr std::array kCols{1U, 3U, 5U, 32U, 32U, 33U, 64U, 70U, 130U};
    rows_ = {one_of(kRows), one_of(kRows), one_in(2) ? 64U : 32U};
    cols_ = {one_of(kCols), one_of(kCols), 64U, rows_[0]};
    for (std::uint32_t left = 3 + random_.below(4); left > 0; --left) {
        add_state();
    }
    state_.push_back(canonical::test::random_f32(shape(), random_, Kind::kPlain));
    values_.push_back(state_of(state_, state_.size() - 1));
    const std::size_t size = 20 + random_.below(41);
    using Step = void (Maker::*)();
    constexpr std::array<Step, 16> kSteps{
        &Maker::source,
        &Maker::compare_and_select,
        &Maker::compare_and_select,
        &Maker::conversion,
        &Maker::narrow_or_widen,
        &Maker::narrow_or_widen,
        &Maker::reduction,
        &Maker::reduction,
        &Maker::view,
        &Maker::view,
        &Maker::gather,
        &Maker::scatter,
        &Maker::exact_sum,
        &Maker::softmax,
        &Maker::quantise_alone,
        &Maker::product};
    while (graph_.size() < size) {
        (this->*(one_in(3) ? &Maker::elementwise : one_of(kSteps)))();
        if (values_.back().shape.element_count() > kMaxElements) {
            values_.pop_back();  // a node that nobody reads
        }
    }
    Case out;
    finish(out);
    out.context = {.seed = random_.next(), .step = random_.next() >> random_.below(64), .dataset = out.rows->shape()};
    return out;
}

}  // namespace

Case random_graph(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace assay::test
