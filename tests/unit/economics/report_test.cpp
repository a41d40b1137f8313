// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/economics/economics_command.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <verifier/taskdir/findings.hpp>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

EconomicsFile read(const std::string& text) {
    const cli_test::TemporaryDirectory home;
    cli_test::write_text(home.path() / "costs.toml", text);
    return read_economics_file(home.path() / "costs.toml");
}

std::string complaint(const std::string& text) {
    try {
        static_cast<void>(read(text));
    } catch (const taskdir::TaskDirectoryError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("economics: a costs file replaces defaults key by key, tasks all at once") {
    const EconomicsFile file = read(R"(
safety = 2.5
[prices]
compute_hour = "3 ASY"
replay_ratio = 1.15
[adversary]
verifiers = 20
coalition_verifiers = 2
[parameters]
tax_bps = 123
solver_bond = "7 ASY"
[[task]]
name = "mine"
segments = 60
segment_seconds = 12.5
reward = "9 ASY"
)");
    CHECK(file.costs.safety == 2.5);
    CHECK(file.costs.compute_price == 3e9);
    CHECK(file.costs.replay_ratio == 1.15);
    CHECK(file.costs.margin == economics::default_costs().margin);
    CHECK(file.costs.adversary.verifiers == 20);
    CHECK(file.parameters.tax_bps == 123);
    CHECK(file.parameters.solver_bond == 7 * economics::kGrainsPerAsy);
    CHECK(file.parameters.verifier_bond == economics::chain_defaults().verifier_bond);
    REQUIRE(file.costs.tasks.size() == 1);
    CHECK(file.costs.tasks[0].segments == 60);
    CHECK(file.costs.tasks[0].reward == 9 * economics::kGrainsPerAsy);
    CHECK(file.costs.tasks[0].fee == 0);
    CHECK(read("").costs.tasks.size() == economics::default_costs().tasks.size());
}

TEST_CASE("economics: what is wrong with a costs file is said by key") {
    CHECK(complaint("safty = 2.0").find("nearest: safety") != std::string::npos);
    CHECK(complaint("safety = 0.5").find("safety: must be a number from 1") != std::string::npos);
    CHECK(complaint("[prices]\ncompute_hour = 3").find("[prices] compute_hour") != std::string::npos);
    CHECK(complaint("[prices]\ncompute_hour = \"0 ASY\"").find("above 0") != std::string::npos);
    CHECK(complaint("[adversary]\nverifiers = 5").find("[adversary] verifiers") != std::string::npos);
    CHECK(complaint("mode = \"tolerance\"").find("[rates] interpolation: is missing") != std::string::npos);
    CHECK(complaint("[rates]\ndrift = 0.5").find("tolerance") != std::string::npos);
    CHECK(complaint("[parameters]\nsegments_checked_max = 300").find("256") != std::string::npos);
    CHECK(complaint("task = 3").find("[[task]]") != std::string::npos);
    CHECK(complaint("[[task]]\nname = \"a\"\n[[task]]\nname = \"a\"").find("two tasks") != std::string::npos);
    CHECK(complaint("[[task]]\nname = \"a\"\nsegments = 0").find("segments") != std::string::npos);
    CHECK(complaint("x = = 1").find(":1:") != std::string::npos);
}

struct Answer {
    int status = -1;
    std::string out;
    std::string err;
};

/// Standard output comes through a pipe: whatever happens to the disk meanwhile, what was said is seen.
Answer assay(const std::string& arguments) {
    const cli_test::TemporaryDirectory home;
    const std::string err = (home.path() / "err").string();
    const std::string command = folders::build() + "/bin/assay economics " + arguments + " 2>" + err;
    std::FILE* pipe = ::popen(command.c_str(), "r");  // NOLINT: tests only
    REQUIRE(pipe != nullptr);
    Answer answer;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        answer.out.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    answer.err = cli_test::read_text(err);
    return answer;
}

TEST_CASE("economics: the command answers in JSON with parameters, binding, attacks and populations") {
    const cli_test::TemporaryDirectory home;
    const std::string svg = (home.path() / "wealth.svg").string();
    const Answer answer = assay("-o json --runs 100 --tasks 200 --svg " + svg);
    CHECK(answer.status == 0);
    CHECK(answer.err.empty());
    const json report = json::parse(answer.out);
    CHECK(report.at("parameters").at("solver_bond").is_string());
    CHECK(report.at("parameters").at("segments_checked").is_number_unsigned());
    CHECK(report.at("binding").size() >= 8);
    CHECK(report.at("attacks").size() >= 17);
    for (const json& attack : report.at("attacks")) {
        CHECK(attack.at("name").is_string());
        CHECK(attack.at("expected_gain").is_number());
        CHECK(attack.at("formula_gain").is_number());
        CHECK((attack.at("detection").is_null() || attack.at("detection").is_number()));
        CHECK(attack.at("runs") == 100);
    }
    CHECK(report.at("populations").size() == 4);
    CHECK(cli_test::read_text(svg).starts_with("<svg"));
}

TEST_CASE("economics: without parameters that do, the command fails and names the constraint and what would help") {
    const cli_test::TemporaryDirectory home;
    const std::string file = (home.path() / "costs.toml").string();
    cli_test::write_text(file, "[adversary]\nwatchers = 10\ncoalition_watchers = 10\nidle_watchers = 0\n");
    const Answer answer = assay("-o json --runs 0 --tasks 0 --costs " + file);
    CHECK(answer.status == 1);
    CHECK_MESSAGE(answer.err.empty(), answer.err);
    const json error = json::parse(answer.out).at("error");
    CHECK(error.at("name") == "no_parameters");
    bool lazy = false;
    for (const json& failing : error.at("data").at("failing")) {
        lazy = lazy || failing.at("name") == "verifier.lazy";
        CHECK_FALSE(failing.at("help").get<std::string>().empty());
    }
    CHECK(lazy);
}

TEST_CASE("economics: given parameters are judged, and those that fail make the command fail") {
    const cli_test::TemporaryDirectory home;
    const std::string file = (home.path() / "costs.toml").string();
    const std::string task = "[[task]]\nname = \"usual\"\nsegments = 100\nsegment_seconds = 360\n";
    cli_test::write_text(file, task);
    CHECK(assay("--check --runs 0 --tasks 0 --costs " + file).status == 0);
    cli_test::write_text(file, task + "[parameters]\ntax_bps = 0\n");
    const Answer answer = assay("--check --runs 0 --tasks 0 --costs " + file);
    CHECK(answer.status == 1);
    CHECK(answer.out.find("treasury.sustains") != std::string::npos);
    CHECK(answer.out.find("a higher tax") != std::string::npos);
    CHECK(assay("--task nowhere").status == 2);
}

TEST_CASE("economics: tasks that the chain refuses are named with what would admit them, and fail nothing") {
    const Answer text = assay("--check --runs 0 --tasks 0");
    CHECK(text.status == 0);
    CHECK(text.out.find("What does not hold") == std::string::npos);
    CHECK(text.out.find("worth more than task_value_max") != std::string::npos);
    const Answer answer = assay("--check --runs 0 --tasks 0 -o json");
    CHECK(answer.status == 0);
    const json report = json::parse(answer.out);
    CHECK(report.at("chain_defaults").at("refused") == report.at("refused"));
    REQUIRE(report.at("refused").size() == 3);
    const json& dear = report.at("refused").at(2);
    CHECK(dear.at("task") == "dear");
    CHECK(
        std::stoull(dear.at("admitted_by").at("task_value_max").get<std::string>()) >=
        std::stoull(dear.at("value").get<std::string>())
    );
    for (const json& constraint : report.at("constraints")) {
        CHECK_FALSE((constraint.at("task") == "dear" && constraint.at("parameter") == "contributor_bond"));
    }
    const Answer refused = assay("--check --task dear");
    CHECK(refused.status == 2);
    CHECK(refused.err.find("there are: small, usual") != std::string::npos);
}

TEST_CASE("economics: parameters that admit no task at all are not good for anything") {
    const cli_test::TemporaryDirectory home;
    const std::string file = (home.path() / "costs.toml").string();
    cli_test::write_text(file, "[parameters]\ntask_value_max = \"1000 grains\"\n");
    const Answer answer = assay("--check --runs 0 --tasks 0 -o json --costs " + file);
    CHECK(answer.status == 1);
    CHECK(json::parse(answer.out).at("error").at("name") == "nothing_admitted");
}

}  // namespace
}  // namespace assay::cli
