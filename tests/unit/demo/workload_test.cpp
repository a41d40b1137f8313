// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <tests/unit/cli/temporary.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/taskdir/task_build.hpp>

namespace assay::demo {
namespace {

/// Reads back what the demo writes. `tokenizer` need not exist: only task.toml is read.
taskdir::TaskFile written(const std::string& model, Fraud fraud, bool tolerance, DemoOptions options = {}) {
    const cli_test::TemporaryDirectory directory;
    const Workload* workload = find_workload(model);
    REQUIRE(workload != nullptr);
    write_task(directory.path(), *workload, options, fraud, tolerance);
    taskdir::Findings findings(taskdir::task_file_name(directory.path()));
    const taskdir::TaskFile file = taskdir::read_task_file(directory.path(), findings);
    CHECK(findings.all().empty());
    return file;
}

TEST_CASE("every model of the demo is a task directory that is read without a finding") {
    for (const std::string& model : workload_names()) {
        CAPTURE(model);
        const taskdir::TaskFile file = written(model, Fraud::kTile, false);
        CHECK(contracts::segment_count(file.spec) == find_workload(model)->segments);
        CHECK(file.spec.mode == contracts::Mode::kExact);
        CHECK(!file.holdout);
    }
    CHECK(find_workload("gpt3") == nullptr);
    DemoOptions options;
    options.model = "gpt3";
    CHECK_THROWS_AS(workload_of(options), std::runtime_error);
    options.task = "here";  // takes the place of any model
    CHECK(!workload_of(options).needs_tokenizer);
}

TEST_CASE("a demo's options are in its task directory") {
    DemoOptions options;
    options.steps = 33;
    options.seed = 5;
    options.tokenizer = "tokens.json";
    const taskdir::TaskFile file = written("gpt10m", Fraud::kNone, true, options);
    CHECK(file.spec.steps == 33);
    CHECK(file.spec.checkpoint_interval == 9);
    CHECK(file.spec.seed == 5);
    CHECK(file.spec.mode == contracts::Mode::kTolerance);
    REQUIRE(file.holdout);
    const std::string tokens = std::filesystem::absolute("tokens.json").string();
    CHECK(file.data.tokenizer == tokens);
    CHECK(file.holdout->files.text == "holdout.txt");
}

TEST_CASE("a demo of replicas has as many as workers, and a batch of equal parts") {
    DemoOptions options;
    options.workers = 3;
    options.parallel = kReplicasByDgc;
    for (const std::string& model : workload_names()) {
        CAPTURE(model);
        const taskdir::TaskFile file = written(model, Fraud::kNone, false, options);
        const program::Replicas& replicas = file.optimizer.replicas;
        CHECK(replicas.count == 3);
        CHECK(replicas.exchange == program::ExchangeKind::kDgc);
        CHECK(file.optimizer.kind == program::OptimizerKind::kSgdMomentum);
    }
    CHECK(std::get<program::CharModelConfig>(written("char", Fraud::kNone, false, options).model).batch_size == 66);
    CHECK(std::get<program::CharModelConfig>(written("char", Fraud::kNone, false).model).batch_size == 64);
    CHECK(written("char", Fraud::kNone, false).optimizer.replicas.count == 1);
}

TEST_CASE("a model that reads tokens is refused without a tokenizer") {
    DemoOptions options;
    options.model = "gpt2-small";
    CHECK_THROWS_WITH_AS(run_demo(options), doctest::Contains("tokenizer"), std::runtime_error);
}

}  // namespace
}  // namespace assay::demo
