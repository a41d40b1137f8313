// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <contracts/state/slots.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <tests/unit/folders.hpp>

/// docs/protocol/liability.md says of everything that can cost somebody something who can cause it and how it is
/// answered. What the code has and the page has not is found here.

using namespace assay;
using namespace assay::contracts;

namespace {

/// The words in backticks of the first cells of the table under a heading.
std::set<std::string> rows_under(const std::string& heading) {
    std::ifstream in(folders::source() + "/docs/protocol/liability.md");
    REQUIRE(in);
    std::set<std::string> words;
    bool is_inside = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) {
            is_inside = line == "## " + heading;
        }
        if (!is_inside || !line.starts_with("| `")) {
            continue;
        }
        const std::string cell = line.substr(0, line.find('|', 2));
        for (std::size_t from = cell.find('`'); from != std::string::npos;) {
            const std::size_t to = cell.find('`', from + 1);
            REQUIRE(to != std::string::npos);
            words.insert(cell.substr(from + 1, to - from - 1));
            from = cell.find('`', to + 1);
        }
    }
    return words;
}

/// Reasons of payments, and of ends at which nothing is lost.
bool is_no_loss(Reason reason) {
    static const std::set<std::string> kNames{
        "reward",  "verification_fee", "refund",        "won_dispute", "moot",     "tax",
        "jackpot", "forced_error",     "profiling_fee", "attestation", "retention"};
    return kNames.contains(to_string(reason));
}

template <std::size_t... i>
std::set<std::string> action_names(std::index_sequence<i...> /*all*/) {
    return {action_name(Action(std::in_place_index<i>))...};
}

}  // namespace

TEST_CASE("Liability: every reason to lose stake has a row") {
    const std::set<std::string> rows = rows_under("Ways to lose");
    std::size_t reasons = 0;
    for (unsigned number = 0; number < 256; ++number) {
        const auto reason = static_cast<Reason>(number);
        if (is_valid(reason) && !is_no_loss(reason)) {
            INFO(to_string(reason));
            CHECK(rows.contains(to_string(reason)));
            ++reasons;
        }
    }
    CHECK(reasons >= 14);
}

TEST_CASE("Liability: every message has a row that says what it imposes on others, and no row is of none") {
    const std::set<std::string> rows = rows_under("Messages");
    const auto names = action_names(std::make_index_sequence<std::variant_size_v<Action>>{});
    for (const std::string& name : names) {
        INFO(name);
        CHECK(rows.contains(name));
    }
    for (const std::string& row : rows) {
        INFO(row);
        CHECK(names.contains(row));
    }
}

TEST_CASE("Liability: every end of a task has a row") {
    const std::set<std::string> rows = rows_under("Ends of a task");
    for (unsigned number = 0; number < 256; ++number) {
        const auto state = static_cast<TaskState>(number);
        if (is_valid(state) && is_terminal(state)) {
            INFO(to_string(state));
            CHECK(rows.contains(to_string(state)));
        }
    }
}
