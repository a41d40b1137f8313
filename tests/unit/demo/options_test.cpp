// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>
#include <tools/demo/options.hpp>
#include <tools/demo/patience.hpp>

namespace assay::demo {
namespace {

/// Why these options are refused; empty if they are not.
std::string refusal_of(DemoOptions options) {
    options.text = "/proc/self/exe";  // any file
    try {
        check_options(options);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

DemoOptions cell_of(std::uint32_t workers, const std::string& parallel) {
    DemoOptions options;
    options.workers = workers;
    options.parallel = parallel;
    return options;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// examples/mlp with a section at its end.
void write_task(const std::filesystem::path& directory, const std::string& section) {
    const std::string settings = cli_test::read_text(folders::source() + "/examples/mlp/task.toml");
    cli_test::write_text(directory / "task.toml", settings + "\n" + section);
}

}  // namespace

TEST_CASE("machines of a demo take turns only where a task has local replicas") {
    CHECK(refusal_of(cell_of(4, "diloco")).empty());
    CHECK(has(refusal_of(cell_of(4, "turns")), "give --parallel diloco, sparseloco or streaming"));
    const cli_test::TemporaryDirectory directory;
    write_task(directory.path(), "");
    for (const char* parallel : {"turns", "sparseloco"}) {
        CAPTURE(parallel);
        DemoOptions options = cell_of(2, parallel);
        options.task = directory.path();
        CHECK(has(refusal_of(options), "task.toml has none: give --parallel dp, zero1"));
        write_task(directory.path(), "[replicas]\ncount = 2\nexchange = \"diloco\"\n");
        CHECK(refusal_of(options).empty());
        CHECK(as_played(options).parallel == "diloco");
        write_task(directory.path(), "[replicas]\ncount = 2\nexchange = \"streaming\"\n");
        CHECK(as_played(options).parallel == "streaming");
        write_task(directory.path(), "");
    }
    CHECK(as_played(cell_of(2, "pp")).parallel == "pp");
}

TEST_CASE("a report that cannot be written is refused before anything is played") {
    const cli_test::TemporaryDirectory directory;
    DemoOptions options;
    options.report = directory.path() / "report.json";
    CHECK(refusal_of(options).empty());
    CHECK_FALSE(std::filesystem::exists(*options.report));
    options.report = "report.json";
    CHECK(refusal_of(options).empty());
    options.report = directory.path() / "nodir" / "report.json";
    CHECK(has(refusal_of(options), "there is no folder " + (directory.path() / "nodir").string()));
    options.report = directory.path();
    CHECK(has(refusal_of(options), "it is a folder"));
}

TEST_CASE("what is no fraud is refused with the frauds that there are") {
    for (const char* fraud : {"tile", "none", "shard@0", "lane@12"}) {
        CHECK(complaint_about_fraud(fraud).empty());
    }
    for (const char* text : {"shard", "shard@x", "shard@", "shard@100"}) {
        CAPTURE(text);
        CHECK(has(complaint_about_fraud(text), "give shard@RANK, as in shard@1, with --workers 2 or more"));
    }
    CHECK(has(complaint_about_fraud("foo@1"), "no fraud of a group; those are lane, "));
    CHECK(has(complaint_about_fraud("tile@1"), "give tile alone"));
    const std::string all = complaint_about_fraud("foo");
    for (const auto* names : {&fraud_names(), &group_fraud_names()}) {
        for (const std::string& name : *names) {
            CHECK(has(all, name));
        }
    }
}

TEST_CASE("what takes a group is refused without one, by the option that was given") {
    DemoOptions options;
    options.accounts = true;
    CHECK(has(refusal_of(options), "--accounts has several accounts train: give --workers 2"));
    options.slow = 1;
    CHECK(has(refusal_of(options), "--slow is of accounts that train as a group: give --workers 2"));
    options.joining = 1;
    CHECK(has(refusal_of(options), "--join and --leave are of accounts that train as a group: give --workers 2"));
    options.culprit = 1;
    options.culprit_kind = GroupFraud::kShard;
    CHECK(has(refusal_of(options), "--fraud KIND@RANK is what one account of a group does: give --workers 2"));
}

TEST_CASE("a solver that declines where many workers share a machine is advised to have fewer") {
    CHECK(advice_on_decline(cell_of(1, "zero1"), 2).empty());
    CHECK(has(advice_on_decline(cell_of(40, "dp"), 2), "40 workers on 2 cores"));
    CHECK(has(advice_on_decline(cell_of(40, "dp"), 1), "on 1 core may"));
    CHECK(has(advice_on_decline(cell_of(40, "dp"), 2), "give fewer --workers"));
}

}  // namespace assay::demo
