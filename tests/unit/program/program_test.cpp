// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <vector>

#include <core/codec/borsh.hpp>
#include <doctest/doctest.h>
#include <tests/unit/program/scalar_graph.hpp>
#include <verifier/compile/program/model_builder.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Op;

namespace {

CharModelConfig demo_model() {
    CharModelConfig config;
    config.vocabulary = 65;
    config.hidden = 256;
    config.dataset_rows = 10'000;
    return config;
}

OptimizerConfig optimizer(OptimizerKind kind) {
    OptimizerConfig config;
    config.kind = kind;
    return config;
}

Program demo() { return build_char_model(demo_model(), optimizer(OptimizerKind::kAdam)); }

std::size_t find(const canonical::Graph& graph, Op op) {
    std::size_t i = 0;
    while (graph[i].op != op) {
        ++i;
    }
    return i;
}

struct Malformation {
    ProgramError error;
    std::function<void(Program&)> apply;
};

void check_refused(const std::vector<Malformation>& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        CAPTURE(i);
        Program program = demo();
        table[i].apply(program);
        const auto checked = check_program(program);
        REQUIRE_FALSE(checked.has_value());
        CHECK(checked.error() == table[i].error);
        CHECK(decode_program(codec::encode(program)).error() == table[i].error);
    }
}

}  // namespace

TEST_CASE("PRG-1: a built program is the program that its encoding decodes to") {
    for (const auto kind : {OptimizerKind::kSgdMomentum, OptimizerKind::kAdam}) {
        const Program program = build_char_model(demo_model(), optimizer(kind));
        CHECK(check_program(program).has_value());
        const Bytes bytes = codec::encode(program);
        const auto decoded = decode_program(bytes);
        REQUIRE(decoded.has_value());
        CHECK(codec::encode(*decoded) == bytes);
        MESSAGE("step nodes: " << program.step.size() << ", encoded bytes: " << bytes.size());
        CHECK(program.step.size() < 256);
    }
}

TEST_CASE("PRG-1: bytes that are not the encoding of a program are refused") {
    Bytes bytes = codec::encode(demo());
    bytes.push_back(0);
    CHECK(decode_program(bytes).error() == ProgramError::kMalformed);
    bytes.resize(bytes.size() / 2);
    CHECK(decode_program(bytes).error() == ProgramError::kMalformed);
    CHECK(decode_program({}).error() == ProgramError::kMalformed);
}

