// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <verifier/worker/benchmark.hpp>

namespace assay::worker {
namespace {

TEST_CASE("a score reaches the class with the greatest least score that it covers, whatever the order of the table") {
    contracts::Params params;
    params.hardware_classes = {{"fast", 100}, {"slow", 10}, {"faster", 1'000}};
    CHECK(class_reached(params, 9) == 0);
    CHECK(class_reached(params, 10) == 2);
    CHECK(class_reached(params, 99) == 2);
    CHECK(class_reached(params, 100) == 1);
    CHECK(class_reached(params, ~std::uint64_t{0}) == 3);
    params.hardware_classes.clear();
    CHECK(class_reached(params, 5) == 0);
}

TEST_CASE("a benchmark measures two positive rates and prints the class that it reaches") {
    const Benchmark benchmark = run_benchmark({}, 0.01);
    CHECK(benchmark.small_step > 0);
    CHECK(benchmark.score == static_cast<std::uint64_t>(benchmark.products));
    contracts::Params params;
    params.hardware_classes = {{"any-cpu", 1}};
    const auto out = to_json(benchmark, params);
    CHECK(out.at("class") == 1);
    CHECK(out.at("class_name") == "any-cpu");
    CHECK(to_text(benchmark, params).find("1 (any-cpu)") != std::string::npos);
}

}  // namespace
}  // namespace assay::worker
