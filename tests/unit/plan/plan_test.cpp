// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/compile/program/models.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>

using namespace assay;
using namespace assay::plan;
using canonical::Op;

namespace {

program::Program small_gpt() {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.dropout = 0.1F;
    model.dataset_rows = 64;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kAdamW;
    return program::build_gpt(model, optimizer);
}

Plan plan_of(const program::Program& program, const char* name, std::uint32_t ranks) {
    return make_plan(program, *decode_layout(name, ranks));
}

double share_of_state(const program::Program& program, const char* name, std::uint32_t ranks) {
    const Plan plan = plan_of(program, name, ranks);
    std::uint64_t most = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        most = std::max(most, state_bytes(plan, program, rank));
    }
    return static_cast<double>(most) / static_cast<double>(program::size_bytes(program.state));
}

}  // namespace

TEST_CASE("every rank has what its nodes read, or gets it") {
    const program::Program program = small_gpt();
    for (const auto& [name, ranks] :
         {std::pair{"dp", 3U}, {"zero1", 4U}, {"zero3", 2U}, {"tp", 2U}, {"pp", 2U}, {"dp2tp2", 4U}, {"dp:3,1", 2U}}) {
        const std::string layout = name;
        CAPTURE(layout);
        const Plan plan = plan_of(program, name, ranks);
        for (std::size_t i = 0; i < program.step.size(); ++i) {
            for (std::size_t k = 0; k < program.step[i].inputs.size(); ++k) {
                const canonical::Input& input = program.step[i].inputs[k];
                const Placement& held =
                    input.source == canonical::Source::kState ? plan.state[input.index] : plan.nodes[input.index].held;
                const Placement& needs = plan.nodes[i].needs[k];
                std::vector<std::uint64_t> elements(ranks);
                for (const Transfer& transfer : transfers(held, needs, input.shape)) {
                    elements[transfer.to] += transfer.block.element_count();
                    CHECK(held[transfer.from].contains(transfer.block));
                }
                for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                    const std::uint64_t own = intersection(held[rank], needs[rank]).element_count();
                    CHECK(own + elements[rank] == needs[rank].element_count());
                }
            }
        }
        for (std::size_t i = 0; i < program.state.size(); ++i) {
            CHECK(covers(plan.state[i], program.state[i].type.shape));
        }
    }
}

TEST_CASE("parts of a reduction among equal blocks have each position once") {
    const program::Program program = small_gpt();
    const Plan plan = plan_of(program, "dp:1,2,1", 3);
    std::size_t divided = 0;
    for (std::size_t i = 0; i < program.step.size(); ++i) {
        const NodePlan& node = plan.nodes[i];
        if (!node.is_divided) {
            continue;
        }
        ++divided;
        CHECK(intersection(node.depth[0], node.depth[1]).is_empty());
        CHECK(intersection(node.depth[1], node.depth[2]).is_empty());
        const std::uint32_t sum = node.depth[0].count() + node.depth[1].count() + node.depth[2].count();
        const std::uint32_t depth = program.step[i].op == Op::kScatterAddRows ? program.step[i].inputs[0].shape.rows
                                                                              : program.step[i].inputs[0].shape.cols;
        CHECK(sum == depth);
        CHECK(covers(node.finished, program.step[i].shape));
    }
    CHECK(divided > 20);
}

TEST_CASE("STM-6: of what is computed of the state alone, parts are whole partials, whatever its sizes") {
    program::CharModelConfig model;
    model.vocabulary = 75;
    model.batch_size = 128;
    model.dataset_rows = 256;
    const program::Program program = program::build_char_model(model, program::OptimizerConfig{});
    const Plan plan = plan_of(program, "zero3", 4);
    CHECK(hands_on_state(plan, program.step));
    CHECK_FALSE(unstatable_node(plan, program.step).has_value());
    // Each rank has 18 or 19 rows of the last weight, and some partials of 32 have values of two of them.
    std::size_t completed = 0;
    for (std::size_t i = 0; i < program.step.size(); ++i) {
        for (std::uint32_t rank = 0; rank < 4 && plan.nodes[i].is_divided; ++rank) {
            const canonical::Input& input = program.step[i].inputs[0];
            const bool is_of_node = input.source == canonical::Source::kNode;
            const Placement& held = is_of_node ? plan.nodes[input.index].held : plan.state[input.index];
            completed += held[rank].contains(plan.nodes[i].needs[0][rank]) ? 0U : 1U;
        }
    }
    CHECK(completed > 0);
}

TEST_CASE("the state is divided as ZeRO divides it") {
    const program::Program program = small_gpt();
    CHECK(share_of_state(program, "dp", 4) == 1.0);
    CHECK(share_of_state(program, "zero1", 4) == doctest::Approx((1.0 + 2.0 / 4) / 3).epsilon(0.05));
    CHECK(share_of_state(program, "zero2", 2) == doctest::Approx((1.0 + 2.0 / 2) / 3).epsilon(0.05));
    CHECK(share_of_state(program, "zero3", 4) == doctest::Approx(0.25).epsilon(0.05));
    CHECK(share_of_state(program, "tp", 2) < 0.7);
    CHECK(share_of_state(program, "pp", 2) < 0.75);
}