TEST_CASE("PRG-5: a program whose init or step graph is not well-formed is refused") {
    check_refused({
        {ProgramError::kInit, [](Program& p) { p.init.clear(); }},
        {ProgramError::kInit, [](Program& p) { p.init.pop_back(); }},
        {ProgramError::kInit, [](Program& p) { p.init.back().inputs.pop_back(); }},
        {ProgramError::kInit, [](Program& p) { p.init.back().inputs[0].source = canonical::Source::kState; }},
        {ProgramError::kInit, [](Program& p) { p.state[0].type.shape.rows += 1; }},
        {ProgramError::kInit, [](Program& p) { p.state.pop_back(); }},
        {ProgramError::kStep, [](Program& p) { p.step.clear(); }},
        {ProgramError::kStep, [](Program& p) { p.step.back().inputs.pop_back(); }},
        {ProgramError::kStep, [](Program& p) { p.step.push_back(p.step.back()); }},
        {ProgramError::kStep, [](Program& p) { p.step[find(p.step, Op::kContract)].attributes[0] = 32; }},
        {ProgramError::kStep, [](Program& p) { p.step[find(p.step, Op::kSub)].inputs[0].index = 5'000; }},
        {ProgramError::kStep, [](Program& p) { p.step[find(p.step, Op::kGatherRows)].inputs[0].index = 63; }},
        {ProgramError::kStep, [](Program& p) { p.step[0].shape.rows += 1; }},
    });
}

TEST_CASE("PRG-6: a program whose state has no or ambiguous names is refused") {
    check_refused({
        {ProgramError::kState, [](Program& p) { p.state.clear(); }},
        {ProgramError::kState, [](Program& p) { p.state[1].name.clear(); }},
        {ProgramError::kState, [](Program& p) { p.state[1].name = p.state[0].name; }},
        {ProgramError::kState, [](Program& p) { p.state[1].name = "__metadata__"; }},
        {ProgramError::kState, [](Program& p) { p.state[1].name = std::string(513, 'n'); }},
        {ProgramError::kState,
         [](Program& p) {
             while (p.state.size() <= canonical::kMaxStateTensors) {
                 p.state.push_back({"extra" + std::to_string(p.state.size()), p.state[0].type});
             }
         }},
    });
}

TEST_CASE("PRG-6: a program whose initial tensors have no or ambiguous names, or no possible type, is refused") {
    const canonical::TensorType type{canonical::DType::kF32, {2, 3}};
    check_refused({
        {ProgramError::kInitial,
         [=](Program& p) {
             p.initial = {{"", type}};
         }},
        {ProgramError::kInitial,
         [=](Program& p) {
             p.initial = {{"a", type}, {"b", type}, {"a", type}};
         }},
        {ProgramError::kInitial,
         [=](Program& p) {
             p.initial = {{"a", {type.dtype, {0, 3}}}};
         }},
        {ProgramError::kInitial,
         [=](Program& p) {
             p.initial = {{"a", {type.dtype, {2, (1U << 24U) + 1}}}};
         }},
        {ProgramError::kInitial,
         [=](Program& p) {
             while (p.initial.size() <= canonical::kMaxTensorsBefore) {
                 p.initial.push_back({"given" + std::to_string(p.initial.size()), type});
             }
         }},
    });
    // One that nothing reads does no harm.
    Program program = demo();
    program.initial = {{"a", type}};
    CHECK(check_program(program).has_value());
    CHECK(decode_program(codec::encode(program)).has_value());
}

TEST_CASE("PRG-6: the state of step 0 may be made of initial tensors, of their types only") {
    ModelBuilder builder(kXg21);
    const canonical::Shape shape{2, 3};
    const Value given = builder.parameter("given", shape, Start::given());
    const Value fresh = builder.parameter("fresh", shape, Start::constant(0.5F));
    const Value loss = builder.tape().sum(builder.tape().mul(given, fresh));
    Program program = builder.finish(loss, optimizer(OptimizerKind::kSgd), {1, {1, 1}});
    REQUIRE(check_program(program).has_value());
    REQUIRE(program.initial.size() == 1);
    CHECK(program.initial[0].name == "given");
    const test::Matrix values{shape, {1, 2, 3, 4, 5, 6}};
    const auto state = test::run(program.init, {values});
    CHECK(state[0].values == values.values);
    CHECK(state[1].values == std::vector<double>(6, 0.5));
    program.initial[0].type.shape.rows = 3;
    CHECK(check_program(program).error() == ProgramError::kInit);
    program.initial.clear();
    CHECK(check_program(program).error() == ProgramError::kInit);
}

TEST_CASE("PRG-6: a program whose loss is not a scalar of the step is refused") {
    check_refused({
        {ProgramError::kLoss, [](Program& p) { p.loss_node = 0; }},
        {ProgramError::kLoss, [](Program& p) { p.loss_node = static_cast<std::uint32_t>(p.step.size() - 1); }},
        {ProgramError::kLoss, [](Program& p) { p.loss_node = 0xffffffff; }},
    });
}

TEST_CASE("PRG-6: a program whose batches are not those of its dataset is refused") {
    check_refused({
        {ProgramError::kDataset, [](Program& p) { p.dataset.rows = 0; }},
        {ProgramError::kDataset, [](Program& p) { p.dataset.width += 1; }},
        {ProgramError::kDataset, [](Program& p) { p.dataset.width = canonical::kMaxDimension + 1; }},
        {ProgramError::kDataset, [](Program& p) { p.batch_size = 0; }},
        {ProgramError::kDataset, [](Program& p) { p.batch_size += 1; }},
        {ProgramError::kDataset,
         [](Program& p) {
             const auto batch = p.step[find(p.step, Op::kBatchRows)];
             p.init.insert(p.init.end() - 1, batch);
         }},
    });
}
