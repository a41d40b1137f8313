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

TEST_CASE(
    "Liability: every row of the page has a cost and a harm, and all honest accounts lose at most as much together"
) {
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

TEST_CASE("Liability: fees that somebody chooses are apart") {
    const Costs costs = default_costs();
    const Setting setting = make_setting(chain_defaults(), costs, costs.tasks.front());
    for (const Voluntary& voluntary : voluntary_of(setting)) {
        CHECK(voluntary.fee >= to_asy(setting.transaction_fee));
    }
}

}  // namespace
}  // namespace assay::economics
