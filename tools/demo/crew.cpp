// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/crew.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <client/http/http.hpp>
#include <tools/demo/own_command.hpp>
#include <tools/demo/workload.hpp>
#include <verifier/compile/program/distance.hpp>
#include <verifier/compile/program/local_replicas.hpp>
#include <verifier/plan/plan.hpp>
#include <verifier/plan/turns.hpp>

namespace assay::demo {

using nlohmann::json;

std::uint16_t free_port() {
    const auto nothing = [](const http::HttpRequest&) { return http::HttpResponse{}; };
    return http::HttpServer({}, http::HttpServer::Handler(nothing)).port();
}

namespace {

constexpr std::uint32_t kReplayers = 2;
constexpr const char* kReplayersPlan = "zero3";

struct Work {
    std::uint64_t steps = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t state_bytes = 0;
};

// Of the longest session in a log of JSON lines. The others try one step before the task is accepted, or replay a
// segment up to a mark that a verdict has disclosed.
Work read_log(const std::filesystem::path& path) {
    Work out;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const json entry = json::parse(line, nullptr, false);
        if (entry.is_object() && entry.value("message", "") == "the session is over" &&
            entry.value("steps", std::uint64_t{0}) > out.steps) {
            out.steps = entry.value("steps", std::uint64_t{0});
            out.sent_bytes = entry.value("sent_bytes", std::uint64_t{0});
            out.state_bytes = entry.value("state_bytes", std::uint64_t{0});
        }
    }
    return out;
}

// Of a round, what a replica sends to each other; and of the state, what is its own or every replica's.
PlanFormulas formulas_of_turns(const program::Program& program, const std::string& parallel, std::uint32_t workers) {
    const plan::Turns turns = plan::find_turns(program).value();
    program::LocalReplicas local;
    local.sent = parallel == kSparseLoco ? program::SentForm::kSparse : program::SentForm::kIntegers;
    local.fragments = turns.cycle;
    std::vector<program::StateTensor> parameters;
    std::copy_if(
        program.state.begin(), program.state.end(), std::back_inserter(parameters),
        [](const program::StateTensor& tensor) { return program::group_of(tensor) == program::StateGroup::kParameter; }
    );
    const std::uint64_t packed = program::round_traffic(local, parameters).packed / 8;
    PlanFormulas out;
    out.bytes = packed * (workers - 1) / turns.steps / turns.cycle;
    out.state = program::size_bytes(program.state);
    for (std::uint32_t replica = 1; replica < turns.replicas; ++replica) {
        for (const std::uint32_t tensor : turns.own[replica]) {
            out.state -= program::size_bytes({program.state[tensor]});
        }
    }
    return out;
}

}  // namespace

PlanFormulas formulas_of(
    const program::Program& program, const std::string& parallel, std::uint32_t workers, bool is_stated
) {
    const plan::Layout layout = *plan::decode_layout(layout_of(parallel), workers);
    if (layout.turns > 1) {
        return formulas_of_turns(program, parallel, workers);
    }
    const plan::Plan plan = plan::make_plan(program, layout);
    PlanFormulas out;
    for (std::uint32_t rank = 0; rank < workers; ++rank) {
        out.bytes += plan::traffic_of(plan, program.step, rank, is_stated).bytes();
        out.state = std::max(out.state, plan::state_bytes(plan, program, rank));
    }
    out.bytes /= workers;
    // Replicas have slots of their own, which ZeRO's formulas do not know.
    if (layout.tensor == 1 && layout.stages == 1 && parallel != kReplicasByDgc) {
        out.state = plan::zero_state_bytes(program, layout);
    }
    return out;
}

Crew::Crew(
    const std::filesystem::path& bin, const std::filesystem::path& home, std::uint32_t workers, std::string parallel,
    std::uint64_t seed
)
    : hosts_file_(home / "hosts.toml"),
      workers_(workers),
      parallel_(std::move(parallel)),
      layout_(layout_of(parallel_)) {
    std::filesystem::create_directories(home);
    std::ofstream hosts(hosts_file_);
    hosts << "lead = \"127.0.0.1:" << free_port() << "\"\nsecret = \"a demo on loopback, seed " << seed << "\"\n";
    for (std::uint32_t i = 1; i < workers_; ++i) {
        hosts << "[[members]]\nname = \"machine-" << i << "\"\naddress = \"127.0.0.1\"\n";
    }
    if (!hosts.flush()) {
        throw std::runtime_error("cannot write " + hosts_file_.string());
    }
    for (std::uint32_t i = 1; i < workers_; ++i) {
        const std::string name = "machine-" + std::to_string(i);
        members_.push_back(std::make_unique<system::Process>(
            name,
            std::vector<std::string>{
                (bin / "assay-worker").string(), "member", "--cell", hosts_file_.string(), "--name", name, "--threads",
                "1", "--log-format", "json"},
            home / (name + ".log"), [](const std::string&) {}
        ));
    }
}

std::vector<std::string> Crew::solver_arguments() const {
    return {"--cell", hosts_file_.string(), "--plan", layout_, "--log-format", "json"};
}

