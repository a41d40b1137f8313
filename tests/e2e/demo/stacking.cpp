// SPDX-License-Identifier: Apache-2.0
// Train, settle, stack, settle: a second task starts from the last state of the first, is verified from there, and a
// third of another shape is left alone by the solver.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <tools/cli/task_directory.hpp>
#include <tools/demo/network.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/store.hpp>

namespace {

using namespace assay;
using contracts::Role;
using contracts::TaskId;
using contracts::TaskState;

constexpr std::uint64_t kAsy = 1'000'000'000;
constexpr std::chrono::seconds kPatience{90};
constexpr std::chrono::seconds kMisfitPatience{12};  // long enough to be drawn, decline and be drawn again

struct Fixture {
    Fixture(const std::filesystem::path& bin, const std::filesystem::path& folder)
        : home(folder), network(bin, home / "network", 3), store(home / "store"), server({}, store) {
        contracts::Params params;
        params.accept_blocks = 100;
        params.commit_blocks = 1'000;
        params.publish_blocks = 1'000;
        params.challenge_blocks = 20;
        params.segments_checked = 4;
        for (const char* name : {"submitter", "solver", "verifier"}) {
            network.add_actor(name, Amount{1'000 * kAsy});
        }
        network.start_nodes(params, 50);
        const Amount stake{200 * kAsy};
        network.rpc().send(network.key("solver"), contracts::Bond{.role = Role::kSolver, .amount = stake});
        network.rpc().send(network.key("verifier"), contracts::Bond{.role = Role::kVerifier, .amount = stake});
        network.start_worker("solver", {"solve"});
        network.start_worker("verifier", {"verify"});
    }

    TaskId submit(const std::string& name, int hidden, int seed, const std::string& parent) {
        const std::filesystem::path directory = home / name;
        std::filesystem::create_directories(directory);
        std::ofstream(directory / "task.toml")
            << "title = \"" << name << "\"\nsteps = 40\ncheckpoint_interval = 20\nseed = " << seed
            << "\nreward = \"20 ASY\"\nverification_fee = \"3 ASY\"\ntraining_blocks = 2000\n"
            << (parent.empty() ? "" : "parent = \"" + parent + "\"\n")
            << "[model]\nkind = \"char\"\ncontext = 8\nembedding = 32\nhidden = " << hidden
            << "\nbatch_size = 32\n[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n"
               "[data]\ntext = \"/usr/share/common-licenses/GPL-3\"\n";
        const auto spec = cli::pack_task(directory, store, server.url());
        const TaskId id = contracts::task_id(network.key("submitter").account(), nonce++);
        network.rpc().send(network.key("submitter"), contracts::SubmitTask{.spec = spec});
        return id;
    }

    TaskState wait(const TaskId& id, TaskState wanted, std::chrono::seconds patience = kPatience) {
        const auto give_up_at = std::chrono::steady_clock::now() + patience;
        TaskState state = TaskState::kOpen;
        while (state != wanted && !is_terminal(state) && std::chrono::steady_clock::now() < give_up_at) {
            network.check_alive();
            network.rpc().wait_for_block(network.rpc().height(), std::chrono::seconds(2));
            if (const auto task = network.rpc().task(id)) {
                state = task->state;
            }
        }
        return state;
    }

    std::filesystem::path home;
    demo::Network network;
    artifacts::ContentStore store;
    artifacts::ArtifactServer server;
    std::uint64_t nonce = 0;
};

int faults = 0;

void expect(bool holds, const std::string& what) {
    std::cout << (holds ? "ok: " : "WRONG: ") << what << "\n";
    faults += holds ? 0 : 1;
}

void play(Fixture& at) {
    const TaskId first = at.submit("first", 64, 3, "");
    expect(at.wait(first, TaskState::kSettled) == TaskState::kSettled, "the first task is settled");
    const std::string parent = to_hex(first.view());
    const TaskId second = at.submit("second", 64, 4, parent);
    expect(at.wait(second, TaskState::kSettled) == TaskState::kSettled, "the second is settled");
    const auto last = at.network.rpc().checkpoint(first, 2);
    const auto start = at.network.rpc().checkpoint(second, 0);
    const auto end = at.network.rpc().checkpoint(second, 2);
    expect(last && start && last->state_root == start->state_root, "it started from the first one's last state");
    expect(end && end->state_root != start->state_root, "and trained on");
    const auto task = at.network.rpc().task(second);
    bool is_executed = task && task->assignments.size() == 2;
    for (std::size_t i = 0; is_executed && i < task->assignments.size(); ++i) {
        is_executed = task->assignments[i].segment != 0 &&
                      task->assignments[i].status == contracts::VerdictStatus::kAccepted;
    }
    expect(is_executed, "both of its segments, and not its initialisation, were verified");
    const auto lineage = at.network.rpc().call("task_lineage", {{"task", to_hex(second.view())}});
    expect(lineage.at("ancestors").size() == 1 && lineage.at("ancestors")[0].at("id") == parent, "its lineage says so");
    const TaskId misfit = at.submit("misfit", 32, 5, parent);
    const TaskState state = at.wait(misfit, TaskState::kTraining, kMisfitPatience);
    const bool is_declined = state == TaskState::kOpen || state == TaskState::kDrawn;
    expect(is_declined, "a task whose state has other shapes is not accepted");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: stacking BIN\n";
        return 2;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-stacking-XXXXXX").string();
    const std::filesystem::path home = ::mkdtemp(pattern.data());
    {
        Fixture fixture(argv[1], home);
        play(fixture);
    }
    if (faults != 0) {
        std::cout << "logs are kept in " << home.string() << "\n";
        return 1;
    }
    std::filesystem::remove_all(home);
    return 0;
}
