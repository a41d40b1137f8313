// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/node.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

bool refused(const Node& node, NodeError error) {
    const auto result = check_node(node);
    return !result && result.error() == error;
}

Input input(DType dtype, Shape shape) { return {Source::kState, 0, dtype, shape}; }

Node contract(std::uint32_t precision, std::uint32_t chunk) {
    return {
        Op::kContract,
        DType::kF32,
        {3, 4},
        {precision, chunk},
        {input(DType::kI32, {3, 100}), input(DType::kI32, {3, (100 + chunk - 1) / chunk}), input(DType::kI32, {4, 100}),
         input(DType::kI32, {4, (100 + chunk - 1) / chunk})}};
}

}  // namespace

TEST_CASE("PRG-2: only narrow writes bf16 and i8, only widen reads them, and a state may hold them") {
    const Shape shape{2, 64};
    const auto input = [&](DType dtype) { return Input{Source::kState, 0, dtype, shape}; };
    const auto checked = [&](Op op, DType dtype, std::vector<Input> inputs) {
        Node node{.op = op, .dtype = dtype, .shape = shape};
        node.inputs = std::move(inputs);
        return check_node(node);
    };
    CHECK(checked(Op::kNarrow, DType::kBf16, {input(DType::kF32)}).has_value());
    CHECK(checked(Op::kNarrow, DType::kBf16, {input(DType::kF32), input(DType::kF32)}).has_value());
    CHECK(checked(Op::kNarrow, DType::kI8, {input(DType::kI32)}).has_value());
    CHECK(checked(Op::kWiden, DType::kF32, {input(DType::kBf16)}).has_value());
    CHECK(checked(Op::kWiden, DType::kI32, {input(DType::kI8)}).has_value());
    Node commit{.op = Op::kCommit, .shape = {}};
    commit.inputs = {input(DType::kBf16), input(DType::kI8)};
    CHECK(check_node(commit).has_value());

    CHECK(checked(Op::kNarrow, DType::kBf16, {}).error() == NodeError::kInputCount);
    CHECK(checked(Op::kNarrow, DType::kI8, {input(DType::kI32), input(DType::kF32)}).error() == NodeError::kInputCount);
    CHECK(checked(Op::kNarrow, DType::kI8, {input(DType::kF32)}).error() == NodeError::kOutputShape);
    CHECK(checked(Op::kNarrow, DType::kBf16, {input(DType::kI32)}).error() == NodeError::kOutputShape);
    CHECK(checked(Op::kNarrow, DType::kBf16, {input(DType::kBf16)}).error() == NodeError::kInputType);
    CHECK(checked(Op::kNarrow, DType::kF32, {input(DType::kF32)}).error() == NodeError::kOutputShape);
    CHECK(checked(Op::kWiden, DType::kI32, {input(DType::kBf16)}).error() == NodeError::kOutputShape);
    CHECK(checked(Op::kWiden, DType::kI32, {input(DType::kI32)}).error() == NodeError::kInputType);
    Node spread{.op = Op::kNarrow, .dtype = DType::kBf16, .shape = shape};
    spread.inputs = {input(DType::kF32), Input{Source::kState, 0, DType::kF32, {3, 64}}};
    CHECK(check_node(spread).error() == NodeError::kInputShape);
    for (const DType dtype : {DType::kBf16, DType::kI8}) {
        CHECK(checked(Op::kAdd, DType::kF32, {input(dtype), input(DType::kF32)}).error() == NodeError::kInputType);
        CHECK(checked(Op::kToFloat, DType::kF32, {input(dtype)}).error() == NodeError::kInputType);
        CHECK(checked(Op::kFill, dtype, {}).error() == NodeError::kOutputShape);
        Node maximum{.op = Op::kRowMax, .dtype = dtype, .shape = {2, 1}};
        maximum.inputs = {input(dtype)};
        CHECK(check_node(maximum).error() == NodeError::kInputType);
        Node view{.op = Op::kView, .dtype = dtype, .shape = shape};
        view.inputs = {input(dtype)};
        view.view = View{{2, 64}, {ViewAxis{2, 0, 1, {1, 0}}, ViewAxis{64, 0, 1, {0, 1}}}};
        CHECK(check_node(view).error() == NodeError::kInputType);
    }
}

