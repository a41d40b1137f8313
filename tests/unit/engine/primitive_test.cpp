// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/engine/equality.hpp>

using namespace assay;
using namespace assay::test;
using canonical::DType;
using canonical::Graph;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Tensor;
using canonical::test::Kind;
using canonical::test::Random;

namespace {

// Nodes side by side, each over tensors of its own.
class SideBySide {
  public:
    void add(Node node, const std::vector<Tensor>& inputs) {
        node.inputs.clear();
        for (const Tensor& tensor : inputs) {
            state_.push_back(tensor);
            node.inputs.push_back(state_of(state_, state_.size() - 1));
        }
        REQUIRE(canonical::check_node(node).has_value());
        graph_.push_back(std::move(node));
    }
    Case finish() && { return make_case(std::move(graph_), std::move(state_)); }

  private:
    Graph graph_;
    std::vector<Tensor> state_;
};

void check_samples(Op op, std::uint64_t seed) {
    constexpr int kSamples = 20;
    Random random(seed);
    CAPTURE(canonical::to_string(op));
    for (const Kind kind : {Kind::kPlain, Kind::kHostile}) {
        SideBySide nodes;
        canonical::StepContext context;
        for (int i = 0; i < kSamples; ++i) {
            const auto sample = canonical::test::random_sample(op, random, kind);
            nodes.add(sample.node, sample.inputs);
            context = sample.context;
            if (op == Op::kBatchRows) {
                break;  // a dataset has one width
            }
        }
        Case c = std::move(nodes).finish();
        c.context = context;
        if (op == Op::kBatchRows) {
            c.rows = std::make_shared<canonical::test::CountingRows>(context.dataset);
        }
        check_everywhere(c);
    }
}

// Every exponent, both signs, many fractions.
Tensor sweep(Shape shape) {
    Tensor out = canonical::make_tensor(DType::kF32, shape);
    const auto step = static_cast<std::uint32_t>((std::uint64_t{1} << 32U) / shape.element_count());
    for (std::uint32_t i = 0; i < shape.element_count(); ++i) {
        canonical::test::set_u32(out, i, i * step + i % 4093U);
    }
    return out;
}

}  // namespace

TEST_CASE("NUM-1: every primitive equals the definition on every engine") {
    for (const Op op : canonical::test::all_ops()) {
        check_samples(op, 100 + static_cast<std::uint64_t>(op));
    }
}

TEST_CASE("NUM-1: what works element by element equals the definition over the whole range of f32") {
    constexpr Shape kShape{256, 256};
    SideBySide nodes;
    for (const Op op :
         {Op::kExp, Op::kLog, Op::kTanh, Op::kErf, Op::kSin, Op::kCos, Op::kSqrt, Op::kAbs, Op::kFloor, Op::kRint,
          Op::kRelu, Op::kToInt}) {
        nodes.add({op, op == Op::kToInt ? DType::kI32 : DType::kF32, kShape, {}, {}, {}}, {sweep(kShape)});
    }
    check_everywhere(std::move(nodes).finish());
}

TEST_CASE("NUM-39, NUM-40: every bf16 and i8 is widened, and the whole range of f32 narrowed, alike on every engine") {
    constexpr Shape kShape{256, 256};
    Tensor halves = canonical::make_tensor(DType::kBf16, kShape);
    Tensor bytes = canonical::make_tensor(DType::kI8, kShape);
    Tensor integers = canonical::make_tensor(DType::kI32, kShape);
    Tensor dither = canonical::make_tensor(DType::kF32, {1, kShape.cols});
    for (std::uint32_t i = 0; i < kShape.element_count(); ++i) {
        canonical::test::set_u16(halves, i, static_cast<std::uint16_t>(i));
        canonical::test::set_i8(bytes, i, static_cast<std::int8_t>(i % 256));
        canonical::test::set_i32(integers, i, static_cast<std::int32_t>(i) - 300);
        canonical::test::set_f32(dither, i % kShape.cols, static_cast<float>(i % kShape.cols) / 256.0F - 0.5F);
    }
    canonical::test::set_u32(integers, 0, 0x80000000U);
    canonical::test::set_u32(integers, 1, 0x7fffffffU);
    SideBySide nodes;
    nodes.add({Op::kNarrow, DType::kBf16, kShape, {}, {}, {}}, {sweep(kShape)});
    nodes.add({Op::kNarrow, DType::kBf16, kShape, {}, {}, {}}, {sweep(kShape), dither});
    nodes.add({Op::kNarrow, DType::kI8, kShape, {}, {}, {}}, {integers});
    nodes.add({Op::kWiden, DType::kF32, kShape, {}, {}, {}}, {halves});
    nodes.add({Op::kWiden, DType::kI32, kShape, {}, {}, {}}, {bytes});
    check_everywhere(std::move(nodes).finish());
}

