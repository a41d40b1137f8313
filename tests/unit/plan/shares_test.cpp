// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/dispute/work.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/message.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/plan/planner.hpp>

using namespace assay;
using namespace assay::plan;

namespace {

using Shares = std::vector<std::uint32_t>;

program::OptimizerConfig adam() {
    program::OptimizerConfig out;
    out.kind = program::OptimizerKind::kAdamW;
    return out;
}

program::Program gpt(std::uint32_t layers, std::uint32_t heads) {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.layers = layers;
    model.heads = heads;
    model.width = 32 * heads;
    model.dataset_rows = 64;
    return program::build_gpt(model, adam());
}

program::Program llama(std::uint32_t heads, std::uint32_t key_heads) {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.heads = heads;
    model.width = 32 * heads;
    model.rotary = true;
    model.dataset_rows = 64;
    model.llama = {.key_heads = key_heads, .hidden = 256};
    return program::build_gpt(model, adam());
}

program::Program mlp(std::vector<std::uint32_t> hidden, std::uint32_t features = 64) {
    program::MlpConfig model;
    model.features = features;
    model.hidden = std::move(hidden);
    model.classes = 256;
    model.batch_size = 64;
    model.dataset_rows = 256;
    return program::build_mlp(model, adam());
}

Plan plan_by(const program::Program& program, const char* name, std::uint32_t ranks) {
    return make_plan(program, *decode_layout(name, ranks));
}

/// What each rank computes, of 1,000.
std::vector<std::uint64_t> thousandths(const program::Program& program, const char* name, std::uint32_t ranks) {
    const Plan plan = plan_by(program, name, ranks);
    std::vector<std::uint64_t> out;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out.push_back(work_of(plan, program.step, rank));
    }
    const std::uint64_t sum = std::accumulate(out.begin(), out.end(), std::uint64_t{0});
    for (std::uint64_t& each : out) {
        each = proportion(1'000, each, sum);
    }
    return out;
}

bool is_near(std::uint64_t a, std::uint64_t b, std::uint64_t slack) { return std::max(a, b) - std::min(a, b) <= slack; }

std::uint64_t sent(const program::Program& program, const char* name, std::uint32_t ranks) {
    const Plan plan = plan_by(program, name, ranks);
    std::uint64_t out = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        out += traffic_of(plan, program.step, rank).bytes();
    }
    return out;
}

Shares counts(const std::vector<IndexSet>& parts) {
    Shares out;
    for (const IndexSet& part : parts) {
        out.push_back(part.count());
    }
    return out;
}

}  // namespace

TEST_CASE("a proportion is exact where products of its terms would not fit") {
    CHECK(proportion(10, 1, 3) == 3);
    CHECK(proportion(~std::uint64_t{0}, 7, 7) == ~std::uint64_t{0});
    CHECK(proportion(~std::uint64_t{0}, 1, 2) == ~std::uint64_t{0} / 2);
    const std::uint64_t whole = std::uint64_t{1} << 40U;
    CHECK(proportion(whole, whole / 4, whole) == whole / 4);
    CHECK(proportion(5, 0, 9) == 0);
}

