// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <contracts/params/work.hpp>
#include <tools/cli/task/task_estimate.hpp>
#include <tools/cli/task/task_lint.hpp>

namespace assay::cli {
namespace {

using namespace taskdir;

using cli_test::replaced;
using cli_test::TemporaryDirectory;
using cli_test::write_text;
using nlohmann::json;

const std::string kGood = cli_test::kTinyTask;
const std::string kText = "the quick brown fox";  // 19 characters: 15 rows of 5

struct Directory {
    TemporaryDirectory at;
    explicit Directory(const std::string& toml, const std::string& text = kText) {
        write_text(at.path() / "task.toml", toml);
        write_text(at.path() / "text.txt", text);
    }
    taskdir::Findings lint() const { return lint_task(at.path()); }
    bool finds(taskdir::Severity severity, const std::string& key, const std::string& part) const {
        const taskdir::Findings findings = lint();
        return std::any_of(findings.all().begin(), findings.all().end(), [&](const taskdir::Finding& f) {
            return f.severity == severity && f.key == key && f.message.find(part) != std::string::npos;
        });
    }
    taskdir::BuiltTask build() const {
        taskdir::Findings findings(task_file_name(at.path()));
        auto task = taskdir::build_task(at.path(), findings);
        findings.throw_if_wrong();
        REQUIRE(task.has_value());
        return *std::move(task);
    }
};

TEST_CASE("a good directory has no findings") {
    const taskdir::Findings findings = Directory(kGood).lint();
    CHECK(findings.all().empty());
    CHECK(findings_text(findings) == "0 errors, 0 warnings, 0 notes\n");
}

TEST_CASE("every wrong key is found, with its line") {
    std::string toml = replaced(kGood, "steps = 20", "steps = 0");
    toml = replaced(toml, "hidden = 8", "hidden = \"8\"");
    toml = replaced(toml, "kind = \"adam\"", "kind = \"adam\"\nbeta3 = 0.1");
    const taskdir::Findings findings = Directory(toml).lint();
    REQUIRE(findings.count(taskdir::Severity::kError) == 3);
    CHECK(findings.all()[0].key == "steps");
    CHECK(findings.all()[0].line == 2);
    CHECK(findings.all()[1].key == "[model] hidden");
    CHECK(findings.all()[1].line == 11);
    CHECK(findings.all()[2].key == "[optimizer] beta3");
    CHECK(findings.all()[2].line == 15);
    const json listed = to_json(findings);
    CHECK(listed.at("errors") == 3);
    CHECK(listed.at("findings").at(1).at("line") == 11);
    CHECK(listed.at("findings").at(1).at("severity") == "error");
}

TEST_CASE("a round that is not finished, and a checkpoint in the middle of a turn, are warned of") {
    const auto with = [](const std::string& turn) {
        return Directory(kGood + std::string("[replicas]\ncount = 2\nexchange = \"diloco\"\n") + turn);
    };
    using enum taskdir::Severity;
    CHECK(with("").lint().count(kWarning) == 0);
    CHECK(with("turn_steps = 4\n").finds(kWarning, "steps", "end in the middle of a round, which has 8 steps"));
    CHECK(with("turn_steps = 4\n").finds(kWarning, "checkpoint_interval", "no multiple of [replicas] turn_steps, 4"));
}

TEST_CASE("packing names the first error and how many more there are") {
    const Directory directory(replaced(replaced(kGood, "steps = 20", "steps = 0"), "hidden = 8", "hidden = 0"));
    CHECK_THROWS_WITH_AS(directory.build(), doctest::Contains("and 1 more"), taskdir::TaskDirectoryError);
}

TEST_CASE("what cannot be read or is not TOML is a finding too") {
    const TemporaryDirectory empty;
    CHECK(findings_text(lint_task(empty.path())).find("error: cannot read") == 0);
    CHECK(Directory("steps = ").lint().count(taskdir::Severity::kError) == 1);
    CHECK(Directory(replaced(kGood, "text.txt", "none.txt")).lint().count(taskdir::Severity::kError) == 1);
}

TEST_CASE("a run that ends too early or wastes steps is warned of") {
    const std::string schedule = "[schedule]\nkind = \"linear\"\ntotal_updates = 40\n[data]";
    CHECK(Directory(replaced(kGood, "[data]", schedule))
              .finds(taskdir::Severity::kWarning, "[schedule] total_updates", "20 updates"));
    const std::string warmup = "[schedule]\nwarmup_updates = 20\n[data]";
    CHECK(Directory(replaced(kGood, "[data]", warmup))
              .finds(taskdir::Severity::kWarning, "[schedule] warmup_updates", "ends before"));
    const auto accumulating = [](const std::string& n) {
        return Directory(replaced(kGood, "kind = \"adam\"", "kind = \"adam\"\naccumulation = " + n));
    };
    CHECK(accumulating("3").finds(taskdir::Severity::kWarning, "[optimizer] accumulation", "last 2 steps"));
    CHECK(accumulating("21").finds(
        taskdir::Severity::kError, "[optimizer] accumulation", "no parameter would ever change"
    ));
    CHECK(accumulating("4").lint().all().empty());
}

TEST_CASE("a batch larger than the dataset is warned of, and rows never read are noted") {
    CHECK(Directory(replaced(kGood, "batch_size = 2", "batch_size = 16"))
              .finds(taskdir::Severity::kWarning, "[model] batch_size", "15 rows"));
    const Directory brief(
        replaced(replaced(kGood, "steps = 20", "steps = 7"), "checkpoint_interval = 10", "checkpoint_interval = 7")
    );
    CHECK(brief.finds(taskdir::Severity::kNote, "steps", "14 of the dataset's 15 rows"));
}

TEST_CASE("attention under Adam with a tiny epsilon is warned of in tolerance mode") {
    const std::string model = kGood.substr(kGood.find("[model]"), kGood.find("[optimizer]") - kGood.find("[model]"));
    const std::string gpt = replaced(
        kGood, model, "[model]\nkind = \"gpt\"\ncontext = 32\nlayers = 1\nheads = 1\nwidth = 32\nbatch_size = 2\n"
    );
    const std::string in_tolerance = "mode = \"tolerance\"\ntraining_blocks";
    const auto warns = [](const std::string& toml) {
        return Directory(toml, std::string(40, 'a') + kText)
            .finds(taskdir::Severity::kWarning, "[optimizer] epsilon", "below 1e-6");
    };
    CHECK(warns(replaced(gpt, "training_blocks", in_tolerance)));
    CHECK_FALSE(warns(gpt));
    CHECK_FALSE(warns(replaced(kGood, "training_blocks", in_tolerance)));
    const std::string larger = replaced(gpt, "kind = \"adam\"", "kind = \"adam\"\nepsilon = 1e-6");
    CHECK_FALSE(warns(replaced(larger, "training_blocks", in_tolerance)));
}

TEST_CASE("a task that pays nothing is warned of") {
    CHECK(
        Directory(replaced(kGood, "\"20 ASY\"", "\"0 ASY\"")).finds(taskdir::Severity::kWarning, "reward", "no solver")
    );
    CHECK(Directory(replaced(kGood, "\"500 grains\"", "\"0 grains\""))
              .finds(taskdir::Severity::kWarning, "verification_fee", "no verifier"));
}

TEST_CASE("a task dearer than most chains admit is noted") {
    const auto notes = [](const std::string& reward) {
        return Directory(replaced(kGood, "20 ASY", reward)).finds(taskdir::Severity::kNote, "reward", "task_value_max");
    };
    CHECK(notes("200 ASY"));  // and 500 grains
    CHECK_FALSE(notes("199 ASY"));
}

TEST_CASE("the first step of a task is tried where that takes seconds, and a larger one is noted") {
    CHECK_FALSE(Directory(kGood).lint().has_errors());
    const Directory large(replaced(kGood, "hidden = 8", "hidden = 300000"));
    CHECK(large.finds(taskdir::Severity::kNote, "model", "too large to try its first step"));
}

TEST_CASE("an estimate counts parameters, state, work and data") {
    const taskdir::BuiltTask task = Directory(kGood).build();
    const Estimate estimate = estimate_task(task);
    // "the quick brown fox" has 16 different characters: 16x32 + 8x128 + 8 + 16x8 + 16.
    const std::uint64_t parameters = 16 * 32 + 8 * 128 + 8 + 16 * 8 + 16;
    CHECK(estimate.parameters == parameters);
    CHECK(estimate.optimizer_values == 2 * parameters + 2);
    CHECK(estimate.state_bytes == 4 * (3 * parameters + 2));
    CHECK(estimate.checkpoint_bytes > estimate.state_bytes);
    // Forward 2x128x8 and 2x8x16, and as much again for each operand's gradient; the embedding is no contraction.
    CHECK(estimate.multiply_adds == std::map<std::string, std::uint64_t>{{"XG-21", 3 * (2 * 128 * 8 + 2 * 8 * 16)}});
    CHECK(estimate.rows_read == 40);
    CHECK(estimate.segments == 2);
    std::uint64_t nodes = 0;
    for (const auto& [op, count] : estimate.nodes_by_op) {
        nodes += count;
    }
    CHECK(nodes == task.program.step.size());
    CHECK(estimate.nodes_by_op.at("contract") == 6);
    CHECK(estimate.nodes_by_op.at("commit") == 1);
    CHECK(estimate.dispute_bytes > 2 * estimate.state_bytes);
    CHECK(estimate.training_bytes > 3 * estimate.state_bytes);
    CHECK(estimate.least_training_bytes <= estimate.training_bytes);
}

TEST_CASE("an estimate says which model of the family fits, and what does not") {
    const taskdir::BuiltTask task = Directory(kGood).build();
    const Estimate small = estimate_task(task, {.memory_bytes = std::uint64_t{16} << 20U, .score = 100'000});
    const Estimate large = estimate_task(task, {.memory_bytes = std::uint64_t{64} << 20U});
    REQUIRE(small.largest.has_value());
    REQUIRE(large.largest.has_value());
    CHECK(small.largest->state_bytes < large.largest->state_bytes);
    CHECK(large.largest->memory.bytes + small.state_bytes < std::uint64_t{64} << 20U);
    // Of twice the hidden layer nothing is left: the largest is within a step of one more times the layer.
    CHECK(large.largest->memory.bytes > std::uint64_t{60} << 20U);
    const Estimate none = estimate_task(task, {.memory_bytes = std::uint64_t{1} << 20U});
    CHECK_FALSE(none.largest.has_value());
    CHECK(to_json(none, task).at("fits") == false);
    CHECK(estimate_text(none, task).find("too much for 1.0 MiB") != std::string::npos);
    CHECK(estimate_text(large, task).find("the largest such model that fits 64.0 MiB") != std::string::npos);
}

TEST_CASE("WRK-3: an estimate's hours are those of the classes' speeds and of the score that is given") {
    const taskdir::BuiltTask task = Directory(kGood).build();
    const contracts::Params params;
    const Estimate estimate = estimate_task(task, {.score = 2 * params.hardware_classes.at(0).least_score}, params);
    REQUIRE(estimate.hours.size() == params.hardware_classes.size() + 1);
    const double work =
        static_cast<double>(task.spec.program.init_work) + 20.0 * static_cast<double>(task.spec.program.step_work);
    const double speed = static_cast<double>(params.hardware_classes.at(0).least_score);
    CHECK(estimate.hours.front().second == doctest::Approx(work / speed / 3.6e9));
    CHECK(estimate.hours.back().second == doctest::Approx(work / speed / 7.2e9));
    CHECK(estimate.fee_min_grains == contracts::fee_at(params, task.spec, params.work_price).grains);
    CHECK(estimate_text(estimate, task).find("seconds on this machine") != std::string::npos);
}

TEST_CASE("DSP-3: an estimate's rounds are those of the rules") {
    const taskdir::BuiltTask task = Directory(kGood).build();
    const DisputeBound bound = estimate_task(task).dispute;
    CHECK(bound.rounds.steps == 1);  // 10 steps
    CHECK(bound.rounds.nodes == (task.program.step.size() > 256 ? 2 : 1));
    CHECK(bound.rounds.tiles == 1);
    CHECK(bound.rounds.total() <= 5);
    CHECK(bound.reveal_bytes <= 256 * 32);
    CHECK(bound.proof_bytes > 4096);
    const taskdir::BuiltTask longer =
        Directory(replaced(replaced(kGood, "steps = 20", "steps = 2000"), "interval = 10", "interval = 1000")).build();
    CHECK(estimate_task(longer).dispute.rounds.steps == 2);
    const taskdir::BuiltTask single =
        Directory(replaced(replaced(kGood, "steps = 20", "steps = 2"), "interval = 10", "interval = 1")).build();
    CHECK(estimate_task(single).dispute.rounds.steps == 0);
}

TEST_CASE("an estimate is told in words and in JSON") {
    const taskdir::BuiltTask task = Directory(kGood).build();
    const Estimate estimate = estimate_task(task);
    const std::string text = estimate_text(estimate, task);
    for (const char* part :
         {"1,688 parameters", "multiply-adds in XG-21", "15 rows of 5 values", "20 steps of 2 rows in 2 segments"}) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    }
    const json told = to_json(estimate, task);
    CHECK(told.at("parameters") == estimate.parameters);
    CHECK(told.at("nodes").at("step") == task.program.step.size());
    CHECK(told.at("dispute").at("rounds") == estimate.dispute.rounds.total());
    CHECK(told.at("multiply_adds_per_step").at("XG-21") == estimate.multiply_adds.at("XG-21"));
}

}  // namespace
}  // namespace assay::cli
