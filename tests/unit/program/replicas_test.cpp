// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tests/unit/program/function_rows.hpp>
#include <tests/unit/program/model_trainer.hpp>
#include <tests/unit/program/scalar_graph.hpp>
#include <tests/unit/program/text_rows.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/compile/program/replicas.hpp>

using namespace assay;
using namespace assay::program;
using canonical::Op;
using canonical::Shape;
using canonical::Source;
using test::Trainer;

namespace {

constexpr std::uint64_t kRows = 60;
constexpr std::uint32_t kReplicas = 3;
constexpr std::uint32_t kOwnRows = 7;  // of a replica in a batch

MlpConfig small_mlp(std::uint32_t batch_size) {
    return {
        .features = 6,
        .hidden = {16, 12},
        .classes = 3,
        .scale = 0.125F,
        .batch_size = batch_size,
        .dataset_rows = kRows};
}
CnnConfig small_cnn(std::uint32_t batch_size) {
    CnnConfig config{.height = 8, .width = 8, .channels = 1, .filters = {4, 6}, .classes = 3, .batch_norm = true};
    config.scale = 0.125F;
    config.batch_size = batch_size;
    config.dataset_rows = kRows;
    return config;
}
GptConfig small_gpt(std::uint32_t batch_size) {
    return {
        .vocabulary = 11,
        .context = 32,
        .layers = 1,
        .heads = 1,
        .width = 32,
        .dropout = 0.1F,
        .batch_size = batch_size,
        .dataset_rows = kRows};
}

OptimizerConfig sgd(float momentum) {
    OptimizerConfig config;
    config.kind = momentum > 0.0F ? OptimizerKind::kSgdMomentum : OptimizerKind::kSgd;
    config.momentum = momentum;
    config.learning_rate = 0.05F;
    return config;
}
OptimizerConfig dgc(float momentum, std::uint32_t block, std::uint32_t dense_below = 0) {
    OptimizerConfig config = sgd(momentum);
    config.replicas = {.count = kReplicas, .exchange = ExchangeKind::kDgc, .block = block, .dense_below = dense_below};
    return config;
}

using Floats = std::vector<float>;

Floats floats(const Trainer& trainer, const std::string& name) {
    const std::vector<double> values = trainer.values(name);
    return {values.begin(), values.end()};
}

std::vector<std::string> parameter_names(const Program& program) {
    std::vector<std::string> out;
    for (const StateTensor& tensor : program.state) {
        if (tensor.name.find("momentum.") != 0 && tensor.name.find("accumulated.") != 0 &&
            tensor.name.find(".running_") == std::string::npos) {
            out.push_back(tensor.name);
        }
    }
    return out;
}

// What a replica keeps of one parameter, in plain loops.
struct Kept {
    Floats momentum;
    Floats accumulated;
};

// One step of DGC for one parameter: accumulates `gradient` and adds to `sum` what is sent.
void accumulate_and_send(Kept& kept, const Floats& gradient, float m, std::size_t block, Floats& sum) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        kept.momentum[i] = kept.momentum[i] * m + gradient[i];
        kept.accumulated[i] = kept.accumulated[i] + kept.momentum[i];
    }
    for (std::size_t first = 0; first < gradient.size(); first += block) {
        std::size_t largest = first;
        for (std::size_t i = first; i < std::min(first + block, gradient.size()); ++i) {
            if (std::abs(kept.accumulated[i]) > std::abs(kept.accumulated[largest])) {
                largest = i;
            }
        }
        sum[largest] += kept.accumulated[largest];
        kept.accumulated[largest] = 0.0F;
        kept.momentum[largest] = 0.0F;
    }
}

