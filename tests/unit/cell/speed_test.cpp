// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <verifier/cell/speed.hpp>
#include <verifier/compile/program/models.hpp>
#include <verifier/plan/plan.hpp>

using namespace assay;
using plan::Layout;

namespace {

program::Program deep_program() {
    program::GptConfig model;
    model.vocabulary = 64;
    model.context = 32;
    model.layers = 4;
    model.heads = 4;
    model.width = 128;
    model.batch_size = 8;
    model.dataset_rows = 64;
    return program::build_gpt(model, {});
}

/// For how long ranks of these speeds compute.
std::vector<double> busy_s(
    const program::Program& program, const Layout& layout, const std::vector<double>& multiply_adds_per_s
) {
    const plan::Plan plan = plan::make_plan(program, layout);
    std::vector<double> out;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        out.push_back(static_cast<double>(plan::work_of(plan, program.step, rank)) / multiply_adds_per_s[rank]);
    }
    return out;
}

double slowest(const program::Program& program, const Layout& layout, const std::vector<double>& speeds) {
    const std::vector<double> seconds = busy_s(program, layout, speeds);
    return *std::max_element(seconds.begin(), seconds.end());
}

}  // namespace

TEST_CASE("a cell gives a rank with a third of the speed about a third of the work, whatever is divided") {
    const program::Program program = deep_program();
    const std::vector<double> speeds{3e6, 1e6};
    for (const char* const name : {"dp", "zero1", "pp", "pp+1f1b4", "tp"}) {
        const std::string text = name;
        CAPTURE(text);
        const Layout layout = plan::decode_layout(name, 2).value();
        const auto found = cell::by_speed(program, layout, busy_s(program, layout, speeds));
        REQUIRE(found.has_value());
        CHECK(found->without_shares() == layout);
        const std::string written = plan::to_string(*found);
        CAPTURE(written);
        CHECK(plan::decode_layout(written, 2) == *found);
        CHECK(slowest(program, *found, speeds) < 0.75 * slowest(program, layout, speeds));
        // It stays as it is while the speeds do, and becomes even again once they are alike.
        CHECK_FALSE(cell::by_speed(program, *found, busy_s(program, *found, speeds)).has_value());
        const auto even = cell::by_speed(program, *found, busy_s(program, *found, {1e6, 1e6}));
        REQUIRE(even.has_value());
        CHECK(slowest(program, *even, {1e6, 1e6}) < 1.1 * slowest(program, layout, {1e6, 1e6}));
    }
}

TEST_CASE("a cell with parts in two directions finds in which of them a rank is slow") {
    const program::Program program = deep_program();
    const Layout layout = plan::decode_layout("dp2pp2", 4).value();
    const auto found = [&](const std::vector<double>& speeds) {
        return cell::by_speed(program, layout, busy_s(program, layout, speeds));
    };
    const auto stage = found({3e6, 3e6, 1e6, 1e6});  // ranks 2 and 3 are the second stage
    REQUIRE(stage.has_value());
    CHECK(stage->shares.empty());
    CHECK(stage->stage_shares[0] > 2 * stage->stage_shares[1]);
    const auto replica = found({3e6, 1e6, 3e6, 1e6});
    REQUIRE(replica.has_value());
    CHECK(replica->stage_shares.empty());
    CHECK(replica->shares == std::vector<std::uint32_t>{6, 2});
}

TEST_CASE("a cell leaves its layout as it is where no other is a tenth faster, or nothing is known") {
    const program::Program program = deep_program();
    const Layout layout = plan::decode_layout("pp", 2).value();
    CHECK_FALSE(cell::by_speed(program, layout, busy_s(program, layout, {1e6, 1.05e6})).has_value());
    CHECK_FALSE(cell::by_speed(program, layout, {}).has_value());
    CHECK_FALSE(cell::by_speed(program, layout, {0.0, 0.0}).has_value());
    CHECK_FALSE(cell::by_speed(program, plan::decode_layout("dp", 1).value(), {1.0}).has_value());
    CHECK_FALSE(cell::by_speed(program, plan::decode_layout("turns", 2).value(), {1.0, 2.0}).has_value());
}