TEST_CASE("NUM-6: a step whose next bf16 tensor has an infinity or a NaN has diverged on every engine") {
    for (const std::uint32_t bits : {0x7f7f0000U, 0x7f7fffffU, 0x7fc00000U, 0xff800000U}) {
        CAPTURE(bits);
        Tensor x = canonical::make_tensor(DType::kF32, {3, 40});
        canonical::test::set_u32(x, 77, bits);
        std::vector<Tensor> state{x, canonical::make_tensor(DType::kBf16, x.shape)};
        Graph graph;
        graph.push_back({Op::kNarrow, DType::kBf16, x.shape, {}, {state_of(state, 0)}, {}});
        graph.push_back({Op::kFill, DType::kF32, x.shape, {}, {}, {}});
        Case c = make_case(std::move(graph), std::move(state));
        c.graph.back().inputs = {output_of(c.graph, 1), output_of(c.graph, 0)};
        const Outcome expected = by_definition(c);
        CHECK(expected.next.has_value() == (bits == 0x7f7f0000U));
        check_everywhere(c, expected);
    }
}

TEST_CASE("NUM-1: a second operand is repeated along every dimension that it lacks") {
    Random random(7);
    for (const Shape shape : {Shape{1, 1}, Shape{1, 70}, Shape{33, 1}, Shape{32, 32}, Shape{37, 65}, Shape{3, 2100}}) {
        SideBySide nodes;
        for (const Op op :
             {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kReluGrad, Op::kMax, Op::kMin, Op::kLess, Op::kEqual,
              Op::kSelect}) {
            for (const Shape second : {shape, Shape{shape.rows, 1}, Shape{1, shape.cols}, Shape{1, 1}}) {
                std::vector<Tensor> inputs{
                    random_f32(shape, random, Kind::kHostile), random_f32(second, random, Kind::kHostile)};
                if (op == Op::kSelect) {
                    inputs.push_back(random_f32({1, shape.cols}, random, Kind::kHostile));
                }
                nodes.add({op, DType::kF32, shape, {}, {}, {}}, inputs);
            }
        }
        check_everywhere(std::move(nodes).finish());
    }
}

TEST_CASE("NUM-14: quantised values of 7 bits are those of an int8 on every engine") {
    const Shape shape{2, 64};
    Tensor x = canonical::make_tensor(DType::kF32, shape);
    for (std::uint32_t i = 0; i < shape.element_count(); ++i) {
        canonical::test::set_f32(x, i, (i % 2 == 0 ? 1.0F : -1.0F) * (2.0F - static_cast<float>(i) * 0x1p-8F));
    }
    Tensor e = canonical::make_tensor(DType::kI32, {2, 1});
    canonical::test::set_i32(e, 0, 1);
    canonical::test::set_i32(e, 1, 1);
    SideBySide nodes;
    nodes.add({Op::kQuantise, DType::kI32, shape, {7, 0}, {}, {}}, {x, e});
    nodes.add({Op::kQuantise, DType::kI32, shape, {8, 0}, {}, {}}, {x, e});
    const Case c = std::move(nodes).finish();
    const Outcome expected = by_definition(c);
    CHECK(canonical::test::get_i32(expected.outputs[0], 0) == 127);
    CHECK(canonical::test::get_i32(expected.outputs[0], 1) == -127);
    CHECK(canonical::test::get_i32(expected.outputs[1], 0) == 256);
    check_everywhere(c, expected);
}