// The gradients of one replica's rows: from zero momentum, the next momentum is the gradient. Replica r of step s has
// the rows that a program of so small a batch reads at step s * replicas + r.
std::map<std::string, Floats> gradients_of(
    Trainer& alone, const Trainer& group, std::uint64_t step, std::uint32_t replica
) {
    for (std::size_t i = 0; i < alone.program.state.size(); ++i) {
        const std::string& name = alone.program.state[i].name;
        if (name.find("momentum.") == 0) {
            std::fill(alone.state[i].data.begin(), alone.state[i].data.end(), std::uint8_t{0});
        } else {
            alone.state[i] = group.state[group.index_of(name)];
        }
    }
    alone.train(step * kReplicas + replica);
    std::map<std::string, Floats> out;
    for (const std::string& name : parameter_names(alone.program)) {
        out[name] = floats(alone, "momentum." + name);
    }
    return out;
}

// Holds steps of DGC against the plain loops, bit for bit.
void check_against_loops(float momentum, std::uint32_t block, float weight_decay) {
    CAPTURE(block);
    const auto rows = test::labelled_rows(kRows, 6);
    OptimizerConfig config = dgc(momentum, block);
    config.weight_decay = weight_decay;
    Trainer group(build_mlp(small_mlp(kReplicas * kOwnRows), config), rows);
    Trainer alone(build_mlp(small_mlp(kOwnRows), sgd(0.9F)), rows);
    std::map<std::string, std::vector<Kept>> kept;
    for (std::uint64_t step = 0; step < 5; ++step) {
        std::map<std::string, Floats> expected;
        std::map<std::string, Floats> sums;
        for (std::uint32_t r = 0; r < kReplicas; ++r) {
            for (auto& [name, gradient] : gradients_of(alone, group, step, r)) {
                const Floats before = floats(group, name);
                const Shape shape = group.program.state[group.index_of(name)].type.shape;
                for (std::size_t i = 0; i < gradient.size() && shape.rows > 1 && weight_decay > 0.0F; ++i) {
                    gradient[i] += before[i] * weight_decay;
                }
                kept[name].resize(kReplicas, Kept{Floats(gradient.size()), Floats(gradient.size())});
                sums[name].resize(gradient.size());
                accumulate_and_send(kept[name][r], gradient, momentum, block, sums[name]);
            }
        }
        for (const auto& [name, sum] : sums) {
            expected[name] = floats(group, name);
            for (std::size_t i = 0; i < sum.size(); ++i) {
                expected[name][i] -= sum[i] * (1.0F / static_cast<float>(kReplicas)) * config.learning_rate;
            }
        }
        group.train(step);
        for (const auto& entry : expected) {
            const std::string& name = entry.first;  // clang 14 captures no structured binding
            CAPTURE(name);
            CHECK(floats(group, name) == entry.second);
            for (std::uint32_t r = 0; r < kReplicas; ++r) {
                const std::string owner = "replica." + std::to_string(r) + "." + name;
                CHECK(floats(group, "accumulated." + owner) == kept[name][r].accumulated);
                if (momentum > 0.0F) {
                    CHECK(floats(group, "momentum." + owner) == kept[name][r].momentum);
                }
            }
        }
    }
}

std::vector<std::vector<double>> parameters_after(
    Program program, const canonical::RowSource& rows, std::uint64_t steps
) {
    Trainer trainer(std::move(program), rows);
    for (std::uint64_t step = 0; step < steps; ++step) {
        trainer.train(step);
    }
    std::vector<std::vector<double>> out;
    for (const std::string& name : parameter_names(trainer.program)) {
        out.push_back(trainer.values(name));
    }
    return out;
}

}  // namespace

TEST_CASE("a selection has of each block the first element of the largest magnitude, with its sign and its place") {
    const test::Matrix x{{3, 3}, {1.0, -4.0, 4.0, 0.5, 0.0, 0.0, 0.0, 0.0, -0x1p-149}};
    const std::vector<test::Matrix> out = test::evaluate(
        [](GraphBuilder& graph, const std::vector<Value>& state) {
            const Selection selection = append_selection(graph, state[0], 4);
            return std::vector<Value>{
                selection.values, graph.to_float(selection.indices), selection.mask,
                append_sum_of_sent(graph, std::vector{selection, selection}, 4, {3, 3})};
        },
        {x}
    );
    CHECK(out[0].values == std::vector{-4.0, 0.0, -0x1p-149});  // the last block is a single element
    CHECK(out[1].values == std::vector{1.0, 0.0, 0.0});
    CHECK(out[2].values == std::vector{0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0});
    CHECK(out[3].values == std::vector{0.0, -8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0x1p-148});
}

