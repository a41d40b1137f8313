// SPDX-License-Identifier: Apache-2.0
// Train, settle, stack, settle: a second task starts from the last state of the first, is verified from there, and so
// are a third and a fourth in tolerance mode. One of another shape is left alone by the solver. Then a model with a
// frozen parameter is trained twice in the same way.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <verifier/artifacts/reference.hpp>
#include <tests/e2e/demo/small_network.hpp>

namespace {

using namespace assay;
using contracts::TaskId;
using contracts::TaskState;
using e2e::SmallNetwork;

constexpr std::chrono::seconds kMisfitPatience{12};  // long enough to be drawn, decline and be drawn again

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 100;
    params.commit_blocks = 1'000;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.publish_blocks = 1'000;
    params.challenge_blocks = 20;
    params.segments_checked = 4;
    return params;
}

TaskId submit(SmallNetwork& at, const std::string& name, int hidden, int seed, const std::string& parent) {
    return at.submit(name, 40, hidden, seed, parent.empty() ? "" : "parent = \"" + parent + "\"\n");
}

/// Two exact tasks, of which the second starts from the first. The second.
TaskId play_exactly(SmallNetwork& at) {
    const TaskId first = submit(at, "first", 64, 3, "");
    at.expect(at.wait(first, TaskState::kSettled) == TaskState::kSettled, "the first task is settled");
    const std::string parent = to_hex(first.view());
    const TaskId second = submit(at, "second", 64, 4, parent);
    at.expect(at.wait(second, TaskState::kSettled) == TaskState::kSettled, "the second is settled");
    const auto last = at.network.rpc().checkpoint(first, 2);
    const auto start = at.network.rpc().checkpoint(second, 0);
    const auto end = at.network.rpc().checkpoint(second, 2);
    at.expect(last && start && last->state_root == start->state_root, "it started from the first one's last state");
    at.expect(end && end->state_root != start->state_root, "and trained on");
    const auto task = at.network.rpc().task(second);
    bool is_executed = task && task->assignments.size() == 2;
    for (std::size_t i = 0; is_executed && i < task->assignments.size(); ++i) {
        is_executed =
            task->assignments[i].segment != 0 && task->assignments[i].status == contracts::VerdictStatus::kAccepted;
    }
    at.expect(is_executed, "both of its segments, and not its initialisation, were verified");
    const auto lineage = at.network.rpc().call("task_lineage", {{"task", to_hex(second.view())}});
    at.expect(
        lineage.at("ancestors").size() == 1 && lineage.at("ancestors")[0].at("id") == parent, "its lineage says so"
    );
    return second;
}

/// A task in tolerance mode upon `parent`: profiled, trained and measured from its last state.
TaskId play_in_tolerance(SmallNetwork& at, const std::string& name, const TaskId& parent, int seed) {
    const std::string keys = "mode = \"tolerance\"\nparent = \"" + to_hex(parent.view()) + "\"\n";
    const TaskId id = at.submit(name, 60, 64, seed, keys);
    at.expect(
        at.wait(id, TaskState::kSettled) == TaskState::kSettled, "the " + name + ", in tolerance mode, is settled"
    );
    const auto task = at.network.rpc().task(id);
    const auto above = at.network.rpc().task(parent);
    const auto last = at.network.rpc().checkpoint(parent, above->checkpoints - 1);
    const auto start = at.network.rpc().checkpoint(id, 0);
    at.expect(last && start && last->state_root == start->state_root, "it started from its parent's last state");
    bool is_measured = task && task->assignments.size() >= 3;
    for (std::size_t i = 0; is_measured && i < task->assignments.size(); ++i) {
        const contracts::Assignment& assignment = task->assignments[i];
        is_measured = assignment.segment != 0 && assignment.measurement &&
                      assignment.status == contracts::VerdictStatus::kAccepted;
    }
    at.expect(is_measured, "and each of its segments was accepted by measurement");
    return id;
}

/// ART-10: two tasks of a model of which one parameter is frozen, the second upon the first. Their checkpoints lack it,
/// but for the last of each and the first of the second.
void play_frozen(SmallNetwork& at, const std::filesystem::path& model) {
    constexpr std::uint32_t kFrozen = 10;  // the last of the tensors of the state
    std::optional<TaskId> parent;
    for (const char* name : {"frozen", "frozen again"}) {
        const std::filesystem::path directory = at.home / name;
        std::filesystem::copy(model, directory);
        std::ifstream in(model / "task.toml");
        std::string toml{std::istreambuf_iterator<char>(in), {}};
        toml.insert(toml.find("[model]"), parent ? "parent = \"" + to_hex(parent->view()) + "\"\n" : "");
        toml.insert(toml.find("[optimizer]"), "frozen = [\"0.weight\"]\n");
        std::ofstream(directory / "task.toml") << toml;
        const TaskId id = at.submit_directory(directory);
        at.expect(at.wait(id, TaskState::kSettled) == TaskState::kSettled, std::string(name) + " is settled");
        for (std::uint32_t i = 0; i < 4; ++i) {
            const auto checkpoint = at.network.rpc().checkpoint(id, i);
            const bool is_whole = i == 3 || (parent && i == 0);
            const Hash256 file = artifacts::checkpoint_name(
                checkpoint.value().state_root, is_whole ? std::vector<std::uint32_t>{} : std::vector{kFrozen}
            );
            const auto path = at.network.worker_home("solver") / "store" / to_hex(file.view());
            at.expect(
                std::filesystem::exists(path),
                "checkpoint " + std::to_string(i) + (is_whole ? " is whole" : " lacks the frozen tensor")
            );
        }
        parent = id;
    }
}

void play_misfit(SmallNetwork& at, const TaskId& parent) {
    const TaskId misfit = submit(at, "misfit", 32, 5, to_hex(parent.view()));
    const TaskState state = at.wait(misfit, TaskState::kTraining, kMisfitPatience);
    const bool is_declined = state == TaskState::kOpen || state == TaskState::kDrawn;
    at.expect(is_declined, "a task whose state has other shapes is not accepted");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: stacking BIN MODEL\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) {
        SmallNetwork network(argv[1], home, quick_params(), {"verifier-1", "verifier-2", "verifier-3", "verifier-4"});
        const TaskId second = play_exactly(network);
        const TaskId third = play_in_tolerance(network, "third", second, 6);
        play_in_tolerance(network, "fourth", third, 7);
        play_frozen(network, argv[2]);
        play_misfit(network, second);  // last: who declines is drawn for nothing of that value for a while
        return network.faults;
    });
}
