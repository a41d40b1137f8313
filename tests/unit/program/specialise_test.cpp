// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/specialise.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Shape;
using canonical::Source;
using test::Trainer;

namespace {

constexpr std::uint64_t kRows = 40;

test::FunctionRows tokens() {
    return test::FunctionRows({kRows, 33}, [](std::uint64_t row, std::uint32_t col) {
        return static_cast<std::int32_t>((row * 3 + std::uint64_t{col} * col) % 11);
    });
}

// Dropout, clipping, decay, a schedule and two steps to an update.
Program gpt() {
    const GptConfig model{
        .vocabulary = 11,
        .context = 32,
        .layers = 1,
        .heads = 1,
        .width = 32,
        .dropout = 0.1F,
        .batch_size = 2,
        .dataset_rows = kRows};
    OptimizerConfig optimizer = test::optimizer(OptimizerKind::kAdamW, 0.01F);
    optimizer.weight_decay = 0.1F;
    optimizer.clip_norm = 1.0F;
    optimizer.accumulation = 2;
    optimizer.schedule = {.kind = ScheduleKind::kCosine, .warmup_updates = 2, .total_updates = 10};
    return build_gpt(model, optimizer);
}

std::size_t reads(const canonical::Graph& graph, std::uint32_t tensor) {
    std::size_t count = 0;
    for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
        for (const Value& input : graph[i].inputs) {
            count += input.source == Source::kState && input.index == tensor ? 1 : 0;
        }
    }
    return count;
}

// Executes both graphs of each step on the same state. Returns the numbers of nodes of the specialised ones.
std::vector<std::size_t> check_steps(Trainer& trainer, std::uint64_t steps) {
    const StepKinds kinds(trainer.program.step);
    const std::array<std::uint32_t, 1> loss{trainer.program.loss_node};
    std::vector<std::size_t> nodes;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const Specialised special = kinds.graph_of(trainer.program.step, kinds.kind_of(step), loss);
        const auto types = types_of(trainer.program.state);
        REQUIRE(canonical::check_graph(special.graph, types, types));
        float expected = 0.0F;
        float found = 0.0F;
        const auto keep = [](std::uint32_t wanted, float& value) {
            return [wanted, &value](std::uint32_t node, const canonical::Tensor& output) {
                if (node == wanted) {
                    std::memcpy(&value, output.data.data(), sizeof value);
                }
                return true;
            };
        };
        const auto context = trainer.context(step);
        auto whole = canonical::execute_graph(
            trainer.program.step, context, trainer.rows, trainer.state, keep(loss[0], expected)
        );
        const auto part =
            canonical::execute_graph(special.graph, context, trainer.rows, trainer.state, keep(special.kept[0], found));
        REQUIRE(whole.value() == part.value());
        CHECK(expected == found);
        trainer.state = *std::move(whole);
        nodes.push_back(special.graph.size());
    }
    return nodes;
}

}  // namespace

TEST_CASE("specialised graphs: steps of local replicas with accumulation are those of the whole graph") {
    const auto rows = tokens();
    const LocalReplicas local{.count = 2, .turn_steps = 4, .sent = SentForm::kSparse};
    Trainer trainer(with_local_replicas(gpt(), local).value(), rows);
    const std::size_t all = trainer.program.step.size();
    const std::vector<std::size_t> nodes = check_steps(trainer, 16);
    for (std::uint64_t step = 0; step < 16; ++step) {
        CAPTURE(step);
        // A step that only accumulates needs least, one that exchanges most.
        CHECK(nodes[step] < all);
        CHECK(nodes[step - step % 2] <= nodes[step - step % 2 + 1]);
        CHECK(nodes[step - step % 8] < nodes[step - step % 8 + 7]);
    }
}

TEST_CASE("specialised graphs: a step reads no other replica's state but to pass it on") {
    const Program program = with_local_replicas(gpt(), {.count = 3, .turn_steps = 2}).value();
    const StepKinds kinds(program.step);
    for (std::uint64_t step = 0; step < 6; ++step) {
        const Specialised special = kinds.graph_of(program.step, kinds.kind_of(step));
        const std::string own = "replica." + std::to_string(step / 2) + ".";
        for (std::uint32_t i = 0; i < program.state.size(); ++i) {
            const std::string& name = program.state[i].name;
            const bool is_others = name.find("replica.") != std::string::npos && name.find(own) == std::string::npos;
            CAPTURE(name);
            CHECK((!is_others || reads(special.graph, i) == 0));
            CHECK((!is_others || special.graph.back().inputs[i] == GraphBuilder::state(i, program.state[i].type)));
        }
    }
}

TEST_CASE("specialised graphs: what a step's number does not decide stays") {
    GraphBuilder builder;
    const Shape one{1, 1};
    const Shape row{1, 4};
    const Value state = GraphBuilder::state(0, {canonical::DType::kF32, row});
    const Value number = GraphBuilder::state(1, {canonical::DType::kF32, one});
    const Value first = builder.equal(builder.step_count(1, 0), builder.fill(one, 0.0F));
    const Value grown = builder.scale(state, 2.0F);
    const Value by_state = builder.select(grown, number, state);                 // a condition that is no count
    const Value by_row = builder.select(grown, builder.fill(row, 1.0F), state);  // one for each element
    const Value wide = builder.select(by_state, first, number);                  // an operand that is repeated
    const Value decided = builder.select(builder.add(wide, by_row), first, state);
    const std::vector<Value> next{decided, number};
    const canonical::Graph graph = std::move(builder).commit(next);
    const StepKinds kinds(graph);
    CHECK(kinds.has_choices());
    CHECK(kinds.kind_of(0) == StepKind{true});
    CHECK(kinds.kind_of(1) == StepKind{false});
    CHECK(kinds.kind_of(2) == StepKind{false});
    const Specialised at_first = kinds.graph_of(graph, {true});
    CHECK(std::count_if(at_first.graph.begin(), at_first.graph.end(), [](const canonical::Node& node) {
              return node.op == canonical::Op::kSelect;
          }) == 3);
    const Specialised later = kinds.graph_of(graph, {false});
    CHECK(later.graph.size() == 1);
    CHECK(later.graph.back().inputs == std::vector<Value>{state, number});
}

TEST_CASE("specialised graphs: a graph without choices is left as it is") {
    const MlpConfig model{.features = 6, .hidden = {8}, .classes = 3, .batch_size = 4, .dataset_rows = kRows};
    const Program program = build_mlp(model, test::optimizer(OptimizerKind::kAdam, 0.01F));
    const StepKinds kinds(program.step);
    CHECK_FALSE(kinds.has_choices());
    CHECK(kinds.kind_of(3).empty());
    const std::array<std::uint32_t, 1> loss{program.loss_node};
    const Specialised special = kinds.graph_of(program.step, {}, loss);
    CHECK(special.graph == program.step);
    CHECK(special.kept == std::vector<std::uint32_t>{program.loss_node});
}