std::uint64_t Crew::steps() const {
    std::uint64_t out = 0;
    for (const auto& member : members_) {
        out = std::max(out, read_log(member->log()).steps);
    }
    return out;
}

void Crew::stop() {
    for (const auto& member : members_) {
        member->stop();
    }
}

json Crew::report(const std::filesystem::path& solver_log, const program::Program& program, const Roots& roots) const {
    std::vector<Work> work{read_log(solver_log)};
    for (const auto& member : members_) {
        work.push_back(read_log(member->log()));
    }
    json out{
        {"root", roots.last}, {"one_process_root", roots.one_process}, {"parallel", parallel_}, {"workers", workers_}};
    std::uint64_t steps = 0;
    std::uint64_t sent = 0;
    std::uint64_t state = 0;
    for (const Work& one : work) {
        // Machines that take turns have steps of their own, others take part in the same ones.
        steps = layout_ == layout_of(kDiloco) ? steps + one.steps : std::max(steps, one.steps);
        sent += one.steps == 0 ? 0 : one.sent_bytes / one.steps;
        state = std::max(state, one.state_bytes);
    }
    const PlanFormulas formulas = formulas_of(program, parallel_, workers_);
    out["steps"] = steps;
    out["bytes"] = {{"sent", sent / workers_}, {"formula", formulas.bytes}};
    out["memory"] = {{"worker", state}, {"formula", formulas.state}};
    out["convicted"] = json::array();  // a cell is one account, whose fraud is a solver's
    out["honest_lost"] = 0;
    return out;
}

std::vector<std::string> ReplayCells::add(const std::string& verifier) {
    crews_.push_back(std::make_unique<Crew>(bin_, home_ / (verifier + "-cell"), kReplayers, kReplayersPlan, seed_));
    return crews_.back()->solver_arguments();
}

json ReplayCells::report() {
    std::uint64_t steps = 0;
    for (const auto& crew : crews_) {
        crew->stop();
        steps = std::max(steps, crew->steps());
    }
    return {{"workers", kReplayers}, {"parallel", kReplayersPlan}, {"steps", steps}};
}

Crew::Roots replay_alone(
    const std::filesystem::path& home, const std::string& node_url, const contracts::TaskId& task,
    std::uint32_t segments
) {
    Crew::Roots out;
    for (std::uint32_t segment = 0; segment <= segments; ++segment) {
        const CommandResult result =
            run_own(home, node_url, {"verify", "segment", to_hex(task.view()), std::to_string(segment)});
        if (result.status != 0 || !result.answer.is_object()) {
            throw std::runtime_error(
                "segment " + std::to_string(segment) +
                " could not be replayed in one process: " + result.error_message()
            );
        }
        out.last = result.answer.value("claimed", "");
        out.one_process = result.answer.value("replayed", "");
        if (out.last != out.one_process) {
            break;
        }
    }
    return out;
}

std::string describe_crew(const json& report) {
    const auto number = [&](const char* group, const char* name) {
        return std::to_string(report.at(group).at(name).get<std::uint64_t>());
    };
    std::string of_verifier;
    if (report.contains("verifier_cells")) {
        const json& cell = report.at("verifier_cells");
        of_verifier = "\n  verifiers replayed up to " + std::to_string(cell.at("steps").get<std::uint64_t>()) +
                      " steps on " + std::to_string(cell.at("workers").get<std::uint32_t>()) + " machines each by " +
                      cell.at("parallel").get<std::string>();
    }
    return "  " + std::to_string(report.at("workers").get<std::uint32_t>()) + " workers, " +
           report.at("parallel").get<std::string>() + ": root " + report.at("root").get<std::string>().substr(0, 16) +
           "..., one process's " + report.at("one_process_root").get<std::string>().substr(0, 16) +
           "...\n  each sent " + number("bytes", "sent") + " bytes a step (the plan says " +
           number("bytes", "formula") + "), and held at most " + number("memory", "worker") +
           " bytes of the state (the formula says " + number("memory", "formula") + ")" + of_verifier;
}

std::vector<std::string> judge_crew(const json& report) {
    std::vector<std::string> out;
    if (report.at("root") != report.at("one_process_root") || report.at("root") == "") {
        out.emplace_back("the workers' root is not one process's");
    }
    const auto sent = report.at("bytes").at("sent").get<double>();
    const auto formula = report.at("bytes").at("formula").get<double>();
    if (report.at("steps") == 0 || sent == 0.0) {
        out.emplace_back("the workers did not train together");
    }
    const auto state = report.at("memory").at("worker").get<double>();
    if (state > 1.05 * report.at("memory").at("formula").get<double>()) {
        out.emplace_back("a worker held more of the state than the formula says");
    }
    constexpr double kVotes = 256;  // bytes a step by which the ranks tell each other that all is finite
    if (std::abs(sent - formula) > 0.01 * formula + kVotes) {
        out.emplace_back("the workers sent other amounts than the plan says");
    }
    return out;
}

}  // namespace assay::demo