TEST_CASE("NUM-14: operands of every size are rounded alike on every engine") {
    constexpr std::int32_t kLow = -160;  // below the exponent of the smallest f32
    const Shape shape{300, 40};
    Random random(9);
    Tensor e = canonical::make_tensor(DType::kI32, {shape.rows, 1});
    for (std::uint32_t i = 0; i < shape.rows; ++i) {
        canonical::test::set_i32(e, i, kLow + static_cast<std::int32_t>(i));
    }
    SideBySide nodes;
    for (const std::uint32_t precision : {2U, 7U, 8U, 21U, 22U, 23U, 24U}) {
        for (const Kind kind : {Kind::kPlain, Kind::kHostile}) {
            Tensor x = random_f32(shape, random, kind);
            // Ties and their neighbours about the exponent of the row.
            for (std::uint32_t i = 0; kind == Kind::kPlain && i < shape.element_count(); ++i) {
                const auto k = kLow + static_cast<std::int32_t>(i / shape.cols) - static_cast<std::int32_t>(precision);
                const float odd = static_cast<float>(2 * (i % shape.cols) + 1) / 2.0F;
                const float sign = i % 3 == 0 ? -1.0F : 1.0F;
                canonical::test::set_f32(x, i, sign * std::ldexp(std::nextafter(odd, static_cast<float>(i % 5)), k));
            }
            nodes.add({Op::kQuantise, DType::kI32, shape, {precision, 0}, {}, {}}, {x, e});
        }
    }
    check_everywhere(std::move(nodes).finish());
}

TEST_CASE("NUM-19: exponents and sums of short rows equal the definition on every engine") {
    Random random(10);
    for (const std::uint32_t cols : {1U, 4U, 9U, 31U}) {
        CAPTURE(cols);
        const Shape column{70, 1};  // more rows than are worked on side by side
        std::vector<Tensor> state{random_f32({column.rows, cols}, random, Kind::kHostile)};
        Graph graph;
        graph.push_back({Op::kRowExponent, DType::kI32, column, {32, 0}, {state_of(state, 0)}, {}});
        const canonical::Input e = output_of(graph, 0);
        graph.push_back({Op::kQuantise, DType::kI32, state[0].shape, {24, 0}, {state_of(state, 0), e}, {}});
        graph.push_back({Op::kRowSum, DType::kI64, column, {}, {output_of(graph, 1)}, {}});
        graph.push_back({Op::kDequantise, DType::kF32, column, {24, 0}, {output_of(graph, 2), e}, {}});
        check_everywhere(make_case(std::move(graph), std::move(state)));
    }
}

TEST_CASE("NUM-38: ties, zeros of both signs and rows of NaN have one largest column on every engine") {
    const std::uint32_t nan = 0xffc12345;
    const std::uint32_t low = 0xff800000;
    const std::vector<std::vector<std::uint32_t>> table{
        {nan, nan, nan},
        {nan, low, low},
        {low, nan, low},
        {0x80000000, 0, 0x80000000},
        {0, 0x80000000, nan},
        {0x3f800000, 0x40000000, 0x40000000},
        {nan, 0x7f800000, 0x7f800000},
        {1, 0x80000001, 1},
    };
    // More rows than are worked on side by side.
    Tensor x = canonical::make_tensor(DType::kF32, {static_cast<std::uint32_t>(5 * table.size()), 3});
    for (std::size_t i = 0; i < x.shape.element_count(); ++i) {
        canonical::test::set_u32(x, i, table[i / 3 % table.size()][i % 3]);
    }
    SideBySide nodes;
    nodes.add({Op::kRowArgMax, DType::kI32, {x.shape.rows, 1}, {}, {}, {}}, {x});
    nodes.add({Op::kRowMax, DType::kF32, {x.shape.rows, 1}, {}, {}, {}}, {x});
    check_everywhere(std::move(nodes).finish());
}