TEST_CASE("columns are cut in proportion, at multiples of a grain, and nobody gets none") {
    CHECK(counts(cut_columns(40, Shares{5, 3}, 1)) == Shares{25, 15});
    CHECK(counts(cut_columns(45, Shares{2, 1}, 1)) == Shares{30, 15});
    CHECK(counts(cut_columns(4, Shares{1, 1'000, 1}, 1)) == Shares{1, 2, 1});
    CHECK(counts(cut_columns(3, Shares{1'000, 1, 1}, 1)) == Shares{1, 1, 1});
    // Whole heads.
    CHECK(counts(cut_columns(96, Shares{5, 3}, 24)) == Shares{72, 24});
    CHECK(counts(cut_columns(64, Shares{9, 1}, 32)) == Shares{32, 32});
    // Whole partials of 32 where that costs little, else the nearest column.
    CHECK(counts(cut_columns(256, Shares{5, 3}, 1)) == Shares{160, 96});
    CHECK(counts(cut_columns(250, Shares{5, 3}, 1)) == Shares{160, 90});
    CHECK(counts(cut_columns(64, Shares{5, 3}, 1)) == Shares{40, 24});
    CHECK(counts(cut_columns(512, Shares{3, 1}, 16)) == Shares{384, 128});
    for (const std::uint32_t size : {7U, 33U, 100U, 1'000U}) {
        const auto parts = cut_columns(size, Shares{3, 1, 2}, 1);
        CHECK(parts.front().ranges().front().begin == 0);
        CHECK(std::accumulate(parts.begin(), parts.end(), 0U, [](std::uint32_t sum, const IndexSet& part) {
                  return sum + part.count();
              }) == size);
    }
}

TEST_CASE("stages have about their shares of the multiply-adds, and every node a stage") {
    const program::Program deep = gpt(8, 2);
    for (const auto& [name, wanted] :
         {std::pair{"pp:3,1", std::vector<std::uint64_t>{750, 250}},
          {"pp:1,3", {250, 750}},
          {"pp:1,1", {500, 500}},
          {"pp:5,3", {625, 375}},
          {"pp:2,1,1", {500, 250, 250}},
          {"pp:1,4,2,1", {125, 500, 250, 125}}}) {
        const std::string layout = name;
        CAPTURE(layout);
        const auto ranks = static_cast<std::uint32_t>(wanted.size());
        const std::vector<std::uint64_t> found = thousandths(deep, name, ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            CAPTURE(found[rank]);
            CHECK(is_near(found[rank], wanted[rank], 60));
        }
        const std::vector<std::uint32_t> stages = stages_of(deep, *decode_layout(name, ranks));
        CHECK(stages.size() == deep.step.size());
        CHECK(*std::max_element(stages.begin(), stages.end()) == ranks - 1);
        CHECK(std::is_sorted(stages.begin(), stages.begin() + deep.loss_node + 1));
    }
}

TEST_CASE("alike shares are none") {
    for (const program::Program& program : {gpt(4, 2), mlp({256, 256, 256})}) {
        for (const std::uint32_t parts : {2U, 3U, 4U}) {
            const Layout without{.stages = parts};
            const Layout alike{.stages = parts, .stage_shares = Shares(parts, 7)};
            CHECK(stages_of(program, without) == stages_of(program, alike));
        }
    }
}

TEST_CASE("what cannot be cut as the shares ask is cut at the nearest node") {
    // One product has nearly all of the work.
    const program::Program program = mlp({32, 512, 32});
    const std::vector<std::uint64_t> even = thousandths(program, "pp:1,1", 2);
    CHECK(even[0] > 0);
    CHECK(even[1] > 0);
    // Whatever is asked for, every stage has a node, and every tensor of the state a place.
    for (const auto& [name, ranks] : {std::pair{"pp:60000,1", 2U}, {"pp:1,60000", 2U}, {"pp:1,60000,1", 3U}}) {
        const std::string layout = name;
        CAPTURE(layout);
        const std::vector<std::uint32_t> stages = stages_of(program, *decode_layout(name, ranks));
        for (std::uint32_t stage = 0; stage < ranks; ++stage) {
            CHECK(std::count(stages.begin(), stages.begin() + program.loss_node + 1, stage) > 0);
        }
        const Plan plan = plan_by(program, name, ranks);
        for (std::size_t i = 0; i < program.state.size(); ++i) {
            CHECK(covers(plan.state[i], program.state[i].type.shape));
        }
    }
}

TEST_CASE("the sum of what ranks compute is the step, and more where several compute the same") {
    const program::Program program = gpt(2, 4);
    const std::uint64_t all = dispute::work_of(program.step) - dispute::work_of(program.step.back());
    for (const auto& [name, ranks] : {std::pair{"pp:3,1", 2U}, {"tp:3,1", 2U}, {"dp:3,1", 2U}, {"pp:2,1+dp2", 4U}}) {
        const std::string layout = name;
        CAPTURE(layout);
        const Plan plan = plan_by(program, name, ranks);
        std::uint64_t sum = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            sum += work_of(plan, program.step, rank);
        }
        CHECK(sum > all * 99 / 100);
        CHECK(sum < 2 * all);
    }
    CHECK(work_of(plan_by(program, "dp", 1), program.step, 0) == all);
    const std::vector<std::uint64_t> stages = work_of_stages(program, *decode_layout("pp:3,1", 2));
    CHECK(stages[0] + stages[1] == all);
    const Plan plan = plan_by(program, "pp:3,1", 2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        CHECK(stages[rank] <= work_of(plan, program.step, rank));
        CHECK(stages[rank] > work_of(plan, program.step, rank) * 95 / 100);
    }
}

TEST_CASE("heads are found, and keys of grouped queries have fewer") {
    const auto of = [](const program::Program& program) {
        std::string out;
        for (const std::uint32_t each : heads_of(program)) {
            out += each > 0 ? std::to_string(each) + " " : "";
        }
        return out;
    };
    CHECK(of(gpt(2, 4)) == "4 4 ");            // queries, keys and values are one product
    CHECK(of(llama(8, 4)) == "4 4 4 4 4 4 ");  // and three products
    CHECK(of(llama(8, 2)) == "2 2 2 2 2 2 ");
    CHECK(of(mlp({64})).empty());
}

TEST_CASE("unequal parts of layers cross as little as equal ones: heads stay whole") {
    const program::Program plain = gpt(2, 4);
    CHECK(sent(plain, "tp:3,1", 2) < sent(plain, "tp", 2) * 11 / 10);
    CHECK(sent(plain, "tp:2,1,1", 3) < sent(plain, "tp", 4) * 11 / 10);
    // Five eighths of four heads are none, so one part gets three.
    CHECK(sent(plain, "tp:5,3", 2) < sent(plain, "tp", 2) * 11 / 10);
    const program::Program grouped = llama(8, 4);
    CHECK(sent(grouped, "tp:3,1", 2) < sent(grouped, "tp", 2) * 11 / 10);
    const std::vector<std::uint64_t> found = thousandths(plain, "tp:3,1", 2);
    CAPTURE(found[0]);
    CHECK(found[0] > 600);
    CHECK(found[0] < 760);
}

TEST_CASE("STM-6: unequal parts of layers are whole partials where the layer has enough columns for that") {
    const program::Program wide = mlp({256, 256});
    CHECK_FALSE(unstatable_node(plan_by(wide, "tp:5,3", 2), wide.step).has_value());
    CHECK_FALSE(unstatable_node(plan_by(gpt(2, 4), "tp:3,1", 2), gpt(2, 4).step).has_value());
    const program::Program narrow = mlp({48, 256});  // 48 columns have one whole partial
    CHECK(unstatable_node(plan_by(narrow, "tp:5,3", 2), narrow.step).has_value());
    CHECK_FALSE(unstatable_node(plan_by(gpt(4, 2), "pp:3,1", 2), gpt(4, 2).step).has_value());
}

TEST_CASE("a stage's state grows with its share") {
    const program::Program program = gpt(8, 2);
    const Plan plan = plan_by(program, "pp:3,1", 2);
    CHECK(state_bytes(plan, program, 0) > 2 * state_bytes(plan, program, 1));
    const Plan cut = plan_by(program, "pp:3,1+1f1b4", 2);
    CHECK(cut.state == plan.state);
}