TEST_CASE("steps of DGC are those of plain loops, bit for bit") {
    for (const std::uint32_t block : {1U, 7U, 16U, 1024U}) {
        check_against_loops(0.9F, block, 0.0F);
    }
    check_against_loops(0.0F, 8, 0.0F);
    check_against_loops(0.9F, 8, 0.01F);
}

TEST_CASE("DGC that sends every element is the dense exchange without momentum, bit for bit") {
    const auto rows = test::labelled_rows(kRows, 6);
    const MlpConfig model = small_mlp(kReplicas * kOwnRows);
    OptimizerConfig dense = sgd(0.0F);
    dense.replicas.count = kReplicas;
    const auto expected = parameters_after(build_mlp(model, dense), rows, 6);
    CHECK(parameters_after(build_mlp(model, dgc(0.0F, 1)), rows, 6) == expected);
    CHECK(parameters_after(build_mlp(model, dgc(0.0F, 2)), rows, 6) != expected);
    // What is too small to be compressed keeps its momentum, in one slot for all replicas.
    dense.kind = OptimizerKind::kSgdMomentum;
    dense.momentum = 0.9F;
    const Program whole = build_mlp(model, dgc(0.9F, 1024, 1'000'000));
    CHECK(parameters_after(whole, rows, 6) == parameters_after(build_mlp(model, dense), rows, 6));
    CHECK(whole.state.size() == build_mlp(model, dense).state.size());
}

TEST_CASE("a dense exchange trains as one process on the whole batch does, up to rounding") {
    const auto rows = test::labelled_rows(kRows, 6);
    OptimizerConfig config;
    config.learning_rate = 0.01F;
    config.epsilon = 1e-4F;
    const auto alone = parameters_after(build_mlp(small_mlp(12), config), rows, 4);
    config.replicas.count = 4;
    const auto together = parameters_after(build_mlp(small_mlp(12), config), rows, 4);
    REQUIRE(alone.size() == together.size());
    for (std::size_t p = 0; p < alone.size(); ++p) {
        for (std::size_t i = 0; i < alone[p].size(); ++i) {
            CHECK(together[p][i] == doctest::Approx(alone[p][i]).epsilon(1e-4));
        }
    }
}

TEST_CASE("each replica clips its own gradients, to the limit divided by the root of their number") {
    const auto rows = test::labelled_rows(kRows, 6);
    OptimizerConfig config = dgc(0.9F, 8);
    config.clip_norm = 0.1F;
    Trainer group(build_mlp(small_mlp(kReplicas * kOwnRows), config), rows);
    Trainer alone(build_mlp(small_mlp(kOwnRows), sgd(0.9F)), rows);
    for (std::uint32_t r = 0; r < kReplicas; ++r) {
        const auto gradients = gradients_of(alone, group, 0, r);
        double square = 0.0;
        for (const auto& [name, gradient] : gradients) {
            for (const float g : gradient) {
                square += static_cast<double>(g) * static_cast<double>(g);
            }
        }
        const double factor = 0.1 / std::sqrt(double{kReplicas}) / std::sqrt(square);
        CHECK(factor < 0.9);
        Trainer next = group;
        next.train(0);
        for (const auto& [name, gradient] : gradients) {
            const Floats kept = floats(next, "momentum.replica." + std::to_string(r) + "." + name);
            for (std::size_t i = 0; i < gradient.size(); ++i) {
                const double clipped = static_cast<double>(gradient[i]) * factor;
                const auto found = static_cast<double>(kept[i]);
                CHECK((found == 0.0 || found == doctest::Approx(clipped).epsilon(1e-4)));
            }
        }
    }
}

