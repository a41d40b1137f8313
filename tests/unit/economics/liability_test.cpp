// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <tools/economics/liability.hpp>
#include <tools/economics/solve.hpp>

namespace assay::economics {
namespace {

/// The first cells of the table under "Ways to lose", without backticks.
std::set<std::string> rows_of_page() {
    std::ifstream in(std::string(ASSAY_SOURCE_DIR) + "/docs/protocol/liability.md");
    REQUIRE(in);
    std::set<std::string> out;
    bool is_inside = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) {
            is_inside = line == "## Ways to lose";
        }
        if (is_inside && line.starts_with("| `")) {
            std::string cell = line.substr(2, line.find(" |", 2) - 2);
            std::erase(cell, '`');
            out.insert(cell);
        }
    }
    return out;
}

/// Where the page says that one account alone may lose more than the attacker.
bool is_open(const std::string& row) { return row == "unavailable" || row == "unserved" || row == "missed_verdict"; }

TEST_CASE("Liability: every row of the page has a cost and a harm, and all honest accounts lose at most as much together") {
    Costs costs = default_costs();
    std::vector<TaskCosts> tasks = costs.tasks;
    tasks.push_back({.name = "dearest", .segments = 100, .segment_seconds = 758.0});
    REQUIRE(is_admitted(chain_defaults(), costs, tasks.back()));
    REQUIRE(make_setting(chain_defaults(), costs, tasks.back()).value() > chain_defaults().task_value_max * 99 / 100);
    for (const TaskCosts& task : tasks) {
        if (!is_admitted(chain_defaults(), costs, task)) {
            continue;
        }
        const Setting setting = make_setting(chain_defaults(), costs, task);
        costs.bid_max = std::max(costs.bid_max, setting.solver_bond / 5'000);  // who has more at stake bids more
        std::set<std::string> rows;
        for (const Liability& row : liability_of(setting, costs)) {
            INFO(task.name, ": ", row.row);
            rows.insert(row.row);
            CHECK(row.cost >= 0.0);
            CHECK(row.harm >= 0.0);
            CHECK_FALSE(row.meaning.empty());
            CHECK(row.ratio() <= 1.0);
            CHECK((row.ratio_alone() > 1.0) == is_open(row.row));
        }
        CHECK(rows == rows_of_page());
    }
}

TEST_CASE("FEE-2, POOL-2: filling blocks against bids that double costs more than the bonds that it could take") {
    Costs costs = default_costs();
    // 75 grains a unit and half a million units, doubled: 1, 3, 7 ... times as much.
    CHECK(cost_of_filling(costs, 140, 0) == 0.0);
    CHECK(cost_of_filling(costs, 140, 1) == doctest::Approx(0.0375));
    CHECK(cost_of_filling(costs, 140, 3) == doctest::Approx(7 * 0.0375));
    // From the fifteenth block on the bid is a tenth of an ASY for 140 units.
    CHECK(cost_of_filling(costs, 140, 15) - cost_of_filling(costs, 140, 14) == doctest::Approx(357.1).epsilon(0.001));
    CHECK(cost_of_filling(costs, 140, 20) > 640.0);
    costs.bid_max = 10'500;  // who never bids more is kept out for little
    CHECK(cost_of_filling(costs, 140, 20) == doctest::Approx(20 * 0.0375));
}

TEST_CASE("Liability: fees that somebody chooses are apart") {
    const Costs costs = default_costs();
    const Setting setting = make_setting(chain_defaults(), costs, costs.tasks.front());
    for (const Voluntary& voluntary : voluntary_of(setting)) {
        CHECK(voluntary.fee >= to_asy(setting.transaction_fee));
    }
}

}  // namespace
}  // namespace assay::economics
