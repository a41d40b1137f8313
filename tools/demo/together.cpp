// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/together.hpp>

#include <algorithm>

#include <tools/demo/crew.hpp>
#include <tools/demo/group.hpp>
#include <tools/demo/workload.hpp>

namespace assay::demo {

using nlohmann::json;

TogetherCast::TogetherCast(const DemoOptions& options)
    : members_(options.workers),
      segments_(workload_of(options).segments),
      parallel_(options.parallel),
      is_disturbed_(options.culprit && options.culprit_kind == GroupFraud::kWithhold) {}

std::vector<std::string> TogetherCast::arguments_of(std::uint32_t rank) const {
    std::vector<std::string> out{"--link-address", "127.0.0.1"};
    if (rank == 0) {
        out.insert(out.end(), {"--together", parallel_});
    }
    return out;
}

void TogetherCast::hear(const WorkerEvent& heard) {
    const std::string kind = heard.event.value("event", "");
    if (kind == "accuse" && heard.event.contains("member")) {
        accused_.push_back({heard.worker, heard.event});
        return;
    }
    Served& served = served_[heard.worker];
    const auto number = [&](const char* name) { return heard.event.value(name, std::uint64_t{0}); };
    if (kind == "together_over" && number("steps") > served.steps) {
        served = {number("steps"), number("sent_bytes"), number("signature_bytes"), number("state_bytes")};
    }
}

json TogetherCast::report(const Network& network, const program::Program& program) const {
    std::uint64_t sent = 0;
    std::uint64_t signatures = 0;
    std::uint64_t state = 0;
    std::uint64_t steps = 0;
    for (const auto& [name, served] : served_) {
        sent += served.steps == 0 ? 0 : served.sent_bytes / served.steps;
        signatures += served.steps == 0 ? 0 : served.signature_bytes / served.steps;
        state = std::max(state, served.state_bytes);
        steps = std::max(steps, served.steps);
    }
    const PlanFormulas formulas = formulas_of(program, parallel_, members_);
    json out;
    out["steps_together"] = steps;
    out["bytes"] = {{"sent", sent / members_}, {"formula", formulas.bytes}, {"signatures", signatures / members_}};
    out["memory"] = {{"worker", state}, {"formula", formulas.state}};
    out["accusations"] = json::array();
    for (const Accused& each : accused_) {
        std::uint32_t accused = 0;
        std::uint32_t accuser = 0;
        for (std::uint32_t rank = 0; rank < members_; ++rank) {
            const std::string name = GroupCast::name_of(rank);
            accuser = each.accuser == name ? rank : accuser;
            accused = to_hex(network.key(name).account().view()) == each.event.at("member") ? rank : accused;
        }
        json entry{{"accuser", accuser}, {"accused", accused}};
        for (const char* name : {"segment", "step", "source", "index", "part", "row", "col"}) {
            entry[name] = each.event.at(name);
        }
        out["accusations"].push_back(std::move(entry));
    }
    return out;
}

std::vector<std::string> TogetherCast::judge(const json& report, bool is_wrong) const {
    std::vector<std::string> out;
    const auto expect = [&](bool holds, const std::string& complaint) {
        if (!holds) {
            out.push_back(complaint);
        }
    };
    expect(report.at("steps_together") > 0, "the members did not compute together");
    const bool is_anybody_accused = !report.at("accusations").empty();
    expect(is_anybody_accused || !is_wrong, "a member lied, and nobody accused it");
    expect(!is_anybody_accused || is_wrong, "a member was accused, and nobody had lied");
    const auto& memory = report.at("memory");
    expect(
        is_disturbed_ || memory.at("worker").get<double>() <= 1.05 * memory.at("formula").get<double>(),
        "a member held more of the state than the formula says"
    );
    const auto& bytes = report.at("bytes");
    const auto sent = bytes.at("sent").get<double>();
    const auto formula = bytes.at("formula").get<double>();
    constexpr double kVotes = 256;  // bytes a step by which the ranks tell each other that all is finite
    const double most = 1.01 * formula + bytes.at("signatures").get<double>() + kVotes;
    expect(is_disturbed_ || (sent > 0.0 && sent <= most), "the members sent more than the plan says");
    return out;
}

std::string describe_together(const json& report) {
    std::string out;
    for (const json& each : report.at("accusations")) {
        const auto number = [&](const char* name) { return std::to_string(each.at(name).get<std::uint64_t>()); };
        const std::string what = each.at("source") == "node" ? "node " : "tensor ";
        out += "\n  rank " + number("accuser") + " showed that rank " + number("accused") + " told it a wrong " +
               (each.at("part").get<bool>() ? "part of a sum of " : "value of ") + what + number("index") + " at row " +
               number("row") + ", column " + number("col") + ", in step " + number("step");
    }
    const auto number = [&](const char* what, const char* name) {
        return std::to_string(report.at(what).at(name).get<std::uint64_t>());
    };
    return out + "\n  each sent " + number("bytes", "sent") + " bytes a step (the plan says " +
           number("bytes", "formula") + " without signatures), and held at most " + number("memory", "worker") +
           " bytes of the state (the formula says " + number("memory", "formula") + ")";
}

}  // namespace assay::demo
