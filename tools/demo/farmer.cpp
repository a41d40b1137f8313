// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/farmer.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <variant>

#include <tools/demo/network.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/demo/story.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;
using namespace contracts;

constexpr const char* kOwner = "farm-owner";
constexpr const char* kSolver = "farm-solver";
constexpr const char* kVerifier = "farm-verifier";
constexpr const char* kWatcher = "farm-watcher";
constexpr std::uint64_t kFarmerTasks = 10;
constexpr std::chrono::seconds kFarmerStartPatience{60};
constexpr std::chrono::seconds kFarmerPatience{150};

struct Hand {
    const char* name;
    Role role;
    const char* command;
    Amount stake;
};
// With those of the honest (cast.cpp): a quarter of what verifiers have free beside their contributors' bonds, and a
// quarter of what watchers have.
constexpr Hand kHands[] = {
    {kSolver, Role::kSolver, "solve", {260 * kGrainsPerAsy}},
    {kVerifier, Role::kVerifier, "verify", {140 * kGrainsPerAsy}},
    {kWatcher, Role::kWhistleblower, "whistleblow", {50 * kGrainsPerAsy}}};

}  // namespace

Farmer::Farmer(Network& network, Narrator& narrator)
    : Outsider(
          network, {{kOwner, {40 * kGrainsPerAsy}},
                    {kSolver, {270 * kGrainsPerAsy}},
                    {kVerifier, {150 * kGrainsPerAsy}},
                    {kWatcher, {60 * kGrainsPerAsy}}}
      ),
      narrator_(narrator) {}

void Farmer::act(const Task& /*own*/) {}

/// A small model of another shape than the demo's own, which the honest have fetched. Nobody serves its artifacts; they
/// are put into the stores of the coalition's workers. The reward is what its solver, an honest program, asks for its
/// fees.
TaskSpec Farmer::pack_privately() {
    const auto directory = network_.worker_home(kOwner);
    std::filesystem::create_directories(directory);
    std::ofstream text(directory / "text.txt");
    for (int i = 0; i < 400; ++i) {
        text << "nobody else can have this text, and nobody else needs it: line " << i << "\n";
    }
    text.close();
    std::ofstream(directory / "task.toml")
        << "title = \"private\"\nsteps = 48\ncheckpoint_interval = 12\nreward = \"0.1 ASY\"\nverification_fee = \"2 "
           "ASY\"\n"
        << "training_blocks = 600\n\n[model]\nkind = \"char\"\ncontext = 8\nembedding = 32\nhidden = 64\nbatch_size = "
           "32\n\n"
        << "[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n\n[data]\ntext = \"text.txt\"\n";
    artifacts::ContentStore store(directory / "store");
    TaskSpec spec = taskdir::pack_task(directory, store, kDeadAddress);
    for (const Hand& hand : kHands) {
        const artifacts::ContentStore own(network_.worker_home(hand.name) / "store");
        for (const auto& entry : store.entries()) {
            own.put(store.get(entry.hash).value().view());
        }
    }
    return spec;
}

void Farmer::hire() {
    for (const Hand& hand : kHands) {
        const auto result = network_.rpc().send(network_.key(hand.name), Bond{.role = hand.role, .amount = hand.stake});
        if (result.code != 0) {
            throw std::runtime_error(std::string(hand.name) + " could not bond: " + result.error);
        }
        std::vector<std::string> arguments{hand.command, "--threads", "1"};
        if (std::string(hand.name) == kSolver) {
            arguments.insert(arguments.end(), {"--dishonest", "private"});
        }
        network_.start_worker(hand.name, arguments);
        narrator_.plain(
            "  " + std::string(hand.name) + " bonds " + format_amount(hand.stake) + " as " + to_string(hand.role)
        );
    }
    network_.await_workers(kFarmerStartPatience);
}

