// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/engine/small_models.hpp>
#include <tests/unit/engine/whole_outputs.hpp>
#include <tests/unit/program/function_rows.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/engine/fused/planning.hpp>
#include <verifier/engine/fused/recompute.hpp>

namespace assay::engine::fused {
namespace {

program::Program deep_gpt() {
    program::GptConfig config;
    config.vocabulary = 96;
    config.context = 64;
    config.layers = 6;
    config.heads = 2;
    config.width = 64;
    config.batch_size = 4;
    config.dataset_rows = 64;
    return program::build_gpt(config, {});
}

std::shared_ptr<const canonical::RowSource> rows_of(canonical::DatasetShape shape) {
    return std::make_shared<test::FunctionRows>(shape, [](std::uint64_t, std::uint32_t col) {
        return static_cast<std::int32_t>(col * 7 % 96);
    });
}

}  // namespace

TEST_CASE("a plan keeps to its limit by computing outputs again, and no more of them than it must") {
    const program::Program program = deep_gpt();
    const auto types = types_of(program.state);
    const std::vector<std::uint32_t> kept{program.loss_node};
    const PlanInput input{.graph = program.step, .state = types, .kept = kept, .threads = 1};
    const auto plain = make_plan(input);
    REQUIRE(plain.has_value());
    const auto least = make_plan(input, 1);
    REQUIRE(least.has_value());
    CHECK(least->arena_bytes < plain->arena_bytes / 2);
    CHECK(least->graph.size() > plain->graph.size());
    std::size_t nodes_before = least->graph.size();
    std::size_t kinds = 0;
    for (std::size_t limit = least->memory_bytes(); limit <= plain->memory_bytes(); limit += limit / 16) {
        const auto plan = make_plan(input, limit);
        REQUIRE(plan.has_value());
        CHECK(plan->memory_bytes() <= limit);
        CHECK(plan->graph.size() <= nodes_before);
        kinds += plan->graph.size() < nodes_before ? 1U : 0U;
        nodes_before = plan->graph.size();
    }
    CHECK(kinds >= 1);
    CHECK(make_plan(input, plain->memory_bytes())->graph.size() == plain->graph.size());
}

TEST_CASE("each reader of one-hot rows has its own, and the kept nodes stay those that were asked for") {
    const program::Program program = deep_gpt();
    const Rewritten rewritten = copy_sources(program.step);
    REQUIRE(rewritten.nodes.size() == program.step.size());
    for (std::size_t i = 0; i < program.step.size(); ++i) {
        CHECK(rewritten.graph[rewritten.nodes[i]].op == program.step[i].op);
    }
    std::vector<std::size_t> readers(rewritten.graph.size(), 0);
    for (const canonical::Node& node : rewritten.graph) {
        for (const canonical::Input& input : node.inputs) {
            readers[input.index] += input.source == canonical::Source::kNode ? 1U : 0U;
        }
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < rewritten.graph.size(); ++i) {
        if (rewritten.graph[i].op == canonical::Op::kOneHot) {
            ++found;
            CHECK(readers[i] == 1);
        }
    }
    CHECK(found > 1);
}

TEST_CASE("NUM-1: an engine within a limit gives the same bits, and one whose limit is too low says what it needs") {
    const program::Program program = deep_gpt();
    const test::SmallModel model{"gpt", program, rows_of(program.dataset)};
    const auto run = [&](std::uint64_t memory_bytes) {
        Engine engine(model.program.step, model.rows, {.memory_bytes = memory_bytes});
        engine.keep(model.program.loss_node);
        engine.set_state(model.initial());
        for (std::uint64_t step = 0; step < 3; ++step) {
            const bool has_run = engine.run_step(model.context(step)).has_value();
            REQUIRE(has_run);
        }
        return engine.state();
    };
    const auto types = types_of(program.state);
    const std::vector<std::uint32_t> kept{program.loss_node};
    const PlanInput input{.graph = program.step, .state = types, .kept = kept, .threads = 1};
    const std::size_t least = make_plan(input, 1)->memory_bytes();
    REQUIRE(least < make_plan(input)->memory_bytes());
    CHECK(run(least) == run(0));
    std::string message;
    try {
        run(least - 1);
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK(message.find("a step takes at least") != std::string::npos);
}

TEST_CASE("NUM-1: a step that is observed shows the same outputs within a limit as without one") {
    const program::Program program = deep_gpt();
    const test::SmallModel model{"gpt", program, rows_of(program.dataset)};
    const auto run = [&](std::uint64_t memory_bytes) {
        Engine engine(model.program.step, model.rows, {.memory_bytes = memory_bytes});
        engine.set_state(model.initial());
        std::vector<canonical::Tensor> outputs(program.step.size() - 1);
        test::WholeOutputs whole(program.step, [&](std::uint32_t node, const canonical::Tensor& output) {
            outputs[node] = output;
            return true;
        });
        const bool has_run = engine.run_step(model.context(0), {}, &whole).has_value();
        CHECK(has_run);
        CHECK(whole.is_right());
        return outputs;
    };
    const auto types = types_of(program.state);
    const PlanInput input{.graph = program.step, .state = types, .kept = {}, .threads = 1, .is_observed = true};
    const std::size_t least = make_plan(input, 1)->memory_bytes();
    REQUIRE(least < make_plan(input)->memory_bytes());
    CHECK(run(least) == run(0));
}

TEST_CASE("equal views of a step share their tables") {
    const program::Program program = deep_gpt();
    const auto types = types_of(program.state);
    const auto plan = make_plan({.graph = program.step, .state = types, .kept = {}, .threads = 1});
    REQUIRE(plan.has_value());
    std::vector<const canonical::View*> different;
    std::set<const ViewRows*> tables;
    std::size_t views = 0;
    for (const Region& region : plan->regions) {
        for (const RegionOp& op : region.ops) {
            if (op.view == nullptr) {
                continue;
            }
            ++views;
            tables.insert(op.view.get());
            const canonical::View& view = *plan->graph[op.node].view;
            const bool is_new =
                std::none_of(different.begin(), different.end(), [&](const auto* other) { return *other == view; });
            if (is_new) {
                different.push_back(&view);
            }
        }
    }
    CHECK(views > 2 * different.size());
    CHECK(tables.size() == different.size());
}

TEST_CASE("NUM-1: state tensors that change places equal the definition over several steps") {
    const canonical::Shape shape{2, 3};
    const auto state = [&](std::uint32_t index) {
        return canonical::Input{canonical::Source::kState, index, canonical::DType::kF32, shape};
    };
    canonical::Graph graph{
        {.op = canonical::Op::kAddConst, .shape = shape, .attributes = {0x3f800000, 0}, .inputs = {state(0)}},
        {.op = canonical::Op::kCommit, .shape = {}, .inputs = {state(1), state(2), state(0), state(3)}},
    };
    graph.back().inputs.push_back({canonical::Source::kNode, 0, canonical::DType::kF32, shape});
    graph.back().inputs.push_back({canonical::Source::kNode, 0, canonical::DType::kF32, shape});
    test::Case c{graph, {.seed = 1, .step = 0, .dataset = {1, 1}}, rows_of({1, 1}), {}};
    for (std::uint8_t i = 0; i < 6; ++i) {
        c.state.push_back(canonical::make_tensor(canonical::DType::kF32, shape));
        std::fill(c.state.back().data.begin(), c.state.back().data.end(), i);
    }
    for (const EngineOptions& options : test::all_engines()) {
        CAPTURE(test::name_of(options));
        test::Case now = c;
        Engine engine(graph, c.rows, options);
        engine.set_state(c.state);
        for (int step = 0; step < 4; ++step) {
            now.state = test::by_definition(now).next.value();
            REQUIRE(engine.run_step(now.context).has_value());
            CHECK(engine.state() == now.state);
        }
    }
}

TEST_CASE("NUM-6: a state whose bf16 or f32 elements grow beyond all numbers diverges in the same step on every engine"
) {
    const canonical::Shape shape{2, 3};
    for (const canonical::DType dtype : {canonical::DType::kF32, canonical::DType::kBf16}) {
        CAPTURE(static_cast<int>(dtype));
        const canonical::Input state{canonical::Source::kState, 0, dtype, shape};
        const auto node = [&](std::uint32_t index, canonical::DType type) {
            return canonical::Input{canonical::Source::kNode, index, type, shape};
        };
        const canonical::DType f32 = canonical::DType::kF32;
        canonical::Graph graph;
        if (dtype == f32) {  // times 2^40
            graph.push_back(
                {.op = canonical::Op::kScale, .shape = shape, .attributes = {0x53800000, 0}, .inputs = {state}}
            );
        } else {
            graph.push_back({.op = canonical::Op::kWiden, .shape = shape, .inputs = {state}});
            graph.push_back(
                {.op = canonical::Op::kScale, .shape = shape, .attributes = {0x53800000, 0}, .inputs = {node(0, f32)}}
            );
            graph.push_back({.op = canonical::Op::kNarrow, .dtype = dtype, .shape = shape, .inputs = {node(1, f32)}});
        }
        const auto last = static_cast<std::uint32_t>(graph.size() - 1);
        graph.push_back({.op = canonical::Op::kCommit, .shape = {}, .inputs = {node(last, dtype)}});
        test::Case c{graph, {.seed = 1, .step = 0, .dataset = {1, 1}}, rows_of({1, 1}), {}};
        c.state.push_back(canonical::make_tensor(dtype, shape));
        for (std::size_t i = 0; i < shape.element_count(); ++i) {  // 1.0
            std::uint8_t* const at = c.state[0].data.data() + i * canonical::size_of(dtype);
            at[canonical::size_of(dtype) - 2] = 0x80;
            at[canonical::size_of(dtype) - 1] = 0x3f;
        }
        for (const EngineOptions& options : test::all_engines()) {
            CAPTURE(test::name_of(options));
            test::Case now = c;
            Engine engine(graph, c.rows, options);
            engine.set_state(c.state);
            int steps = 0;
            for (bool is_finite = true; is_finite; ++steps) {
                const auto next = test::by_definition(now).next;
                is_finite = next.has_value();
                REQUIRE(engine.run_step(now.context).has_value() == is_finite);
                now.state = is_finite ? *next : now.state;
                CHECK(engine.state() == now.state);
            }
            CHECK(steps == 4);
        }
    }
}

}  // namespace assay::engine::fused