TEST_CASE("replicas draw their dropout from different random numbers, and share what is initialised") {
    const auto draws = [](const canonical::Graph& graph, Op op) {
        std::multiset<std::uint32_t> ids;
        for (const canonical::Node& node : graph) {
            if (node.op == op) {
                ids.insert(node.attributes[1]);
            }
        }
        return ids;
    };
    const Program alone = build_gpt(small_gpt(2), sgd(0.9F));
    for (const std::uint32_t block : {0U, 64U}) {
        OptimizerConfig config = block == 0 ? sgd(0.9F) : dgc(0.9F, block);
        config.replicas.count = 3;
        const Program group = build_gpt(small_gpt(6), config);
        const auto ids = draws(group.step, Op::kBernoulli);
        CHECK(ids.size() == 3 * draws(alone.step, Op::kBernoulli).size());
        CHECK(std::set(ids.begin(), ids.end()).size() == ids.size());
        CHECK(draws(group.init, Op::kUniform) == draws(alone.init, Op::kUniform));
    }
}

TEST_CASE("the running values of batch normalisation are those of the first replica") {
    const auto rows = test::labelled_rows(kRows, 64);
    Trainer group(build_cnn(small_cnn(kReplicas * kOwnRows), dgc(0.9F, 8)), rows);
    Trainer alone(build_cnn(small_cnn(kOwnRows), sgd(0.9F)), rows);
    group.train(0);
    alone.train(0);
    for (const char* const name :
         {"norm1.running_mean", "norm1.running_var", "norm2.running_mean", "norm2.running_var"}) {
        CHECK(group.values(name) == alone.values(name));
    }
}

TEST_CASE("nothing else of a compressed parameter crosses between replicas but values and indices") {
    const Program program = build_mlp(small_mlp(kReplicas * kOwnRows), dgc(0.9F, 8));
    const canonical::Graph& graph = program.step;
    // Everything that depends on the batch, except through what is sent.
    std::vector<bool> depends(graph.size(), false);
    std::size_t indices = 0;
    std::size_t values = 0;
    for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
        const canonical::Node& node = graph[i];
        depends[i] = node.op == Op::kBatchRows;
        for (const canonical::Input& input : node.inputs) {
            depends[i] = depends[i] || (input.source == Source::kNode && depends[input.index]);
        }
        // A model has neither an index of a maximum nor a difference of columns whose rows are not the replica's.
        const bool is_index = node.op == Op::kRowArgMax;
        const bool is_value = node.op == Op::kSub && node.shape.cols == 1 && node.shape.rows != kOwnRows;
        indices += is_index ? 1 : 0;
        values += is_value ? 1 : 0;
        depends[i] = depends[i] && !is_index && !is_value;
    }
    const std::vector<std::string> names = parameter_names(program);
    CHECK(indices == kReplicas * names.size());
    CHECK(values == kReplicas * names.size());
    for (std::size_t p = 0; p < names.size(); ++p) {
        const canonical::Input& next = graph.back().inputs[p];
        CHECK(next.source == Source::kNode);
        CHECK(!depends[next.index]);
    }
}

TEST_CASE("every family trains with DGC" * doctest::test_suite("unsanitized")) {
    const test::TextRows text(kRows, 33, 11);
    const test::TextRows pairs(kRows, 3, 11);
    const auto digits = test::labelled_rows(kRows, 64);
    const auto features = test::labelled_rows(kRows, 6);
    const CharModelConfig character{
        .vocabulary = 11, .context = 2, .embedding = 32, .hidden = 24, .batch_size = 9, .dataset_rows = kRows};
    OptimizerConfig config = dgc(0.9F, 32);
    config.clip_norm = 5.0F;
    Trainer char_model(build_char_model(character, config), pairs);
    CHECK(test::fall(char_model, 30) < 0.9);
    Trainer mlp(build_mlp(small_mlp(15), config), features);
    CHECK(test::fall(mlp, 30) < 0.9);
    Trainer cnn(build_cnn(small_cnn(9), config), digits);
    CHECK(test::fall(cnn, 30) < 0.9);
    Trainer gpt(build_gpt(small_gpt(3), config), text);
    CHECK(test::fall(gpt, 30) < 0.98);
}

