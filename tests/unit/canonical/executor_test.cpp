// SPDX-License-Identifier: Apache-2.0
#include <core/canonical/executor.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

// next = state * 2 + 1, by two nodes and a commit.
Graph doubling() {
    const Shape shape{3, 40};
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    return {
        {Op::kScale, DType::kF32, shape, {bits(2.0F), 0}, {{Source::kState, 0, DType::kF32, shape}}},
        {Op::kAddConst, DType::kF32, shape, {bits(1.0F), 0}, {{Source::kNode, 0, DType::kF32, shape}}},
        {Op::kCommit, DType::kF32, {}, {}, {{Source::kNode, 1, DType::kF32, shape}}},
    };
}

}  // namespace

TEST_CASE("NUM-1: a graph runs its nodes in order and returns what it commits") {
    const Graph graph = doubling();
    const std::vector<TensorType> types{{DType::kF32, {3, 40}}};
    REQUIRE(check_graph(graph, types, types).has_value());
    std::vector<Tensor> state{make_tensor(DType::kF32, {3, 40})};
    std::uint32_t seen = 0;
    for (int step = 0; step < 4; ++step) {
        auto next = execute_graph(graph, {}, test::CountingRows({}), state, [&](std::uint32_t node, const Tensor&) {
            seen += node + 1;
            return true;
        });
        REQUIRE(next.has_value());
        state = *std::move(next);
    }
    CHECK(test::get_f32(state[0], 119) == 15.0F);
    CHECK(seen == 12);
}

TEST_CASE("NUM-1: an observer can stop a step") {
    std::vector<Tensor> state{make_tensor(DType::kF32, {3, 40})};
    const auto next =
        execute_graph(doubling(), {}, test::CountingRows({}), state, [](std::uint32_t node, const Tensor&) {
            CHECK(node == 0);
            return false;
        });
    REQUIRE(next.has_value());
    CHECK(next->empty());
}

TEST_CASE("NUM-6: a step whose next state is not finite has diverged") {
    for (const float bad : {std::numeric_limits<float>::max(), std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<Tensor> state{make_tensor(DType::kF32, {3, 40})};
        test::set_f32(state[0], 77, bad);
        const auto next = execute_graph(doubling(), {}, test::CountingRows({}), state);
        REQUIRE_FALSE(next.has_value());
        CHECK(next.error() == StepError::kDiverged);
    }
}
