// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include <tests/unit/dispute/game.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/work.hpp>

using namespace assay;
using namespace assay::canonical;
using namespace assay::dispute;

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

Input from_node(std::uint32_t index, Shape shape) { return {Source::kNode, index, DType::kF32, shape}; }
Input from_state(std::uint32_t index, Shape shape) { return {Source::kState, index, DType::kF32, shape}; }

}  // namespace

TEST_CASE("WRK-1: a contraction is its multiply-adds and its passes over memory, every other node those passes") {
    const Node product{
        .op = Op::kContract,
        .shape = {40, 50},
        .inputs = {from_node(0, {40, 64}), from_node(1, {40, 1}), from_node(2, {50, 64}), from_node(3, {50, 1})}};
    CHECK(work_of(product) == 40 * 50 * 64 + 8 * (40 * 50 + 40 * 64 + 40 + 50 * 64 + 50));
    // Two groups: each of the output's rows belongs to one of them, and is as long a sum.
    const Node grouped{
        .op = Op::kContract,
        .shape = {64, 32},
        .inputs = {from_node(0, {64, 96}), from_node(1, {64, 1}), from_node(2, {64, 96}), from_node(3, {64, 1})}};
    CHECK(work_of(grouped) == 64 * 32 * 96 + 8 * (64 * 32 + 2 * (64 * 96 + 64)));
    CHECK(
        work_of(Node{.op = Op::kAdd, .shape = {3, 5}, .inputs = {from_node(0, {3, 5}), from_node(1, {1, 5})}}) ==
        8 * (15 + 15 + 5)
    );
    CHECK(work_of(Node{.op = Op::kFill, .shape = {7, 2}}) == 8 * 14);
    CHECK(
        work_of(Node{.op = Op::kCommit, .shape = {}, .inputs = {from_node(0, {3, 5}), from_state(0, {2, 2})}}) == 8 * 19
    );
}

TEST_CASE("WRK-1: work that does not fit is the greatest number, not a small one") {
    constexpr std::uint32_t kMany = kMaxDimension;
    const Node vast{.op = Op::kContract, .shape = {kMany, kMany}, .inputs = {from_node(0, {kMany, kMany})}};
    CHECK(work_of(vast) == kMost);
    CHECK(work_of(Graph{vast, vast}) == kMost);
    CHECK(memory_of(Graph(20'000, Node{.op = Op::kFill, .shape = {kMany, kMany}})) == std::uint64_t{4} * kMany * kMany);
}

TEST_CASE("WRK-2: an output takes memory until its last reader, the state that is read throughout") {
    const Shape one{1, 8};  // 32 bytes
    const Graph graph{
        {.op = Op::kFill, .shape = one},                                                          // 0: alive to node 3
        {.op = Op::kRelu, .shape = {2, 8}, .inputs = {from_state(1, {2, 8})}},                    // 1: to 2
        {.op = Op::kRelu, .shape = {2, 8}, .inputs = {from_node(1, {2, 8})}},                     // 2: to 4
        {.op = Op::kAdd, .shape = {4, 8}, .inputs = {from_node(0, one), from_state(1, {2, 8})}},  // 3: nobody
        {.op = Op::kCommit, .shape = {}, .inputs = {from_node(2, {2, 8}), from_state(0, one)}}};
    // State 0 and 1: 96. Before node 3 ends: nodes 0, 2 and 3, 32 + 64 + 128.
    CHECK(memory_of(graph) == 96 + 32 + 64 + 128);
    const Node wide{.op = Op::kRowSum, .dtype = canonical::DType::kI64, .shape = {5, 1}};
    const Node commit{.op = Op::kCommit, .shape = {}, .inputs = {from_node(0, {5, 1}), from_node(1, {3, 7})}};
    CHECK(outputs_of({wide, {.op = Op::kFill, .shape = {3, 7}}, commit}) == 5 * 8 + 3 * 7 * 4);
}

TEST_CASE("WRK-2: a program's commitment states what follows from its graphs, and its id depends on it") {
    const dispute::testing::World world = dispute::testing::char_world();
    ProgramCommitment commitment = world.commitment();
    CHECK(commitment.init_work == work_of(world.init));
    CHECK(commitment.step_work == work_of(world.step));
    CHECK(commitment.memory == std::max(memory_of(world.init), memory_of(world.step)));
    CHECK(commitment.step_work > 37ULL * 64 * 40);  // the product of the hidden layer at least
    CHECK(commitment.outputs == std::max(outputs_of(world.init), outputs_of(world.step)));
    const Hash256 id = program_id(commitment);
    ++commitment.step_work;
    CHECK(program_id(commitment) != id);
    --commitment.step_work;
    ++commitment.outputs;
    CHECK(program_id(commitment) != id);
}