TEST_CASE("PRG-2: wrong counts, types and shapes are refused for every primitive") {
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        test::Random random(static_cast<std::uint64_t>(op));
        const Node good = test::random_sample(op, random, test::Kind::kPlain).node;
        REQUIRE(check_node(good).has_value());
        // A dither may be there or not (NUM-39).
        const bool may_have_dither = op == Op::kNarrow && good.dtype == DType::kBf16;
        Node node = good;
        node.inputs.push_back(input(DType::kF32, {1, 1}));
        CHECK(refused(node, NodeError::kInputCount) != (may_have_dither && good.inputs.size() == 1));
        for (std::size_t i = 0; i < good.inputs.size(); ++i) {
            node = good;
            node.inputs.pop_back();
            CHECK(refused(node, NodeError::kInputCount) != (may_have_dither && good.inputs.size() == 2));
            node = good;
            node.inputs[i].dtype = static_cast<DType>(7);
            CHECK(refused(node, NodeError::kInputType));
            node = good;
            node.inputs[i].shape.rows += 1;
            // A table may have any number of rows.
            CHECK(check_node(node).has_value() == (op == Op::kGatherRows && i == 0));
            if (op != Op::kView && op != Op::kRowMax) {
                node = good;
                node.inputs[i].dtype = good.inputs[i].dtype == DType::kI64 ? DType::kF32 : DType::kI64;
                CHECK(refused(node, NodeError::kInputType));
            }
        }
        node = good;
        node.dtype = good.dtype == DType::kI32 ? DType::kF32 : DType::kI32;
        CHECK(refused(node, NodeError::kOutputShape));
        if (!good.inputs.empty()) {
            node = good;
            node.shape.rows += 1;
            CHECK(check_node(node).has_value() == (op == Op::kScatterAddRows));
        }
    }
}

TEST_CASE("PRG-2: a table whose width is no multiple of 32 is refused") {
    const Node gather{
        Op::kGatherRows, DType::kF32, {5, 66}, {}, {input(DType::kF32, {9, 33}), input(DType::kI32, {5, 2})}};
    CHECK(refused(gather, NodeError::kInputShape));
    const Node scatter{
        Op::kScatterAddRows, DType::kI64, {9, 33}, {}, {input(DType::kI32, {5, 66}), input(DType::kI32, {5, 2})}};
    CHECK(refused(scatter, NodeError::kOutputShape));
}

TEST_CASE("PRG-2: a further operand that does not broadcast is refused") {
    for (const Shape shape : {Shape{2, 5}, Shape{4, 2}, Shape{5, 4}}) {
        const Node node{Op::kAdd, DType::kF32, {4, 5}, {}, {input(DType::kF32, {4, 5}), input(DType::kF32, shape)}};
        CHECK(refused(node, NodeError::kInputShape));
        Node select{Op::kSelect, DType::kF32, {4, 5}, {}, std::vector<Input>(3, input(DType::kF32, {4, 5}))};
        REQUIRE(check_node(select).has_value());
        for (const std::size_t i : {1U, 2U}) {
            Node other = select;
            other.inputs[i].shape = shape;
            CHECK(refused(other, NodeError::kInputShape));
        }
    }
}

TEST_CASE("PRG-3: a contraction that would not be exact is refused") {
    CHECK(check_node(contract(21, 2048)).has_value());
    CHECK(check_node(contract(24, 16384)).has_value());
    CHECK(check_node(contract(8, 256)).has_value());
    CHECK(refused(contract(24, 16384 + 32), NodeError::kAttribute));
    CHECK(refused(contract(25, 32), NodeError::kAttribute));
    CHECK(refused(contract(1, 32), NodeError::kAttribute));
    CHECK(refused(contract(21, 48), NodeError::kAttribute));
    CHECK(refused(contract(21, 16), NodeError::kAttribute));
    Node zero = contract(21, 64);
    zero.attributes[1] = 0;
    CHECK(refused(zero, NodeError::kAttribute));
}

