// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/chaos.hpp>

#include <algorithm>
#include <array>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kChaosSolver = "solver-1";
constexpr std::array kChaosVerifiers{"verifier-1", "verifier-2"};
/// The parts of the training after which the solver is killed, none of which is the end of a segment.
constexpr std::array kKilledAfter{0.06, 0.16, 0.30, 0.43, 0.70, 0.83};
constexpr double kLostAfter = 0.55;
constexpr double kAwayAfter = 0.20;
constexpr std::chrono::seconds kAway{5};
constexpr std::chrono::seconds kSpared{3};  // a worker that is killed at each start would never do anything
constexpr std::uint32_t kKillsEach = 4;     // of a verifier
constexpr std::uint32_t kKillsWaiting = 2;  // of these while it has nothing to replay

}  // namespace

Chaos::Chaos(Network& network, Narrator& narrator, StoreServer& store)
    : network_(network), narrator_(narrator), store_(store) {}

void Chaos::lengthen(contracts::Params& params) {
    for (std::uint32_t* span :
         {&params.accept_blocks, &params.commit_blocks, &params.publish_blocks, &params.disclose_blocks,
          &params.contribute_blocks, &params.attest_blocks}) {
        *span *= kLonger;
    }
}

void Chaos::hear(const WorkerEvent& heard) {
    const std::string kind = heard.event.value("event", "");
    const bool is_solver = heard.worker == kChaosSolver;
    if (is_solver && kind == "train") {
        const auto steps = heard.event.value("steps", std::uint64_t{0});
        done_ = steps == 0 ? 0 : heard.event.value("step", 0.0) / static_cast<double>(steps);
    } else if (is_solver && kind == "checkpoint") {
        copies_.push_back(heard.event.value("copies", std::uint32_t{0}));
    } else if (kind == "commit") {
        committed_.insert(heard.worker);
        replaying_.erase(heard.worker);
    } else if (kind == "replay") {
        replaying_.insert(heard.worker);
    } else if (kind == "reopened") {
        ++reopened_;
    }
}

void Chaos::kill(const std::string& name, const std::string& when) {
    network_.kill_worker(name);
    network_.restart_worker(name);
    ++kills_[name];
    spared_until_.erase(name);
    replaying_.erase(name);
    narrator_.plain("  " + name + " is killed " + when + ", and starts again");
}

void Chaos::lose(const std::string& name, const std::string& when) {
    narrator_.plain("  " + name + " loses its disk " + when);
    json recovered = network_.lose_disk(name);
    for (const json& task : recovered.at("tasks")) {
        narrator_.plain(
            "  `assay-worker recover` has " + std::to_string(task.at("kept").get<std::uint32_t>()) + " of " +
            std::to_string(task.at("posted").get<std::uint32_t>()) + " checkpoints again, and " +
            std::to_string(task.at("to_open").get<std::uint32_t>()) + " verdicts to open"
        );
    }
    recovered_.push_back({{"worker", name}, {"is_whole", recovered.at("is_whole")}, {"tasks", recovered.at("tasks")}});
    network_.restart_worker(name);
    spared_until_.erase(name);
}

void Chaos::bother_solver(const contracts::Task& task) {
    if (task.state != contracts::TaskState::kTraining || !network_.is_ready(kChaosSolver)) {
        return;
    }
    if (!has_lost_solver_ && done_ >= kLostAfter && task.checkpoints > 0) {
        has_lost_solver_ = true;
        lose(kChaosSolver, "after " + std::to_string(task.checkpoints) + " checkpoints");
    } else if (next_kill_ < kKilledAfter.size() && done_ >= kKilledAfter.at(next_kill_)) {
        ++next_kill_;
        kill(kChaosSolver, "in the middle of a segment");
        done_ = 0;
    }
}

void Chaos::bother_verifiers(const contracts::Task& task) {
    for (const char* name : kChaosVerifiers) {
        if (!network_.is_ready(name)) {
            continue;
        }
        const auto now = Clock::now();
        const auto spared = spared_until_.try_emplace(name, now + kSpared).first->second;
        const bool owes = std::any_of(task.assignments.begin(), task.assignments.end(), [&](const auto& assignment) {
            return network_.name_of(assignment.verifier) == name &&
                   assignment.status == contracts::VerdictStatus::kCommitted;
        });
        if (!lost_verifier_ && owes && committed_.contains(name)) {
            lost_verifier_ = name;
            lose(name, "between its commitment and its verdict");
        } else if (replaying_.contains(name) && kills_[name] < kKillsEach) {
            kill(name, "in the middle of a replay");
        } else if (now >= spared && kills_[name] < kKillsWaiting) {
            kill(name, "while it waits");
        }
    }
}

void Chaos::move_store(const contracts::Task& task) {
    if (is_store_away_ && Clock::now() >= store_back_at_) {
        store_.come_back();
        is_store_away_ = false;
        narrator_.plain(
            "  the store is back; meanwhile " + std::to_string(task.checkpoints - away_from_) +
            " checkpoints were posted"
        );
    } else if (!is_store_away_ && outages_ == 0 && done_ >= kAwayAfter) {
        store_.go_away();
        is_store_away_ = true;
        away_from_ = task.checkpoints;
        store_back_at_ = Clock::now() + kAway;
        ++outages_;
        narrator_.plain("  a store goes away: what is not in it yet is not posted, and the training goes on");
    }
}

void Chaos::act(const contracts::Task& task) {
    if (contracts::is_terminal(task.state)) {
        return;
    }
    move_store(task);
    bother_solver(task);
    bother_verifiers(task);
}

json Chaos::report() const {
    std::uint32_t verifiers = 0;
    for (const char* name : kChaosVerifiers) {
        const auto found = kills_.find(name);
        verifiers += found == kills_.end() ? 0 : found->second;
    }
    const auto solver = kills_.find(kChaosSolver);
    return {
        {"kills", {{"solver", solver == kills_.end() ? 0 : solver->second}, {"verifiers", verifiers}}},
        {"outages", outages_},
        {"recovered", recovered_},
        {"reopened", reopened_},
        {"copies", copies_}};
}

std::vector<std::string> Chaos::judge(const json& report) {
    std::vector<std::string> out;
    const auto expect = [&out](bool holds, const char* complaint) {
        if (!holds) {
            out.emplace_back(complaint);
        }
    };
    const auto recovered_of = [&](bool of_solver) {
        const json& all = report.at("recovered");
        const auto found = std::find_if(all.begin(), all.end(), [&](const json& one) {
            return (one.at("worker") == kChaosSolver) == of_solver;
        });
        const bool has_task = found != all.end() && found->at("is_whole") == true && !found->at("tasks").empty();
        return has_task ? found->at("tasks").front() : json{{"kept", 0}, {"to_open", 0}};
    };
    expect(report.at("kills").at("solver") >= 4, "the solver was not killed four times");
    expect(report.at("kills").at("verifiers") >= 4, "verifiers were not killed four times");
    expect(report.at("outages") >= 1, "no store went away");
    expect(recovered_of(true).at("kept") > 0, "the solver's checkpoints were not recovered from the stores");
    expect(recovered_of(false).at("to_open") > 0, "no verifier lost the opening of a commitment");
    expect(report.at("reopened") > 0, "no verifier made the opening of its commitment again");
    return out;
}

}  // namespace assay::demo
