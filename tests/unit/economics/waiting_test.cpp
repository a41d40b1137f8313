// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/waiting.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include <contracts/state/params.hpp>
#include <contracts/governance/params_rules.hpp>
#include <tests/unit/folders.hpp>
#include <tools/economics/solve.hpp>
#include <tools/economics/unnamed.hpp>

namespace assay::economics {
namespace {

const TaskCosts kUsual{.name = "usual", .segments = 100, .segment_seconds = 360.0};
const TaskCosts kSmall{.name = "small", .segments = 100, .segment_seconds = 6.0};

Constraint one(const std::string& name, const Parameters& p, const Costs& costs, const TaskCosts& task) {
    const std::vector<Constraint> all = check(p, costs, task);
    const auto at = std::find_if(all.begin(), all.end(), [&](const Constraint& c) { return c.name == name; });
    REQUIRE_MESSAGE(at != all.end(), name);
    return *at;
}

/// `name`, which is about `parameter`, holds by default and not after `change`.
void fails(
    const std::string& name, const std::string& parameter, const std::function<void(Parameters&, Costs&)>& change,
    const TaskCosts& task = kUsual
) {
    INFO(name);
    Parameters p = chain_defaults();
    Costs costs = default_costs();
    const Constraint before = one(name, p, costs, task);
    CHECK(before.holds());
    CHECK(before.parameter == parameter);
    change(p, costs);
    const Constraint after = one(name, p, costs, task);
    CHECK_FALSE(after.holds());
    CHECK_FALSE(after.help.empty());
}

/// The parameters that docs/protocol/parameters.md lists.
std::set<std::string> parameters_of_page() {
    std::ifstream in(folders::source() + "/docs/protocol/parameters.md");
    REQUIRE(in);
    std::set<std::string> out;
    bool is_inside = false;
    for (std::string line; std::getline(in, line);) {
        is_inside = is_inside ? line.starts_with("| ") : line.starts_with("|---|---|---|");
        const std::string cell = is_inside ? line.substr(2, line.find(" |", 2) - 2) : std::string();
        for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at)) {
            const std::size_t end = cell.find('`', at + 1);
            out.insert(cell.substr(at + 1, end - at - 1));
            at = end + 1;
        }
    }
    return out;
}

template <auto... members>
constexpr std::size_t count_of(Fields<members...> /*fields*/) {
    return sizeof...(members);
}

TEST_CASE("economics: every parameter of the chain has a constraint, or a reason why it has none") {
    const std::set<std::string> page = parameters_of_page();
    CHECK(page.size() == count_of(contracts::Params::fields()));
    std::set<std::string> named;
    for (const Constraint& constraint : check(chain_defaults(), default_costs())) {
        // What a task offers is not the chain's.
        if (constraint.parameter != "fee" && constraint.parameter != "reward") {
            named.insert(constraint.parameter);
        }
    }
    std::set<std::string> unnamed;
    for (const Unnamed& each : unnamed_parameters()) {
        INFO(each.parameter);
        CHECK_FALSE(each.reason.empty());
        CHECK(unnamed.insert(each.parameter).second);
        CHECK_FALSE(named.contains(each.parameter));
    }
    named.insert(unnamed.begin(), unnamed.end());
    CHECK(named == page);
}

