// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/engine/small_models.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/engine/fused/placing.hpp>
#include <verifier/engine/fused/planning.hpp>

namespace assay::engine::fused {
namespace {

using canonical::test::Random;

std::vector<Lifetime> random_lifetimes(Random& random) {
    std::vector<Lifetime> out(1 + random.below(60));
    for (Lifetime& value : out) {
        value.size = std::size_t{64} * (1 + random.below(random.below(4) == 0 ? 1000 : 20));
        value.first = random.below(40);
        value.last = value.first + random.below(random.below(5) == 0 ? 40 : 5);
    }
    return out;
}

/// By looking at every stage.
std::size_t most_at_once(const std::vector<Lifetime>& values) {
    std::size_t most = 0;
    for (std::size_t stage = 0; stage < 100; ++stage) {
        std::size_t now = 0;
        for (const Lifetime& value : values) {
            now += value.first <= stage && stage <= value.last ? value.size : 0;
        }
        most = std::max(most, now);
    }
    return most;
}

Plan plan_of(const program::Program& program) {
    std::vector<canonical::TensorType> types;
    for (const program::StateTensor& tensor : program.state) {
        types.push_back(tensor.type);
    }
    const std::vector<std::uint32_t> kept{program.loss_node};
    auto plan = make_plan({.graph = program.step, .state = types, .kept = kept, .threads = 1});
    REQUIRE(plan.has_value());
    return *std::move(plan);
}

}  // namespace

TEST_CASE("values that are needed at one time do not overlap") {
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<Lifetime> values = random_lifetimes(random);
        const std::size_t total = place(values);
        const std::size_t needed = needed_at(values, busiest_stage(values));
        CHECK(needed == most_at_once(values));
        CHECK(total >= needed);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Lifetime& a = values[i];
            wrong += a.offset + a.size > total;
            for (std::size_t j = 0; j < i; ++j) {
                const Lifetime& b = values[j];
                const bool meet = a.first <= b.last && b.first <= a.last;
                wrong += meet && a.offset < b.offset + b.size && b.offset < a.offset + a.size;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("a step's memory is within a tenth of what its values need at one time") {
    for (const program::Profile& profile : {program::kXg21, program::kXg8}) {
        for (const std::uint32_t layers : {2U, 6U, 12U}) {
            CAPTURE(layers);
            program::GptConfig config;
            config.vocabulary = 96;
            config.context = 128;
            config.layers = layers;
            config.heads = 6;
            config.width = 384;
            config.batch_size = 2;
            config.dataset_rows = 64;
            config.profile = profile;
            const Plan plan = plan_of(program::build_gpt(config, {}));
            CHECK(plan.arena_bytes <= plan.needed_bytes + plan.needed_bytes / 10);
        }
        for (const test::SmallModel& model : test::small_models(profile)) {
            CAPTURE(model.name);
            const Plan plan = plan_of(model.program);
            CHECK(plan.arena_bytes <= plan.needed_bytes + plan.needed_bytes / 5);  // few values, of some KB
        }
    }
}

}  // namespace assay::engine::fused
