// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <core/dispute/work.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/schedule/profile.hpp>

using namespace assay;
using namespace assay::schedule;
using plan::Zero;

namespace {

program::Program small_gpt() {
    program::GptConfig model;
    model.vocabulary = 96;
    model.context = 32;
    model.dataset_rows = 64;
    program::OptimizerConfig optimizer;
    optimizer.kind = program::OptimizerKind::kAdamW;
    return program::build_gpt(model, optimizer);
}

double sent(const program::Program& program, const char* name, std::uint32_t ranks) {
    const plan::Plan plan = plan::make_plan(program, *plan::decode_layout(name, ranks));
    return static_cast<double>(plan::traffic_of(plan, program.step, 0).bytes());
}

}  // namespace

TEST_CASE("what four ranks send follows from what two send") {
    const program::Program program = small_gpt();
    const StepProfile profile = profile_of(program);
    CHECK(profile.is_planned);
    for (const auto& [name, zero] :
         {std::pair{"dp", Zero::kNone},
          {"zero1", Zero::kOptimizer},
          {"zero2", Zero::kGradients},
          {"zero3", Zero::kParameters}}) {
        const std::string layout = name;
        CAPTURE(layout);
        const double predicted = profile.data_by(zero).bytes * 3.0 / 4.0;
        CHECK(predicted / sent(program, layout.c_str(), 4) == doctest::Approx(1.0).epsilon(0.03));
    }
}

TEST_CASE("a profile has the program's work and 16 bytes for each parameter with Adam") {
    const program::Program program = small_gpt();
    const StepProfile profile = profile_of(program);
    CHECK(profile.work == static_cast<double>(dispute::work_of(program.step)));
    CHECK(profile.parameter_bytes + profile.slot_bytes == static_cast<double>(program::size_bytes(program.state)));
    CHECK(memory_of(profile, {}, 0.0) / (4.0 * profile.parameter_bytes) == doctest::Approx(1.0).epsilon(0.001));
    CHECK(profile.activation_bytes > 0.0);
    // Every replica computes the optimizer's part, which ZeRO divides.
    CHECK(profile.data_by(Zero::kNone).serial > 0.05);
    CHECK(profile.data_by(Zero::kOptimizer).serial < 0.03);
}

TEST_CASE("formulas are near what plans send") {
    const program::Program program = small_gpt();
    const StepProfile planned = profile_of(program);
    const StepProfile formulas = profile_of(program, 0.0);
    CHECK_FALSE(formulas.is_planned);
    for (std::size_t zero = 0; zero < 4; ++zero) {
        CAPTURE(zero);
        const double ratio = formulas.data[zero].bytes / planned.data[zero].bytes;
        CHECK(ratio > 0.8);
        CHECK(ratio < 1.2);
        const double rounds = formulas.data[zero].rounds / planned.data[zero].rounds;
        CHECK(rounds > 0.6);
        CHECK(rounds < 1.5);
    }
    CHECK(formulas.tensor.bytes / planned.tensor.bytes == doctest::Approx(1.0).epsilon(0.2));
    // The residual stream of 8 x 32 x 64 values, forward and backward: a plan sends more than that.
    CHECK(formulas.stages.bytes / (2.0 * 8 * 32 * 64 * 4) == doctest::Approx(1.0).epsilon(0.05));
    CHECK(formulas.stages.bytes < planned.stages.bytes);
}
