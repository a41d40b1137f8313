// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include <tests/unit/engine/equality.hpp>
#include <tests/unit/program/text_rows.hpp>

using namespace assay;
using namespace assay::test;
using canonical::DType;
using canonical::Graph;
using canonical::Input;
using canonical::Node;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using canonical::Tensor;

namespace {

constexpr std::array kShapes{Shape{1, 1}, Shape{1, 70}, Shape{33, 1}, Shape{32, 32}, Shape{37, 65}, Shape{5, 2100}};

struct Call {
    Op op;
    DType dtype = DType::kF32;
    Shape shape;
    std::array<std::uint32_t, 2> attributes{};
};

Input input_of(const Tensor& tensor, std::uint32_t index) { return {Source::kState, index, tensor.dtype, tensor.shape}; }

Node commit_of(const Node& node, std::uint32_t index) {
    return Node{Op::kCommit, DType::kF32, Shape{}, {}, {Input{Source::kNode, index, node.dtype, node.shape}}};
}

// One node over the given tensors, on every engine.
void check_call(const Call& call, const std::vector<Tensor>& inputs) {
    Node node{call.op, call.dtype, call.shape, call.attributes, {}};
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        node.inputs.push_back(input_of(inputs[i], i));
    }
    REQUIRE(canonical::check_node(node).has_value());
    const auto rows = std::make_shared<TextRows>(1000, 9, 50);
    const canonical::StepContext context{.seed = 0x1234567890abcdef, .step = 3, .dataset = rows->shape()};
    check_all_engines({node, commit_of(node, 0)}, context, rows, inputs);
}

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

}  // namespace

TEST_CASE("NUM-1: the engine's elementwise primitives equal the definition") {
    Hostile random(1);
    for (const Shape shape : kShapes) {
        for (const auto kind : Hostile::kKinds) {
            const Tensor x = random.f32(shape, kind);
            for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kReluGrad}) {
                for (const Shape second : {shape, Shape{shape.rows, 1}, Shape{1, shape.cols}, Shape{1, 1}}) {
                    check_call({op, DType::kF32, shape}, {x, random.f32(second, kind)});
                }
            }
            for (const Op op : {Op::kSqrt, Op::kRelu, Op::kExp, Op::kLog}) {
                check_call({op, DType::kF32, shape}, {x});
            }
            for (const float constant : {0.001F, -1.0F, 3e38F, 1e-45F, -0.0F}) {
                check_call({Op::kScale, DType::kF32, shape, {bits_of(constant), 0}}, {x});
                check_call({Op::kAddConst, DType::kF32, shape, {bits_of(constant), 0}}, {x});
            }
        }
    }
}

TEST_CASE("NUM-1: the engine's exp and log equal the definition over their whole range") {
    constexpr Shape kShape{256, 256};
    Tensor sweep = canonical::make_tensor(DType::kF32, kShape);
    for (std::uint32_t i = 0; i < kShape.element_count(); ++i) {
        const std::uint32_t bits = i * 65'537U;  // every exponent, both signs
        std::memcpy(sweep.data.data() + std::size_t{i} * 4, &bits, 4);
    }
    check_call({Op::kExp, DType::kF32, kShape}, {sweep});
    check_call({Op::kLog, DType::kF32, kShape}, {sweep});
}

TEST_CASE("NUM-1: the engine's sources equal the definition") {
    check_call({Op::kFill, DType::kF32, {37, 65}, {bits_of(-1.5F), 0}}, {});
    check_call({Op::kFill, DType::kF32, {3, 5}, {bits_of(-0.0F), 0}}, {});
    check_call({Op::kFill, DType::kF32, {3, 5}, {0xffc12345, 0}}, {});
    check_call({Op::kUniform, DType::kF32, {37, 65}, {bits_of(0.25F), 9}}, {});
    check_call({Op::kBatchRows, DType::kI32, {70, 9}}, {});
}

TEST_CASE("NUM-1: the engine's data movement equals the definition") {
    Hostile random(2);
    for (const Shape shape : kShapes) {
        const Shape turned{shape.cols, shape.rows};
        const std::array<Tensor, 3> tensors{
            random.f32(shape, Hostile::Kind::kAnything), random.i32(shape, -9, 9), random.i64(shape)};
        for (const Tensor& x : tensors) {
            check_call({Op::kTranspose, x.dtype, turned}, {x});
            check_call({Op::kSliceCols, x.dtype, {shape.rows, (shape.cols + 1) / 2}, {shape.cols / 2, 0}}, {x});
        }
    }
    for (const Shape index_shape : {Shape{1, 1}, Shape{37, 5}, Shape{64, 40}}) {
        const Tensor index = random.i32(index_shape, -3, 43);
        const std::uint32_t width = index_shape.cols * 64;
        const Tensor table = random.f32({40, 64}, Hostile::Kind::kAnything);
        check_call({Op::kGatherRows, DType::kF32, {index_shape.rows, width}}, {table, index});
        const Tensor q = random.i32({index_shape.rows, width}, INT32_MIN, INT32_MAX);
        check_call({Op::kScatterAddRows, DType::kI64, {40, 64}}, {q, index});
    }
    check_call({Op::kOneHot, DType::kF32, {37, 65}}, {random.i32({37, 1}, -2, 66)});
}