TEST_CASE("PRG-3: attributes out of range or unused are refused") {
    const Shape shape{4, 100};
    const auto node = [&](Op op, DType dtype, std::array<std::uint32_t, 2> attributes, std::vector<Input> inputs) {
        return Node{op, dtype, shape, attributes, std::move(inputs)};
    };
    const Input x = input(DType::kF32, shape);
    const Input e = input(DType::kI32, {4, 1});
    CHECK(check_node(node(Op::kQuantise, DType::kI32, {30, 0}, {x, e})).has_value());
    CHECK(refused(node(Op::kQuantise, DType::kI32, {31, 0}, {x, e}), NodeError::kAttribute));
    CHECK(refused(node(Op::kQuantise, DType::kI32, {0, 0}, {x, e}), NodeError::kAttribute));
    CHECK(refused(node(Op::kQuantise, DType::kI32, {21, 33}, {x, e}), NodeError::kAttribute));
    CHECK(refused(node(Op::kQuantise, DType::kI32, {21, 0}, {x, input(DType::kI32, {4, 2})}), NodeError::kAttribute));
    CHECK(refused(node(Op::kQuantise, DType::kI32, {21, 32}, {x, input(DType::kI32, {4, 2})}), NodeError::kInputShape));
    CHECK(refused(node(Op::kDequantise, DType::kF32, {101, 0}, {input(DType::kI64, shape), e}), NodeError::kAttribute));
    CHECK(refused(node(Op::kRelu, DType::kF32, {1, 0}, {x}), NodeError::kAttribute));
    CHECK(refused(node(Op::kScale, DType::kF32, {1, 1}, {x}), NodeError::kAttribute));
    CHECK(refused(node(Op::kUniform, DType::kF32, {0x7f000000, 0}, {}), NodeError::kAttribute));
    CHECK(refused(node(Op::kUniform, DType::kF32, {0x80000000, 0}, {}), NodeError::kAttribute));
    CHECK(refused(node(Op::kRowExponent, DType::kI32, {0, 0}, {x}), NodeError::kAttribute));
    CHECK(check_node(node(Op::kCausalMask, DType::kF32, {kMaxDimension, ~0U}, {x})).has_value());
    CHECK(refused(node(Op::kCausalMask, DType::kF32, {0, 0}, {x}), NodeError::kAttribute));
    CHECK(refused(node(Op::kCausalMask, DType::kF32, {kMaxDimension + 1, 0}, {x}), NodeError::kAttribute));
    CHECK(refused({Op::kStepCount, DType::kF32, {1, 1}, {0, 5}, {}}, NodeError::kAttribute));
    CHECK(check_node({Op::kStepCount, DType::kF32, {1, 1}, {~0U, ~0U}, {}}).has_value());
    CHECK(check_node(node(Op::kBernoulli, DType::kF32, {~0U, ~0U}, {})).has_value());
    CHECK(refused(node(static_cast<Op>(77), DType::kF32, {}, {}), NodeError::kInputCount));
}

TEST_CASE("PRG-4: dimensions of zero or beyond the limit are refused") {
    for (const Shape shape : {Shape{0, 1}, Shape{1, 0}, Shape{kMaxDimension + 1, 1}, Shape{1, ~0U}}) {
        CHECK(refused({Op::kFill, DType::kF32, shape, {}, {}}, NodeError::kTooLarge));
        CHECK(refused({Op::kRelu, DType::kF32, {1, 1}, {}, {input(DType::kF32, shape)}}, NodeError::kTooLarge));
    }
    CHECK(check_node({Op::kFill, DType::kF32, {kMaxDimension, 1}, {}, {}}).has_value());
    CHECK(refused({Op::kBatchRows, DType::kI32, {1, kMaxDimension + 1}, {}, {}}, NodeError::kTooLarge));
    CHECK(refused({Op::kUniform, DType::kF32, {kMaxDimension, 1025}, {}, {}}, NodeError::kTooLarge));
    CHECK(refused({Op::kBernoulli, DType::kF32, {kMaxDimension, 1025}, {}, {}}, NodeError::kTooLarge));
    const Node scatter{
        Op::kScatterAddRows,
        DType::kI64,
        {9, 32},
        {},
        {input(DType::kI32, {1U << 20U, 1U << 15U}), input(DType::kI32, {1U << 20U, 1U << 10U})}};
    CHECK(refused(scatter, NodeError::kTooLarge));
    const Node gather{
        Op::kGatherRows, DType::kF32, {1, 32}, {}, {input(DType::kF32, {9, 1U << 20U}), input(DType::kI32, {1, 32})}};
    CHECK(refused(gather, NodeError::kTooLarge));
}

