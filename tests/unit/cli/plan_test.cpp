// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/cli/tiny_task.hpp>
#include <tests/unit/folders.hpp>
#include <tools/cli/plan/members_file.hpp>
#include <verifier/plan/layout.hpp>
#include <verifier/taskdir/findings.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

const std::string kTwo = R"(
[[members]]
name = "left"
multiply_adds_per_s = 1000.0
memory_bytes = 100000000
[[members]]
name = "right"
multiply_adds_per_s = 3000
memory_bytes = 200000000
)";
const std::string kDefault = R"(
[default]
delay_ms = 20.0
gbit_per_s = 0.5
)";
const std::string kLink = R"(
[[links]]
between = ["right", "left"]
delay_ms = 2.0
gbit_per_s = 8
)";

/// A directory with a task and a file of members.
struct Workplace {
    cli_test::TemporaryDirectory directory;

    Workplace() {
        write("task.toml", cli_test::kTinyTask);
        write("text.txt", std::string(400, 'a') + std::string(400, 'b'));
    }
    std::filesystem::path path(const std::string& name) const { return directory.path() / name; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    Members read(const std::string& text) const {
        write("members.toml", text);
        return read_members_file(path("members.toml"));
    }
    std::string error_of(const std::string& text) const {
        try {
            read(text);
        } catch (const taskdir::TaskDirectoryError& error) {
            return error.what();
        }
        return "";
    }
    /// Runs `assay plan`; returns its exit code, and what it prints in `out`.
    int plan(const std::string& options, std::string& out) const {
        const std::string printed = path("out").string();
        const std::string command = "ASSAY_HOME=" + directory.path().string() + " " + folders::build() +
                                    "/bin/assay plan " + directory.path().string() + " --members " +
                                    path("members.toml").string() + " " + options + " >" + printed + " 2>&1 </dev/null";
        const int status = std::system(command.c_str());  // NOLINT: tests only
        out = cli_test::read_text(printed);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a file of members has machines, and links in bytes and seconds") {
    const Workplace place;
    const Members members = place.read(kDefault + kTwo + kLink);
    REQUIRE(members.machines.size() == 2);
    CHECK(members.machines[1].name == "right");
    CHECK(members.machines[1].multiply_adds_per_s == 3000.0);
    CHECK(members.machines[0].memory_bytes == 1e8);
    CHECK(members.network.between(0, 1).delay_s == doctest::Approx(0.002));
    CHECK(members.network.between(1, 0).bytes_per_s == doctest::Approx(1e9));
    CHECK(place.read(kDefault + kTwo).network.between(0, 1).bytes_per_s == doctest::Approx(62.5e6));
    CHECK(place.read(kTwo + kLink).network.between(0, 1).delay_s == doctest::Approx(0.002));
    CHECK(std::isinf(members.network.shared_bytes_per_s()));
    const Members behind_switch = place.read("shared_gbit_per_s = 4\n" + kDefault + kTwo);
    CHECK(behind_switch.network.shared_bytes_per_s() == doctest::Approx(5e8));
}

TEST_CASE("members may say what messages cost their processors, and which of them are on one host") {
    const Workplace place;
    const std::string overhead =
        "transfer_ns_per_byte = 1.5\ntransfer_us_per_message = 20\nsum_ns_per_byte = 0.5\nhost = \"box\"\ncores = 2\n";
    const Members members = place.read(kDefault + kTwo + overhead);
    CHECK(members.machines[0].overhead == schedule::Overhead{});
    CHECK(members.machines[0].host.empty());
    CHECK(members.machines[1].overhead.byte_s == doctest::Approx(1.5e-9));
    CHECK(members.machines[1].overhead.message_s == doctest::Approx(20e-6));
    CHECK(members.machines[1].overhead.sum_byte_s == doctest::Approx(0.5e-9));
    CHECK(members.machines[1].host == "box");
    CHECK(members.machines[1].cores == 2.0);
    CHECK(has(place.error_of(kDefault + kTwo + "host = \"box\"\n"), "cores: and host belong together"));
    CHECK(has(place.error_of(kDefault + kTwo + "cores = 2\n"), "cores: and host belong together"));
    CHECK(has(place.error_of(kDefault + kTwo + "host = \"box\"\ncores = 0\n"), "cores: must be"));
    CHECK(has(place.error_of(kDefault + kTwo + "sum_ns_per_byte = -1\n"), "sum_ns_per_byte: must be"));
    const std::string third = "[[members]]\nname = \"third\"\nmultiply_adds_per_s = 1000\nmemory_bytes = 1000\n";
    CHECK(
        has(place.error_of(kDefault + kTwo + overhead + third + "host = \"box\"\ncores = 4\n"),
            "cores: differ from those of \"right\"")
    );
}

TEST_CASE("a wrong file of members is refused with the key that is wrong") {
    const Workplace place;
    CHECK(has(place.error_of(kDefault), "members: there are none"));
    CHECK(has(place.error_of(kTwo), "no [[links]] is between \"left\" and \"right\""));
    CHECK(has(place.error_of(kTwo + kTwo + kDefault), "two members have the name \"left\""));
    const std::string stranger = "[[links]]\nbetween = [\"left\", \"lefft\"]\ndelay_ms = 1\ngbit_per_s = 1\n";
    CHECK(has(place.error_of(kDefault + kTwo + stranger), "between: there is no member \"lefft\""));
    const std::string itself = "[[links]]\nbetween = [\"left\", \"left\"]\ndelay_ms = 1\ngbit_per_s = 1\n";
    CHECK(has(place.error_of(kDefault + kTwo + itself), "between: must be the names of two members"));
    CHECK(has(place.error_of(kDefault + kTwo + kLink + kLink), "have two links"));
    CHECK(has(place.error_of(kTwo + "[default]\ndelay_ms = -1.0\ngbit_per_s = 1\n"), "delay_ms: must be a number"));
    CHECK(has(place.error_of(kTwo + "[default]\ndelay_ms = 1.0\ngbit_per_s = 0\n"), "gbit_per_s: must be a number"));
    CHECK(has(place.error_of(kTwo + "[default]\ndelay_ms = 1.0\n"), "gbit_per_s: is missing"));
    CHECK(
        has(place.error_of(kDefault + "[[members]]\nname = \"a\"\nmultiply_adds_per_s = -5\nmemory_bytes = 1\n"),
            "multiply_adds_per_s: must be")
    );
    CHECK(
        has(place.error_of(kDefault + "[[members]]\nname = \"a\"\nmultiply_adds_per_s = 5\nmemory_bytes = -1\n"),
            "memory_bytes: must be")
    );
    CHECK(has(place.error_of(kDefault + kTwo + "speed = 4\n"), "speed"));
    CHECK(has(place.error_of("shared_gbit_per_s = 0\n" + kDefault + kTwo), "shared_gbit_per_s: must be a number"));
    CHECK(has(place.error_of("members ="), "members.toml:1:"));
}

TEST_CASE("assay plan prints each kind's best plan with a name that starts a cell") {
    const Workplace place;
    place.write("members.toml", cli_test::replaced(kTwo, "= 3000", "= 1000") + kLink);
    std::string out;
    const std::string svg = place.path("plan.svg").string();
    REQUIRE_MESSAGE(place.plan("-o json --svg " + svg, out) == 0, out);
    const json answer = json::parse(out);
    CHECK(answer.at("bytes") == "planner");
    std::size_t best = 0;
    bool has_turns = false;
    for (const json& plan : answer.at("plans")) {
        const auto ranks = static_cast<std::uint32_t>(plan.at("machines").size());
        CHECK(plan.at("step_s").get<double>() > 0.0);
        best += plan.at("is_best").get<bool>() ? 1U : 0U;
        if (plan.at("plan").is_string()) {
            const auto layout = plan::decode_layout(plan.at("plan").get<std::string>(), ranks);
            CHECK((layout && layout->ranks() == ranks));
        }
        has_turns = has_turns || plan.at("kind") == "turns";
        CHECK(plan.at("can_start") == (plan.at("kind") != "turns"));
    }
    CHECK(best == 1);
    CHECK(has_turns);
    const std::string drawing = cli_test::read_text(svg);
    CHECK(drawing.starts_with("<svg"));
    CHECK(has(drawing, ">left</text>"));
    CHECK(has(drawing, "black: what the step waits for"));
    // Slow machines with a fast link share the work.
    REQUIRE(place.plan("", out) == 0);
    CHECK(has(out, "assay-worker solve --cell hosts.toml --plan "));
    CHECK(has(out, "on left, the lead. hosts.toml lists the others in this order: right"));
    CHECK(has(out, "another task"));
}

TEST_CASE("assay plan says what would be needed if nothing fits") {
    const Workplace place;
    place.write(
        "members.toml", kDefault + "[[members]]\nname = \"small\"\nmultiply_adds_per_s = 1e9\nmemory_bytes = 1000\n"
    );
    std::string out;
    CHECK(place.plan("-o json", out) == 1);
    const json error = json::parse(out).at("error");
    CHECK(error.at("name") == "does_not_fit");
    CHECK(error.at("data").at("needed_bytes") > 1000);
    CHECK(error.at("data").at("machines") == 1);
    place.write("members.toml", "");
    CHECK(place.plan("", out) == 3);
    CHECK(has(out, "members: there are none"));
    // All that is wrong is said at once.
    place.write("members.toml", kDefault + "[[members]]\nname = \"a\"\nmultiply_adds_per_s = 0\nmemory_bytes = 0\n");
    CHECK(place.plan("", out) == 3);
    CHECK(has(out, "multiply_adds_per_s: must be a number above 0"));
    CHECK(has(out, "memory_bytes: "));
    CHECK_FALSE(has(out, "task lint"));
}

TEST_CASE("a drawing shortens long names and keeps them whole beside") {
    const Workplace place;
    const std::string name = "a-workstation-of-which-the-name-is-long.example.org";
    const std::string member = "multiply_adds_per_s = 2e6\nmemory_bytes = 17179869184\n";
    place.write(
        "members.toml",
        kDefault + "[[members]]\nname = \"" + name + "\"\n" + member + "[[members]]\nname = \"\u00e4<&\"\n" + member
    );
    std::string out;
    const std::string svg = place.path("plan.svg").string();
    REQUIRE_MESSAGE(place.plan("--plan pp --svg " + svg, out) == 0, out);
    const std::string drawing = cli_test::read_text(svg);
    CHECK(has(drawing, "<title>" + name + "</title>"));
    CHECK(has(drawing, ">a-workstatio\u2026example.org</text>"));
    CHECK(has(drawing, ">\u00e4&lt;&amp;</text>"));
    CHECK(has(drawing, ">stage 2</text>"));
    CHECK(place.plan("--plan nothing", out) == 2);
    CHECK(has(out, "dp, zero1, zero2, zero3, tp and pp can"));
    CHECK(place.plan("--plan zero1:auto", out) == 2);
    CHECK(has(out, "give the shares, as in zero1:5,3, or leave --plan out"));
}

}  // namespace assay::cli
