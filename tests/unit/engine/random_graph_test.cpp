// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <tests/unit/engine/random_graph.hpp>

using namespace assay;
using namespace assay::test;
using canonical::Tensor;

TEST_CASE("NUM-1: steps made at random equal the definition on every engine") {
    constexpr std::uint64_t kGraphs = 100;
    std::uint64_t planned = 0;
    for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
        CAPTURE(seed);
        const Case c = random_graph(seed);
        planned += check_everywhere(c, by_definition(c)) ? 1U : 0U;
    }
    // Steps whose products read what nothing bounds have no plan; few do.
    CHECK(planned > kGraphs * 2 / 3);
}

TEST_CASE("NUM-1: several steps in a row equal the definition, watched or not") {
    for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
        CAPTURE(seed);
        Case c = random_graph(seed);
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            Case now = c;
            engine::Engine engine(c.graph, c.rows, options);
            engine.set_state(c.state);
            for (int step = 0; step < 3; ++step) {
                const Outcome expected = by_definition(now);
                const auto watch = [&](std::uint32_t, const Tensor&) { return true; };
                const auto result = step == 1 ? engine.run_step(now.context, {}, watch) : engine.run_step(now.context);
                REQUIRE(result.has_value() == expected.next.has_value());
                if (!expected.next) {
                    CHECK(engine.state() == now.state);
                    break;
                }
                CHECK(engine.state() == *expected.next);
                now.state = *expected.next;
                ++now.context.step;
            }
        }
    }
}