TEST_CASE("NUM-1: the engine's reductions and fixed point equal the definition") {
    Hostile random(3);
    for (const Shape shape : kShapes) {
        check_call({Op::kRowMax, DType::kI32, {shape.rows, 1}}, {random.i32(shape, INT32_MIN, INT32_MAX)});
        check_call({Op::kRowSum, DType::kI64, {shape.rows, 1}}, {random.i32(shape, INT32_MIN, INT32_MAX)});
        for (const Shape e_shape : {Shape{shape.rows, 1}, Shape{1, 1}}) {
            const Tensor e = random.i32(e_shape, -160, 140);
            const Tensor wild = random.i32(e_shape, INT32_MIN, INT32_MAX);
            check_call({Op::kDequantise, DType::kF32, shape, {30, 0}}, {random.i64(shape), e});
            check_call({Op::kDequantise, DType::kF32, shape, {0, 0}}, {random.i64(shape), wild});
            for (const auto kind : Hostile::kKinds) {
                check_call({Op::kQuantise, DType::kI32, shape, {30, 0}}, {random.f32(shape, kind), e});
                check_call({Op::kQuantise, DType::kI32, shape, {7, 32}}, {random.f32(shape, kind), wild});
            }
        }
        for (const std::uint32_t chunk : {32U, 64U, 2048U}) {
            const std::uint32_t chunks = (shape.cols + chunk - 1) / chunk;
            const Tensor e = random.i32({shape.rows, chunks}, -40, 40);
            for (const auto kind : Hostile::kKinds) {
                const Tensor x = random.f32(shape, kind);
                check_call({Op::kRowMax, DType::kF32, {shape.rows, 1}}, {x});
                check_call({Op::kRowExponent, DType::kI32, {shape.rows, chunks}, {chunk, 0}}, {x});
                check_call({Op::kQuantise, DType::kI32, shape, {21, chunk}}, {x, e});
            }
        }
    }
}

namespace {

struct Contraction {
    Shape a;
    std::uint32_t n = 0;
    std::uint32_t precision = 0;
    std::uint32_t chunk = 0;
};

// Exponents, quantisation and contraction of two f32 tensors, as a program writes them.
void check_contraction(const Contraction& c, const Tensor& a, const Tensor& b) {
    const std::uint32_t chunks = (c.a.cols + c.chunk - 1) / c.chunk;
    Graph graph;
    for (std::uint32_t side = 0; side < 2; ++side) {
        const Tensor& x = side == 0 ? a : b;
        const Shape e_shape{x.shape.rows, chunks};
        const Input exponent{Source::kNode, 2 * side, DType::kI32, e_shape};
        graph.push_back({Op::kRowExponent, DType::kI32, e_shape, {c.chunk, 0}, {input_of(x, side)}});
        graph.push_back(
            {Op::kQuantise, DType::kI32, x.shape, {c.precision, c.chunk}, {input_of(x, side), exponent}}
        );
    }
    Node contract{Op::kContract, DType::kF32, {c.a.rows, c.n}, {c.precision, c.chunk}, {}};
    for (const std::uint32_t from : {1U, 0U, 3U, 2U}) {
        contract.inputs.push_back({Source::kNode, from, graph[from].dtype, graph[from].shape});
    }
    REQUIRE(canonical::check_node(contract).has_value());
    graph.push_back(contract);
    graph.push_back(commit_of(contract, 4));
    const auto rows = std::make_shared<TextRows>(1, 1, 2);
    check_all_engines(graph, {}, rows, {a, b});
}

}  // namespace

TEST_CASE("NUM-1: the engine's contraction equals the definition for every profile") {
    Hostile random(4);
    const std::array<Contraction, 9> table{{
        {{1, 1}, 1, 21, 2048},
        {{37, 65}, 33, 21, 2048},
        {{5, 2100}, 40, 21, 2048},
        {{64, 512}, 70, 21, 2048},
        {{9, 200}, 11, 21, 64},
        {{9, 2100}, 11, 24, 16384},
        {{33, 300}, 31, 24, 32},
        {{33, 700}, 31, 8, 256},
        {{33, 700}, 31, 7, 65536},
    }};
    for (const Contraction& c : table) {
        for (const auto kind : Hostile::kKinds) {
            CAPTURE(c.a.cols);
            check_contraction(c, random.f32(c.a, kind), random.f32({c.n, c.a.cols}, kind));
        }
    }
}

TEST_CASE("NUM-16: a contraction of integers that nothing bounds wraps as the definition does") {
    Hostile random(5);
    for (const Shape a : {Shape{3, 33}, Shape{35, 70}}) {
        const std::uint32_t chunks = (a.cols + 31) / 32;
        for (const bool is_wide : {false, true}) {
            const std::uint32_t chunk = is_wide ? 2048 : 32;
            const std::uint32_t e_cols = is_wide ? 1 : chunks;
            check_call(
                {Op::kContract, DType::kF32, {a.rows, 5}, {21, chunk}},
                {random.i32(a, INT32_MIN, INT32_MAX), random.i32({a.rows, e_cols}, INT32_MIN, INT32_MAX),
                 random.i32({5, a.cols}, INT32_MIN, INT32_MAX), random.i32({5, e_cols}, -30, 30)}
            );
        }
    }
}
