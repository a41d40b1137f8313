// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/group/findings.hpp>

using namespace assay;
using group::Finding;
using group::Findings;

namespace {

AccountId account(std::uint8_t number) {
    AccountId out;
    out.data[0] = number;
    return out;
}

Finding finding_of(std::uint8_t member, std::uint64_t step) {
    Finding out{.member = account(member), .evidence = {}};
    out.evidence.author = member;
    out.evidence.one.statement.step = step;
    return out;
}

std::vector<std::uint64_t> steps_of(const std::vector<Finding>& findings) {
    std::vector<std::uint64_t> out;
    for (const Finding& each : findings) {
        out.push_back(each.evidence.one.statement.step);
    }
    return out;
}

using Steps = std::vector<std::uint64_t>;

/// What steps are asked for, of which those in `settled` are.
Steps asked(Findings& findings, const std::set<std::uint64_t>& settled) {
    Steps out;
    findings.settle([&](const Finding& each) {
        out.push_back(each.evidence.one.statement.step);
        return settled.contains(out.back());
    });
    return out;
}

}  // namespace

TEST_CASE("STM-11: evidence stays until it is settled, in the order in which it was found") {
    const test::TemporaryDirectory directory;
    for (const bool has_files : {false, true}) {
        CAPTURE(has_files);
        Findings in_memory;
        Findings in_files(directory.path());
        Findings& findings = has_files ? in_files : in_memory;
        findings.add({finding_of(1, 9), finding_of(2, 8)});
        findings.add({finding_of(1, 7)});
        CHECK(asked(findings, {}) == Steps{9, 8, 7});
        CHECK(asked(findings, {8}) == Steps{9, 8, 7});
        CHECK(asked(findings, {}) == Steps{9, 7});
        CHECK_THROWS_AS(
            findings.settle([](const Finding& each) {
                if (each.evidence.one.statement.step == 7) {
                    throw std::runtime_error("the node cannot be reached");
                }
                return true;
            }),
            std::runtime_error
        );
        CHECK(steps_of(findings.unsettled()) == Steps{7});
        CHECK(asked(findings, {7}) == Steps{7});
        CHECK(findings.unsettled().empty());
        CHECK(findings.members() == std::set{account(1), account(2)});
    }
    CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("STM-11: what was found while another finding is reported is kept") {
    Findings findings;
    findings.add({finding_of(1, 1)});
    findings.settle([&](const Finding&) {
        findings.add({finding_of(2, 2)});
        return true;
    });
    CHECK(steps_of(findings.unsettled()) == Steps{2});
}

TEST_CASE("STM-11: evidence that is not settled survives its process") {
    const test::TemporaryDirectory home;
    const auto directory = home.path() / "of" / "task";
    {
        Findings findings(directory);
        for (std::uint8_t member = 1; member <= 12; ++member) {
            findings.add({finding_of(member, member)});
        }
        CHECK(asked(findings, {1, 2, 12}).size() == 12);
    }
    {
        Findings again(directory);
        CHECK(steps_of(again.unsettled()) == Steps{3, 4, 5, 6, 7, 8, 9, 10, 11});
        CHECK(again.members().size() == 9);
        CHECK(again.members().contains(account(3)));
        CHECK(codec::encode(again.unsettled().front()) == codec::encode(finding_of(3, 3)));
        again.add({finding_of(1, 13)});
        CHECK(asked(again, {3, 4, 5, 6, 7, 8, 9}).size() == 10);
    }
    Findings last(directory);
    CHECK(steps_of(last.unsettled()) == Steps{10, 11, 13});
}

TEST_CASE("STM-11: what a process did not finish writing, or a disk has damaged, is no finding") {
    const test::TemporaryDirectory directory;
    Findings(directory.path()).add({finding_of(1, 1), finding_of(2, 2)});
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(directory.path() / name, std::ios::binary) << text;
    };
    write("0.found", "damaged");
    write("2.found.new", "half of");
    write("x.found", "another's");
    write("7-0.told", "a ledger's");
    Findings findings(directory.path());
    CHECK(steps_of(findings.unsettled()) == Steps{2});
    findings.add({finding_of(3, 3)});
    CHECK(steps_of(Findings(directory.path()).unsettled()) == Steps{2, 3});
}

TEST_CASE("STM-11: evidence that cannot be written is reported nevertheless") {
    const test::TemporaryDirectory home;
    const auto directory = home.path() / "task";
    Findings findings(directory);
    std::filesystem::remove_all(directory);
    CHECK_THROWS_WITH_AS(
        findings.add({finding_of(1, 1), finding_of(2, 2)}),
        doctest::Contains("evidence of an equivocation cannot be written"), std::runtime_error
    );
    CHECK(steps_of(findings.unsettled()) == Steps{1, 2});
    CHECK(findings.members().size() == 2);
}