TEST_CASE("PRG-7: a map that does not fit is refused") {
    const Shape shape{4, 6};
    const Node good{Op::kView,
                    DType::kF32,
                    shape,
                    {7, 0},
                    {input(DType::kF32, {8, 3})},
                    View{{24}, {{2, 0, 1, {1}}, {12, -5, 3, {-1}}}}};
    REQUIRE(check_node(good).has_value());
    const auto altered = [&](auto alter) {
        Node node = good;
        alter(node);
        return node;
    };
    const auto attribute = NodeError::kAttribute;
    CHECK(refused(altered([](Node& n) { n.view = std::nullopt; }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->dims.clear(); }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes.clear(); }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes[1].divisor = 0; }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes[1].divisor = kMaxDimension + 1; }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes[0].strides.push_back(0); }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes[0].strides.clear(); }), attribute));
    CHECK(refused(altered([](Node& n) { n.attributes[1] = 1; }), attribute));
    CHECK(refused(altered([](Node& n) { n.view->axes[0].size = 3; }), NodeError::kInputShape));
    CHECK(refused(altered([](Node& n) { n.view->axes[0].size = 0; }), NodeError::kInputShape));
    CHECK(refused(altered([](Node& n) { n.view->dims[0] = 25; }), NodeError::kOutputShape));
    CHECK(refused(altered([](Node& n) { n.view->dims[0] = 0; }), NodeError::kOutputShape));
    CHECK(refused(altered([](Node& n) { n.dtype = DType::kI32; }), NodeError::kOutputShape));
    const auto sizes = [](Node& n, std::size_t dims, std::size_t axes) {
        n.view->dims.assign(dims, 1);
        n.view->dims[0] = 24;
        n.view->axes.assign(axes, {1, 0, 1, std::vector<std::int32_t>(dims, 0)});
        n.view->axes[0].size = 24;
    };
    CHECK(check_node(altered([&](Node& n) { sizes(n, kMaxViewAxes, kMaxViewAxes); })).has_value());
    CHECK(refused(altered([&](Node& n) { sizes(n, kMaxViewAxes + 1, kMaxViewAxes); }), attribute));
    CHECK(refused(altered([&](Node& n) { sizes(n, kMaxViewAxes, kMaxViewAxes + 1); }), attribute));
    // Sizes whose product would wrap a u64 to the right number.
    const auto wrapping = [&](Node& n) {
        sizes(n, 8, 1);
        n.view->dims = {24, 1U << 28U, 1U << 28U, 1U << 8U, 1, 1, 1, 1};
    };
    CHECK(refused(altered(wrapping), NodeError::kOutputShape));
    const auto too_long = [&](Node& n) {
        sizes(n, 8, 1);
        n.view->dims[7] = kMaxViewSize + 1;
    };
    CHECK(refused(altered(too_long), NodeError::kOutputShape));
    Node wide = good;
    wide.dtype = wide.inputs[0].dtype = DType::kI64;
    CHECK(refused(wide, attribute));
    wide.attributes[0] = 0;
    CHECK(check_node(wide).has_value());
    CHECK(refused({Op::kRelu, DType::kF32, shape, {}, {input(DType::kF32, shape)}, good.view}, attribute));
}

