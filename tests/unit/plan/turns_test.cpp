// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <core/canonical/executor.hpp>
#include <tests/unit/program/function_rows.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/turns.hpp>

using namespace assay;
using canonical::StepContext;
using canonical::Tensor;
using plan::PartialGraph;
using plan::Turns;
using program::LocalReplicas;
using program::OptimizerConfig;
using program::OptimizerKind;
using program::Program;
using program::SentForm;

namespace {

constexpr std::uint64_t kRows = 50;

test::FunctionRows rows_of(const Program& program) {
    return test::FunctionRows({kRows, program.dataset.width}, [&](std::uint64_t row, std::uint32_t col) {
        return static_cast<std::int32_t>((row * 5 + std::uint64_t{col} * 3 + row * col) % 3);
    });
}

Program cnn() {
    program::CnnConfig model{.height = 8, .width = 8, .channels = 1, .filters = {4}, .classes = 3, .batch_norm = true};
    model.batch_size = 4;
    model.dataset_rows = kRows;
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::kSgdMomentum;
    optimizer.learning_rate = 0.05F;
    return program::build_cnn(model, optimizer);
}

Program gpt(bool is_llama) {
    program::GptConfig model{
        .vocabulary = 11,
        .context = 32,
        .layers = 1,
        .heads = 2,
        .width = 64,
        .dropout = 0.1F,
        .batch_size = 2,
        .dataset_rows = kRows};
    if (is_llama) {
        model.llama = {.key_heads = 1, .hidden = 64};
        model.rotary = true;
        model.tied_head = false;
    }
    OptimizerConfig optimizer;
    optimizer.kind = OptimizerKind::kAdamW;
    optimizer.weight_decay = 0.1F;
    optimizer.clip_norm = 1.0F;
    optimizer.schedule = {.kind = program::ScheduleKind::kCosine, .warmup_updates = 2, .total_updates = 20};
    return program::build_gpt(model, optimizer);
}

using State = std::vector<Tensor>;

State run_part(const PartialGraph& part, const StepContext& context, const canonical::RowSource& rows, State state) {
    State before;
    for (const std::uint32_t tensor : part.tensors) {
        before.push_back(state[tensor]);
    }
    const auto next = canonical::execute_graph(part.graph, context, rows, before);
    REQUIRE(next.has_value());
    for (std::size_t i = 0; i < part.tensors.size(); ++i) {
        state[part.tensors[i]] = (*next)[i];
    }
    return state;
}

void spoil(Tensor& tensor) {
    for (std::size_t at = 0; at < tensor.data.size(); at += 4) {
        const float value = 1234.5F + static_cast<float>(at);
        std::memcpy(tensor.data.data() + at, &value, sizeof value);
    }
}

void begin_turn(const Turns& turns, std::uint32_t replica, State& state) {
    for (const auto& [tensor, source] : turns.worked[replica]) {
        state[tensor] = state[source];
    }
}

// Rounds in which every replica starts from the same state, without what only others have, and ends knowing only what
// they send: the state after each turn is that of one machine.
void check_rounds(const Program& base, const LocalReplicas& local) {
    const Program program = program::with_local_replicas(base, local).value();
    const auto rows = rows_of(program);
    const auto turns = plan::find_turns(program);
    REQUIRE(turns.has_value());
    REQUIRE(turns->replicas == local.count);
    REQUIRE(turns->steps == local.turn_steps);
    REQUIRE(turns->cycle == local.fragments);
    const auto context = [&](std::uint64_t step) {
        return StepContext{.seed = 3, .step = step, .dataset = rows.shape()};
    };
    State expected = canonical::execute_graph(program.init, context(0), rows, {}).value();
    State apart = expected;
    std::uint64_t step = 0;
    for (std::uint64_t round = 0; round <= turns->cycle; ++round) {
        const State start = apart;
        const auto place = static_cast<std::uint32_t>(round % turns->cycle);
        std::vector<State> after;
        for (std::uint32_t replica = 0; replica < local.count; ++replica) {
            State state = start;
            for (std::uint32_t other = 0; other < local.count; ++other) {
                for (const std::uint32_t tensor : turns->own[other]) {
                    if (other != replica) {
                        spoil(state[tensor]);
                    }
                }
            }
            begin_turn(*turns, replica, state);
            for (std::uint32_t i = 0; i < local.turn_steps; ++i) {
                const bool is_last = i + 1 == local.turn_steps;
                const PartialGraph part =
                    plan::turn_graph(program, *turns, replica, is_last ? std::optional(place) : std::nullopt);
                state =
                    run_part(part, context(round * turns->round_steps() + replica * local.turn_steps + i), rows, state);
            }
            after.push_back(std::move(state));
        }
        for (std::uint32_t replica = 0; replica < local.count; ++replica) {
            for (std::uint32_t i = 0; i < local.turn_steps; ++i) {
                expected = canonical::execute_graph(program.step, context(step++), rows, expected).value();
            }
            for (const std::uint32_t tensor : turns->own[replica]) {
                apart[tensor] = after[replica][tensor];
            }
            if (replica + 1 == local.count) {
                apart = run_part(plan::end_graph(program, *turns, place), context(step - 1), rows, apart);
            }
            begin_turn(*turns, (replica + 1) % local.count, apart);
            REQUIRE(apart == expected);
        }
    }
}

}  // namespace