void Farmer::begin() {
    const Params params = network_.rpc().params();
    narrator_.heading("a coalition with tasks of its own, whose program nobody else can have");
    narrator_.plain(
        "  of 100 verdicts " + std::to_string(params.forced_error_bps / 100) +
        " are forced to be wrong here and by default " + std::to_string(Params{}.forced_error_bps / 100) +
        ", so that a few tasks show what many would; a jackpot is as much smaller"
    );
    TaskSpec spec = pack_privately();
    hire();
    for (std::uint64_t i = 0; i < kFarmerTasks; ++i) {
        spec.seed = i;
        if (!submit_task(kOwner, spec)) {
            throw std::runtime_error("a task of the coalition was refused");
        }
    }
    narrator_.plain(
        "  farm-owner submits " + std::to_string(kFarmerTasks) +
        " tasks with a verification fee of 2 ASY and a reward of 0.1 ASY each"
    );
}

bool Farmer::is_over() {
    if (!has_begun_) {
        has_begun_ = true;
        begin();
        began_ = std::chrono::steady_clock::now();
    }
    const auto ended = static_cast<std::size_t>(std::count_if(tasks().begin(), tasks().end(), [this](const TaskId& id) {
        const auto task = network_.rpc().task(id);
        return task && is_terminal(task->state);
    }));
    if (ended != ended_) {
        ended_ = ended;
        narrator_.plain("  " + std::to_string(ended) + " of the coalition's tasks are over");
    }
    return ended == tasks().size() || std::chrono::steady_clock::now() - began_ > kFarmerPatience;
}

json Farmer::report() {
    const auto is_ours = [this](const AccountId& account) { return funds().contains(network_.name_of(account)); };
    struct Sum {
        std::uint64_t count = 0;
        std::uint64_t grains = 0;
        void add(Amount amount) {
            ++count;
            grains += amount.grains;
        }
        json to_json() const { return {{"count", count}, {"grains", grains}}; }
    };
    Sum missed;
    Sum missed_ours;
    Sum unserved;
    Sum jackpots;
    Sum jackpots_of_others;
    Sum tax;
    json verdicts = {{"coalition", 0U}, {"honest", 0U}};
    for (const TaskId& id : tasks()) {
        for (const HistoryRecord& record : history_of(network_, id)) {
            if (const auto* slashed = std::get_if<history::Slashed>(&record.event)) {
                if (slashed->reason == Reason::kMissedVerdict) {
                    (is_ours(slashed->from) ? missed_ours : missed).add(slashed->amount);
                } else if (slashed->reason == Reason::kUnserved) {
                    unserved.add(slashed->amount);
                }
            } else if (const auto* paid = std::get_if<history::Paid>(&record.event)) {
                if (paid->reason == Reason::kJackpot) {
                    (is_ours(paid->to) ? jackpots : jackpots_of_others).add(paid->amount);
                } else if (paid->reason == Reason::kTax) {
                    tax.add(paid->amount);
                }
            } else if (std::holds_alternative<history::VerdictPublished>(record.event)) {
                json& count = verdicts[is_ours(record.actor) ? "coalition" : "honest"];
                count = count.get<std::uint64_t>() + 1;
            }
        }
    }
    json all = tally();
    return {
        {"tasks", tasks().size()},
        {"states", all.at("states")},
        {"forced_error_bps", network_.rpc().params().forced_error_bps},
        {"verdicts", verdicts},
        {"missed", missed.to_json()},
        {"missed_by_coalition", missed_ours.to_json()},
        {"unserved", unserved.to_json()},
        {"jackpots", jackpots.to_json()},
        {"jackpots_of_others", jackpots_of_others.to_json()},
        {"tax", tax.to_json()}};
}

std::vector<std::string> Farmer::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("verdicts").at("coalition") == 0) {
        complaints.push_back("the coalition was drawn for nothing, so nothing was tried: " + report.dump());
    }
    return complaints;
}

}  // namespace assay::demo
