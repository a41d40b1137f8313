// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <tests/unit/engine/random_graph.hpp>
#include <tests/unit/engine/whole_outputs.hpp>

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

namespace {

enum class How : std::uint8_t { kUnwatched, kObserved, kNodeByNode };

}  // namespace

TEST_CASE("NUM-1: several steps in a row equal the definition, however each is executed") {
    for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
        CAPTURE(seed);
        Case c = random_graph(seed);
        for (const auto& options : all_engines()) {
            CAPTURE(name_of(options));
            Case now = c;
            engine::Engine engine(c.graph, c.rows, options);
            engine.set_state(c.state);
            for (const How how :
                 {How::kUnwatched, How::kUnwatched, How::kObserved, How::kNodeByNode, How::kUnwatched, How::kUnwatched,
                  How::kObserved, How::kUnwatched}) {
                const Outcome expected = by_definition(now);
                WholeOutputs outputs(now.graph, [](std::uint32_t, const Tensor&) { return true; });
                const engine::Tamper changes_nothing = [](std::uint64_t, std::uint32_t, Tensor&) {};
                const auto result = engine.run_step(
                    now.context, how == How::kNodeByNode ? changes_nothing : engine::Tamper{},
                    how == How::kObserved ? &outputs : nullptr
                );
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