TEST_CASE("turns: replicas trained apart leave the states of one machine" * doctest::test_suite("unsanitized")) {
    for (const SentForm sent : {SentForm::kWhole, SentForm::kIntegers, SentForm::kSparse}) {
        CAPTURE(static_cast<int>(sent));
        const LocalReplicas local{.count = 3, .turn_steps = 2, .sent = sent, .block = 16};
        check_rounds(cnn(), local);
    }
    check_rounds(gpt(false), {.count = 2, .turn_steps = 3, .sent = SentForm::kSparse});
    check_rounds(gpt(true), {.count = 2, .turn_steps = 2, .outer_momentum = 0.0F, .sent = SentForm::kIntegers});
    check_rounds(cnn(), {.count = 3, .turn_steps = 2, .sent = SentForm::kWhole, .fragments = 2});
    check_rounds(gpt(false), {.count = 2, .turn_steps = 2, .sent = SentForm::kSparse, .fragments = 3});
}

TEST_CASE("turns: a replica has its own slots, and sends nothing else") {
    const Program program =
        program::with_local_replicas(gpt(false), {.count = 4, .turn_steps = 5, .sent = SentForm::kIntegers}).value();
    const Turns turns = plan::find_turns(program).value();
    for (std::uint32_t replica = 0; replica < 4; ++replica) {
        for (const std::uint32_t tensor : turns.own[replica]) {
            const std::string& name = program.state[tensor].name;
            const bool is_slot = name.starts_with("adam.") || name.starts_with("accumulated.sent.");
            CHECK(is_slot);
        }
        for (const std::uint32_t tensor : turns.sent[0][replica]) {
            CHECK(program.state[tensor].name.starts_with("accumulated.sent." + std::to_string(replica) + "."));
        }
        CHECK(turns.sent[0][replica].size() == turns.worked[replica].size());
    }
    CHECK(turns.common.size() == 2 * turns.worked[0].size());
    // The end of a round is small beside a step.
    CHECK(plan::end_graph(program, turns, 0).graph.size() < program.step.size() / 4);
}

TEST_CASE("turns: a round of several fragments sends one of them, and turns begin with replicas' own parameters") {
    const std::uint32_t fragments = 3;
    const Program program =
        program::with_local_replicas(gpt(false), {.count = 2, .turn_steps = 5, .fragments = fragments}).value();
    const Turns turns = plan::find_turns(program).value();
    CHECK(turns.cycle == fragments);
    for (std::uint32_t replica = 0; replica < 2; ++replica) {
        for (const auto& [tensor, source] : turns.worked[replica]) {
            CHECK(
                program.state[source].name ==
                "accumulated.replica." + std::to_string(replica) + "." + program.state[tensor].name
            );
        }
    }
    std::vector<std::uint32_t> sent;
    for (std::uint32_t place = 0; place < fragments; ++place) {
        CHECK_FALSE(turns.sent[place][1].empty());
        CHECK(turns.sent[place][0].size() == turns.sent[place][1].size());
        sent.insert(sent.end(), turns.sent[place][1].begin(), turns.sent[place][1].end());
    }
    std::sort(sent.begin(), sent.end());
    CHECK(std::adjacent_find(sent.begin(), sent.end()) == sent.end());
    CHECK(sent.size() == turns.worked[0].size());
    CHECK(2 * sent.size() == turns.common.size());  // each parameter's shared value and outer momentum
}

TEST_CASE("turns: programs whose steps depend on each other have none") {
    CHECK_FALSE(plan::find_turns(cnn()).has_value());
    OptimizerConfig optimizer;
    optimizer.accumulation = 2;
    program::MlpConfig model{.features = 6, .hidden = {8}, .classes = 3, .batch_size = 4, .dataset_rows = kRows};
    const Program accumulating = program::build_mlp(model, optimizer);
    CHECK_FALSE(plan::find_turns(accumulating).has_value());
    // Its turns have steps of two kinds.
    CHECK_FALSE(
        plan::find_turns(program::with_local_replicas(accumulating, {.count = 2, .turn_steps = 4}).value()).has_value()
    );
    // A turn that reads what another one has changed: replica 1 begins with the momentum of replica 0.
    Program chained = program::with_local_replicas(cnn(), {.count = 2, .turn_steps = 3}).value();
    const auto index_of = [&](const std::string& name) {
        const auto found = std::find_if(chained.state.begin(), chained.state.end(), [&](const auto& tensor) {
            return tensor.name == name;
        });
        REQUIRE(found != chained.state.end());
        return static_cast<std::uint32_t>(found - chained.state.begin());
    };
    const std::uint32_t first = index_of("momentum.conv1.weight");
    const std::uint32_t second = index_of("momentum.replica.1.conv1.weight");
    REQUIRE(plan::find_turns(chained).has_value());
    for (std::size_t i = 0; i + 1 < chained.step.size(); ++i) {
        for (canonical::Input& input : chained.step[i].inputs) {
            if (input.source == canonical::Source::kState && input.index == second) {
                input.index = first;
            }
        }
    }
    REQUIRE(program::check_program(chained).has_value());
    CHECK_FALSE(plan::find_turns(chained).has_value());
}