TEST_CASE("PRG-8: groups that do not divide the rows, or are not cut along tiles, are refused") {
    const auto grouped = [](std::uint32_t rows, std::uint32_t cols, std::uint32_t right) {
        return Node{
            Op::kContract,
            DType::kF32,
            {rows, cols},
            {21, 64},
            {input(DType::kI32, {rows, 64}), input(DType::kI32, {rows, 1}), input(DType::kI32, {right, 64}),
             input(DType::kI32, {right, 1})}};
    };
    CHECK(check_node(grouped(64, 32, 64)).has_value());
    CHECK(check_node(grouped(96, 64, 192)).has_value());
    CHECK(check_node(grouped(5, 7, 7)).has_value());
    for (const Node& node :
         {grouped(5, 7, 14), grouped(64, 31, 62), grouped(48, 32, 64), grouped(33, 32, 64), grouped(64, 32, 96),
          grouped(64, 64, 32), grouped(64, 32, 33)}) {
        CHECK(refused(node, NodeError::kOutputShape));
    }
}

TEST_CASE("PRG-5: a graph refers backwards, agrees with what it names and ends in its only commit") {
    const Shape shape{2, 2};
    const TensorType type{DType::kF32, shape};
    const Input state = input(DType::kF32, shape);
    const Node relu{Op::kRelu, DType::kF32, shape, {}, {state}};
    const auto commit = [&](std::uint32_t index) {
        return Node{Op::kCommit, DType::kF32, {}, {}, {{Source::kNode, index, DType::kF32, shape}}};
    };
    const auto error = [&](const Graph& graph, std::uint32_t node, NodeError expected) {
        const auto result = check_graph(graph, {type}, {type});
        return !result && result.error().node == node && result.error().error == expected;
    };
    CHECK(check_graph({relu, commit(0)}, {type}, {type}).has_value());
    CHECK(error({}, 0, NodeError::kInputCount));
    CHECK(error({relu, commit(1)}, 1, NodeError::kForwardReference));
    CHECK(error({relu}, 0, NodeError::kOutputShape));
    CHECK(error({relu, commit(0), commit(0)}, 1, NodeError::kOutputShape));
    Node other = relu;
    other.inputs[0].index = 1;
    CHECK(error({other, commit(0)}, 0, NodeError::kForwardReference));
    other = relu;
    other.inputs[0].shape = other.shape = {2, 3};
    CHECK(error({other, commit(0)}, 0, NodeError::kForwardReference));
    other = relu;
    other.inputs[0].source = Source::kNode;
    CHECK(error({other, commit(0)}, 0, NodeError::kForwardReference));
    other.inputs[0] = {Source::kNode, 0, DType::kI32, shape};
    CHECK_FALSE(check_graph({relu, other, commit(1)}, {type}, {type}).has_value());
    CHECK_FALSE(check_graph({relu, commit(0)}, {type}, {type, type}).has_value());
    CHECK_FALSE(check_graph({relu, commit(0)}, {type}, {{DType::kF32, {2, 3}}}).has_value());
    const std::vector<TensorType> too_many(kMaxTensorsBefore + 1, type);
    CHECK_FALSE(check_graph({relu, commit(0)}, too_many, {type}).has_value());
    Node largest = commit(0);
    largest.inputs.resize(kMaxStateTensors, largest.inputs[0]);
    const std::vector<TensorType> as_many(kMaxStateTensors, type);
    CHECK(check_graph({relu, largest}, {kMaxTensorsBefore, type}, as_many).has_value());
    largest.inputs.push_back(largest.inputs[0]);
    CHECK(error({relu, largest}, 1, NodeError::kInputCount));
    Node empty = commit(0);
    empty.inputs.clear();
    CHECK(error({relu, empty}, 1, NodeError::kInputCount));
    empty = commit(0);
    empty.shape = {1, 1};
    CHECK(error({relu, empty}, 1, NodeError::kOutputShape));
}

TEST_CASE("PRG-2: every primitive has a name of its own") {
    std::set<std::string> names;
    for (const Op op : test::all_ops()) {
        CHECK(names.insert(to_string(op)).second);
    }
    CHECK(std::string(to_string(Op::kCommit)) == "commit");
    CHECK(names.count("unknown") == 0);
}
