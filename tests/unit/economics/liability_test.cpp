// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <tests/unit/folders.hpp>
#include <tools/economics/liability.hpp>
#include <tools/economics/solve.hpp>

namespace assay::economics {
namespace {

/// The first cells of the table under "Ways to lose", without backticks.
std::set<std::string> rows_of_page() {
    std::ifstream in(folders::source() + "/docs/protocol/liability.md");
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

/// A task of so many segments that is worth `value` ASY, or one per cent less.
TaskCosts worth(double value, std::uint32_t segments) {
    TaskCosts task{.name = std::to_string(segments) + " segments", .segments = segments, .segment_seconds = 1.0};
    const auto value_of = [&] { return to_asy(make_setting(chain_defaults(), default_costs(), task).value()); };
    for (int round = 0; round < 8; ++round) {
        task.segment_seconds *= 0.995 * value / value_of();
    }
    REQUIRE(value_of() <= value);
    REQUIRE(value_of() > 0.99 * value);
    return task;
}

TEST_CASE(
    "Liability: every row of the page has a cost and a harm, and all honest accounts lose at most as much together"
) {
    Costs costs = default_costs();
    std::vector<TaskCosts> tasks = costs.tasks;
    std::erase_if(tasks, [&](const TaskCosts& task) { return !is_admitted(chain_defaults(), costs, task); });
    REQUIRE(std::any_of(tasks.begin(), tasks.end(), [](const TaskCosts& task) { return task.name == "week"; }));
    // Of the dearest that are admitted, those whose checkpoints cost most to fetch have the fewest segments.
    const std::uint32_t fewest = least_segments(chain_defaults(), costs, costs.tasks[1]);
    for (const std::uint32_t segments : {fewest, 100U, 168U, 1'000U}) {
        for (const double part : {0.05, 0.1, 0.25, 0.5, 0.75, 1.0}) {
            tasks.push_back(worth(part * to_asy(chain_defaults().task_value_max), segments));
        }
    }
    for (const TaskCosts& task : tasks) {
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
