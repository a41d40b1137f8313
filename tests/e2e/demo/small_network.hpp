// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <contracts/params/work.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/demo/network.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/store.hpp>

/// A chain with one solver and some verifiers, for tests that play whole tasks on it; `others` have funds and nothing
/// else. `solver` is the solver's command, which may be to cheat.
namespace assay::e2e {

inline constexpr std::uint64_t kAsy = 1'000'000'000;
inline constexpr Amount kFunds{1'000 * kAsy};
inline constexpr std::chrono::seconds kPatience{150};
inline constexpr int kLeastTime = 0;  ///< for training, by TASK-16

struct SmallNetwork {
    SmallNetwork(
        const std::filesystem::path& bin, const std::filesystem::path& folder, const contracts::Params& params,
        const std::vector<std::string>& verifiers, const std::vector<std::string>& others = {},
        const std::vector<std::string>& solver = {"solve"}
    )
        : home(folder), network(bin, home / "network", 3), store(home / "store"), server({}, store) {
        for (const char* name : {"submitter", "solver"}) {
            network.add_actor(name, kFunds);
        }
        for (const std::string& name : verifiers) {
            network.add_actor(name, kFunds);
        }
        for (const std::string& name : others) {
            network.add_actor(name, kFunds);
        }
        network.start_nodes(params, 50);
        hire("solver", contracts::Role::kSolver, solver);
        for (const std::string& name : verifiers) {
            hire(name, contracts::Role::kVerifier, {"verify"});
        }
    }

    /// A small character model, trained 20 steps to a segment; `more` are further keys of task.toml. `location` is
    /// where its artifacts are said to be.
    contracts::TaskId submit(
        const std::string& name, int steps, int hidden, int seed, const std::string& more,
        const std::string& location = {}, int training_blocks = 2'000, int reward_asy = 20
    ) {
        const std::filesystem::path directory = home / name;
        std::filesystem::create_directories(directory);
        std::ofstream(directory / "task.toml")
            << "title = \"" << name << "\"\nsteps = " << steps << "\ncheckpoint_interval = 20\nseed = " << seed
            << "\nreward = \"" << reward_asy << " ASY\"\nverification_fee = \"3 ASY\"\ntraining_blocks = "
            << (training_blocks == kLeastTime ? 2'000 : training_blocks) << "\n"
            << more << "[model]\nkind = \"char\"\ncontext = 8\nembedding = 32\nhidden = " << hidden
            << "\nbatch_size = 32\n[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n"
               "[data]\ntext = \""
            << text.string() << "\"\n";
        return submit_directory(directory, location, training_blocks);
    }

    /// A task of somebody's own.
    contracts::TaskId submit_directory(
        const std::filesystem::path& directory, const std::string& location = {}, int training_blocks = 2'000
    ) {
        auto spec = taskdir::pack_task(directory, store, location.empty() ? server.url() : location);
        if (training_blocks == kLeastTime) {
            const auto least = contracts::training_blocks_min(network.rpc().params(), spec);
            spec.training_blocks = static_cast<std::uint32_t>(least);
        }
        const auto id = contracts::task_id(network.key("submitter").account(), nonce++);
        const auto sent = network.rpc().send(network.key("submitter"), contracts::SubmitTask{.spec = spec});
        if (sent.code != 0) {
            throw std::runtime_error(directory.string() + " is not submitted: " + sent.error);
        }
        return id;
    }

    /// The task's state once it is `wanted`, over, or `patience` has passed.
    contracts::TaskState wait(
        const contracts::TaskId& id, contracts::TaskState wanted, std::chrono::seconds patience = kPatience
    ) {
        const auto give_up_at = std::chrono::steady_clock::now() + patience;
        auto state = contracts::TaskState::kOpen;
        while (state != wanted && !is_terminal(state) && std::chrono::steady_clock::now() < give_up_at) {
            network.check_alive();
            network.rpc().wait_for_block(network.rpc().height(), std::chrono::seconds(2));
            if (const auto task = network.rpc().task(id)) {
                state = task->state;
            }
        }
        return state;
    }

    void expect(bool holds, const std::string& what) {
        std::cout << (holds ? "ok: " : "WRONG: ") << what << std::endl;
        faults += holds ? 0 : 1;
    }

    std::filesystem::path home;
    std::filesystem::path text = "/usr/share/common-licenses/GPL-3";  ///< which tasks train on
    demo::Network network;
    artifacts::ContentStore store;
    artifacts::ArtifactServer server;
    std::uint64_t nonce = 0;
    int faults = 0;

  private:
    void hire(const std::string& name, contracts::Role role, const std::vector<std::string>& arguments) {
        network.rpc().send(network.key(name), contracts::Bond{.role = role, .amount = Amount{200 * kAsy}});
        network.start_worker(name, arguments);
    }
};

/// Plays in a directory of its own, which is kept when something was wrong. Returns the exit status.
inline int play_in_directory(const std::function<int(const std::filesystem::path&)>& play) {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-e2e-XXXXXX").string();
    const std::filesystem::path home = ::mkdtemp(pattern.data());
    if (play(home) != 0) {
        std::cout << "logs are kept in " << home.string() << "\n";
        return 1;
    }
    std::filesystem::remove_all(home);
    return 0;
}

}  // namespace assay::e2e