TEST_CASE("the state of DGC does not depend on the block, so that a denser selection may go before") {
    const auto rows = test::labelled_rows(kRows, 6);
    const Program warmup = build_mlp(small_mlp(15), dgc(0.9F, 4, 8));
    const Program sparse = build_mlp(small_mlp(15), dgc(0.9F, 64, 8));
    REQUIRE(warmup.state.size() == sparse.state.size());
    for (std::size_t i = 0; i < warmup.state.size(); ++i) {
        CHECK(warmup.state[i].name == sparse.state[i].name);
        CHECK(warmup.state[i].type == sparse.state[i].type);
    }
    Trainer before(warmup, rows);
    Trainer after(sparse, rows);
    const float start = before.loss(0);
    for (std::uint64_t step = 0; step < 10; ++step) {
        before.train(step);
    }
    const float between = before.loss(0);
    after.state = before.state;
    for (std::uint64_t step = 10; step < 30; ++step) {
        after.train(step);
    }
    CHECK(between < start);
    CHECK(after.loss(0) < between);
}

TEST_CASE("what a replica sends is counted with its indices") {
    const auto tensor = [](Shape shape) { return StateTensor{"x", {canonical::DType::kF32, shape}}; };
    const Replicas replicas{.count = 4, .exchange = ExchangeKind::kDgc, .block = 1024, .dense_below = 64};
    const Traffic large = traffic_of(replicas, {tensor({64, 1024})});
    CHECK(large.dense == 65'536 * 32);
    CHECK(large.packed == 64 * 42);
    CHECK(large.written == 64 * 64);
    CHECK(traffic_of(replicas, {tensor({1, 1025})}).packed == 2 * 42);  // the last block has one element
    CHECK(traffic_of(replicas, {tensor({1, 65})}).packed == 39);        // one block, of 65 elements
    CHECK(traffic_of(replicas, {tensor({1, 63})}).packed == 63 * 32);   // as it is
    CHECK(traffic_of({}, {tensor({64, 1024})}).packed == large.dense);
}

TEST_CASE("replicas that cannot be made are refused") {
    const auto error_of = [](std::uint32_t batch_size, const OptimizerConfig& config) {
        const auto checked = check_model(small_mlp(batch_size), config);
        return checked ? ModelError{} : checked.error();
    };
    const auto changed = [](const std::function<void(OptimizerConfig&)>& change) {
        OptimizerConfig config = dgc(0.9F, 8);
        change(config);
        return config;
    };
    CHECK(error_of(21, dgc(0.9F, 8)) == ModelError{});
    CHECK(error_of(22, dgc(0.9F, 8)) == ModelError::kReplicas);
    CHECK(error_of(21, changed([](auto& c) { c.replicas.count = 0; })) == ModelError::kReplicas);
    CHECK(error_of(257, changed([](auto& c) { c.replicas.count = 257; })) == ModelError::kOptimizer);
    CHECK(error_of(21, changed([](auto& c) { c.replicas.block = 0; })) == ModelError::kOptimizer);
    CHECK(error_of(21, changed([](auto& c) { c.accumulation = 2; })) == ModelError::kOptimizer);
    CHECK(error_of(21, changed([](auto& c) { c.kind = OptimizerKind::kAdamW; })) == ModelError::kOptimizer);
    CHECK(error_of(21, changed([](auto& c) { c.kind = OptimizerKind::kNesterov; })) == ModelError::kOptimizer);
}