TEST_CASE("TASK-15: decline_blocks stand between the draws that find another solver and the time that a task waits") {
    fails("decline.others", "decline_blocks", [](Parameters& p, Costs&) { p.decline_blocks = 300; });
    fails("decline.others", "decline_blocks", [](Parameters& p, Costs&) { p.redraw_blocks = 40; });
    fails("decline.back", "decline_blocks", [](Parameters& p, Costs&) { p.decline_blocks = 30'000; });
}

TEST_CASE("TASK-15, TASK-18: a solver that declines as soon as it is drawn misses the next draws, counted one by one") {
    Parameters p = chain_defaults();
    // Draws at 0, 21, 62, 143, 304, 625: pauses of 20, 40, 80, 160 and 320 blocks, and a block for each draw.
    CHECK(decline_blocks_needed(p) == 625.0);
    p.redraw_blocks = 1;
    CHECK(decline_blocks_needed(p) == 36.0);
}

TEST_CASE("TASK-17, VER-7: draw_blocks are enough for draws that find a solver, and for verifiers to be free again") {
    fails("draws.time", "draw_blocks", [](Parameters& p, Costs&) { p.draw_blocks = 600; });
    fails("draws.time", "draw_blocks", [](Parameters& p, Costs&) { p.redraw_blocks = 3'000; });
    fails("draws.time", "draw_blocks", [](Parameters& p, Costs&) { p.accept_blocks = 8'000; });
    fails("draws.time", "draw_blocks", [](Parameters& p, Costs& costs) {  // WRK-5: each draw may last for a replay
        p.replay_blocks_max = 1'000'000;
        costs.block_seconds = kUsual.segment_seconds / 10'000;
    });
    fails("draws.busy", "draw_blocks", [](Parameters& p, Costs&) { p.draw_blocks = 4'000; });
    fails("draws.busy", "draw_blocks", [](Parameters& p, Costs&) { p.challenge_blocks = 20'000; });
}

TEST_CASE("WRK-5: a verifier's bond is locked for all spans of a verdict, and seven replays") {
    const Costs costs = default_costs();
    // 200 + 41 + 100 + 100 + 100 + 100 blocks, and replays of 364 blocks: three to commit, two for each window.
    CHECK(draw_blocks_needed(chain_defaults(), costs, kUsual) == 1.5 * (641 + 7 * 364));
}

TEST_CASE("TASK-18: redraw_blocks are long enough for the draws to last, and short enough to make them in time") {
    fails("draws.last", "redraw_blocks", [](Parameters& p, Costs&) { p.redraw_blocks = 19; });
    fails("draws.last", "redraw_blocks", [](Parameters& p, Costs&) { p.draws_max = 15; });
    Parameters p = chain_defaults();
    CHECK(redraw_blocks_needed(p) == 20.0);
    p.draws_max = 3;  // pauses of one and of two
    CHECK(redraw_blocks_needed(p) == 13'334.0);
}

TEST_CASE("GAS-10: end_block_gas_max has room for draws and deadlines, and fits into a block's time") {
    fails("end.draws", "end_block_gas_max", [](Parameters& p, Costs&) { p.end_block_gas_max = 90'000; });
    fails("end.draws", "end_block_gas_max", [](Parameters&, Costs& c) { c.stakers = 3'000; });
    fails("end.deadlines", "end_block_gas_max", [](Parameters& p, Costs&) { p.end_block_gas_max = 100'000; });
    fails("end.deadlines", "end_block_gas_max", [](Parameters& p, Costs&) { p.block_gas_max = 1'000'000; });
    fails("end.time", "end_block_gas_max", [](Parameters& p, Costs&) { p.end_block_gas_max = 300'000; });
}

TEST_CASE("GAS-7, FEE-2: block_gas_max fits into a block's time, and the least price pays for its gas") {
    fails("block.time", "block_gas_max", [](Parameters& p, Costs&) { p.block_gas_max = 600'000; });
    fails("block.time", "block_gas_max", [](Parameters&, Costs& c) { c.block_seconds = 0.5; });
    fails("gas.pays", "gas_price_min", [](Parameters& p, Costs&) { p.gas_price_min = 30; });
    fails("gas.pays", "gas_price_min", [](Parameters&, Costs& c) { c.validators = 200; });
}

TEST_CASE("TRM-1: memory_default is what usual programs need, and what a machine of the least class has to spare") {
    fails("memory.programs", "memory_default", [](Parameters& p, Costs&) { p.memory_default = 2ULL << 30U; });
    fails("memory.machines", "memory_default", [](Parameters& p, Costs&) { p.memory_default = 16ULL << 30U; });
}

TEST_CASE(
    "DTY-4, DTY-5, DTY-8: the lane of duties has room for the usual tasks, leaves room for others, and is dear to fill"
) {
    fails("lane.tasks", "duty_gas_max", [](Parameters& p, Costs&) { p.duty_gas_max = 200'000; });
    fails("lane.tasks", "duty_gas_max", [](Parameters&, Costs& c) { c.tasks_at_once = 109; });
    fails("lane.others", "duty_gas_max", [](Parameters& p, Costs&) { p.duty_gas_max = 250'001; });
    fails("lane.wait", "duty_wait_blocks", [](Parameters& p, Costs&) { p.duty_wait_blocks = 17; });
    fails("lane.wait", "duty_wait_blocks", [](Parameters& p, Costs&) { p.contribute_blocks = 18; });
    fails("lane.squat", "standstill_blocks", [](Parameters& p, Costs&) { p.standstill_blocks = 700; });
    fails("lane.squat", "standstill_blocks", [](Parameters& p, Costs&) {
        p.challenger_bond /= 2;
        p.challenger_bond_bps = 0;
    });
}

TEST_CASE("WRK-5: each span in which somebody honest has to act leaves the time for it") {
    fails("window.accept", "accept_blocks", [](Parameters& p, Costs&) { p.accept_blocks = 18; });
    fails("window.contribute", "contribute_blocks", [](Parameters& p, Costs&) { p.contribute_blocks = 18; });
    fails("window.publish", "publish_blocks", [](Parameters& p, Costs&) { p.publish_blocks = 18; });
    fails("window.disclose", "disclose_blocks", [](Parameters& p, Costs&) { p.disclose_blocks = 18; });
    fails("clock.game", "dispute_clock_blocks", [](Parameters& p, Costs&) { p.dispute_clock_blocks = 150; });
    // Of long segments the replays of the span are enough; of short ones there has to be time for blocks.
    fails(
        "window.commit", "commit_blocks", [](Parameters& p, Costs&) { p.commit_blocks = 5; }, kSmall
    );
    fails(
        "window.challenge", "challenge_blocks", [](Parameters& p, Costs&) { p.challenge_blocks = 30; }, kSmall
    );
}

TEST_CASE("VER-11, VER-12: forced verdicts are few, and watchers enough for an honest one to pay") {
    fails("forced.delay", "forced_error_bps", [](Parameters& p, Costs&) { p.forced_error_bps = 1'100; });
    fails("verifier.watched", "watchers_per_verdict", [](Parameters& p, Costs&) { p.watchers_per_verdict = 0; });
    fails("verifier.watched", "watchers_per_verdict", [](Parameters&, Costs& c) {
        c.adversary.coalition_watchers = c.adversary.watchers - c.adversary.idle_watchers;
    });
}

TEST_CASE("TASK-14: task_value_max is what the contributors' bonds protect") {
    fails("beacon.values", "task_value_max", [](Parameters& p, Costs&) { p.task_value_max *= 2; });
    fails("beacon.values", "task_value_max", [](Parameters& p, Costs&) { p.contributor_bond /= 2; });
    const Constraint found = one("beacon.values", chain_defaults(), default_costs(), kUsual);
    Parameters p = chain_defaults();
    p.task_value_max = static_cast<Grains>(found.have * 1e9) - 1;  // needs grow with the value
    CHECK(one("beacon.draws", p, default_costs(), kUsual).slack() == doctest::Approx(1.0).epsilon(1e-3));
}

TEST_CASE("PAR-1: what a dearer task asks of the parameters of waiting is what a chain takes") {
    for (const Refusal& refusal : refusals(chain_defaults(), default_costs())) {
        INFO(refusal.task);
        const Parameters& p = refusal.admitting;
        CHECK(p.draw_blocks >= chain_defaults().draw_blocks);
        CHECK(p.draw_blocks <= contracts::kMaxSpanBlocks);
        CHECK(p.redraw_blocks >= chain_defaults().redraw_blocks);
        CHECK(p.decline_blocks < p.draw_blocks);
    }
}

}  // namespace
}  // namespace assay::economics