TEST_CASE("data parallelism sends each gradient once in sums and once in values") {
    const program::Program program = small_gpt();
    std::uint64_t parameters = 0;
    for (std::size_t i = 0; i < program.state.size(); ++i) {
        parameters += program.state[i].type.shape.element_count();
    }
    parameters /= 3;  // Adam's slots are twice as many
    const Plan plan = plan_of(program, "dp", 4);
    Traffic all;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        all.sums += traffic_of(plan, program.step, rank).sums / 4;
        all.values += traffic_of(plan, program.step, rank).values / 4;
    }
    const double wanted = static_cast<double>(parameters) * 3 / 4;
    // Biases, and rows of statistics in so small a model, come on top.
    CHECK(static_cast<double>(all.values) == doctest::Approx(4 * wanted).epsilon(0.15));
    CHECK(static_cast<double>(all.sums) > 6 * wanted);
    CHECK(static_cast<double>(all.sums) < 8 * wanted);
}

TEST_CASE("an accumulator has as many bytes as the sum of its operands' precisions needs") {
    const program::Program program = small_gpt();
    for (std::uint32_t i = 0; i < program.step.size(); ++i) {
        if (program.step[i].op == Op::kContract) {
            CHECK(accumulator_bytes(program.step, i) <= 7);
            CHECK(accumulator_bytes(program.step, i) >= 6);
        }
        if (program.step[i].op == Op::kRowExponent) {
            CHECK(accumulator_bytes(program.step, i) == 4);
        }
    }
}

TEST_CASE("with 1F1B a stage has no more micro-batches on their way than there are stages from it on") {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.layers = 4;
    model.batch_size = 8;
    model.dataset_rows = 64;
    const program::Program program = program::build_gpt(model, program::OptimizerConfig{});
    const auto most_on_their_way = [&](const Plan& plan, std::uint32_t stage) {
        // A micro-batch is on its way from its first forward piece on until the gradient of what came in is there,
        // which the stage before reads, or else until its last backward piece that needs no sum over the batch.
        std::set<std::uint32_t> begun;
        std::set<std::uint32_t> ended;
        std::size_t most = 0;
        for (const Item& item : plan.order[stage]) {
            if (item.piece == Item::kWhole) {
                continue;
            }
            const bool is_computed = !share_of(plan, program.step, item).work[stage].is_empty();
            const bool is_sent = !output_transfers(plan, program.step, item).empty();
            if (item.node <= program.loss_node && is_computed) {
                begun.insert(item.piece);
            } else if (item.node > program.loss_node && is_computed && is_sent) {
                ended.insert(item.piece);
            }
            most = std::max(most, begun.size() - ended.size());
        }
        return most;
    };
    const Plan one = plan_of(program, "pp+1f1b8", 4);
    const Plan all = plan_of(program, "pp+gpipe8", 4);
    for (std::uint32_t stage = 1; stage < 4; ++stage) {  // the first sends no gradient
        CAPTURE(stage);
        CHECK(most_on_their_way(one, stage) == 4 - stage);
        CHECK(most_on_their_way(all, stage) == 8);
    }
}

TEST_CASE("between stages cross an activation and its gradient, and what the head and the embedding share") {
    const program::Program program = small_gpt();
    const Plan plan = plan_of(program, "pp", 2);
    std::uint64_t sent = 0;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        sent += traffic_of(plan, program.step, rank).bytes();
    }
    const canonical::Shape activation{8 * 32, 64};
    const canonical::Shape table{96, 64};
    CHECK(sent < (2 * activation.element_count() + 5 * table.element_count()) * sizeof(float));
}

TEST_CASE(
    "stages wait in as many slots as the formula of GPipe says, in either order" * doctest::test_suite("unsanitized")
) {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.layers = 4;
    model.batch_size = 16;
    model.dataset_rows = 64;
    const program::Program program = program::build_gpt(model, program::OptimizerConfig{});
    for (const char* kind : {"1f1b", "gpipe"}) {
        for (const std::uint32_t stages : {2U, 4U}) {
            for (const std::uint32_t micro_batches : {2U, 4U, 8U, 16U}) {
                const std::string name = "pp+" + std::string(kind) + std::to_string(micro_batches);
                CAPTURE(name);
                CAPTURE(stages);
                const Plan plan = plan_of(program, name.c_str(), stages);
                const Slots slots = slots_of(plan, program);
                CHECK(slots.all > 0);
                CHECK(slots.idle * (micro_batches + stages - 1) == slots.all * (stages - 1));
            }
        }
    }
}

TEST_CASE("replicas that compress their gradients send values and indices alone, and have slots of their own") {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.dataset_rows = 64;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kSgdMomentum;
    optimizer.replicas.count = 4;
    const auto mean_of_sent = [&](program::ExchangeKind exchange) {
        optimizer.replicas.exchange = exchange;
        const program::Program program = program::build_gpt(model, optimizer);
        const Plan plan = plan_of(program, "dp", 4);
        std::uint64_t sum = 0;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            sum += traffic_of(plan, program.step, rank).bytes();
            if (exchange == program::ExchangeKind::kDgc) {  // parameters, and two slots for each of them
                CHECK(state_bytes(plan, program, rank) * 3 == program::size_bytes(program.state));
            }
        }
        return static_cast<double>(sum) / 4;
    };
    const double dense = mean_of_sent(program::ExchangeKind::kDense);
    const double sparse = mean_of_sent(program::ExchangeKind::kDgc);
    CHECK(dense > 200 * sparse);
}
