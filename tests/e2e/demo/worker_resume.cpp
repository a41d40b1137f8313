// SPDX-License-Identifier: Apache-2.0
// A solver and a verifier that are killed again and again still bring an honest task to its settlement, with the same
// state roots and the same score as an undisturbed run.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <verifier/taskdir/task_directory.hpp>
#include <tools/demo/network.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/artifacts/store.hpp>

namespace {

using namespace assay;
using contracts::Role;
using contracts::TaskState;

constexpr std::uint64_t kAsy = 1'000'000'000;

struct Run {
    TaskState state = TaskState::kOpen;
    std::vector<Hash256> roots;
    std::optional<contracts::Evaluation> evaluation;
    int kills = 0;
    bool kept_seat = false;
};

void write_task(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "task.toml")
        << "title = \"resume\"\nsteps = 4000\ncheckpoint_interval = 250\nseed = 3\nreward = \"20 ASY\"\n"
           "verification_fee = \"3 ASY\"\ntraining_blocks = 2000\n[model]\nkind = \"char\"\ncontext = 16\n"
           "embedding = 32\nhidden = 128\nbatch_size = 64\n[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n"
           "[data]\ntext = \"/usr/share/common-licenses/GPL-3\"\n"
           "[evaluation]\ntext = \"/usr/share/common-licenses/GPL-3\"\nbatches = 4\n";
}

Run run(const std::filesystem::path& bin, const std::filesystem::path& home, int kills_wanted, std::uint64_t seed) {
    contracts::Params params;
    params.solver_bond = Amount{50 * kAsy};
    params.verifier_bond = Amount{5 * kAsy};
    params.accept_blocks = 1'000;
    params.commit_blocks = 1'000;
    params.publish_blocks = 1'000;
    params.disclose_blocks = 1'000;
    params.challenge_blocks = 20;
    params.contribute_blocks = 200;
    params.contributor_bond = Amount{5 * kAsy};
    demo::Network network(bin, home / "network", 3);
    for (const char* name : {"submitter", "solver", "verifier"}) {
        network.add_actor(name, Amount{1'000 * kAsy});
    }
    network.start_nodes(params, 50);
    artifacts::ContentStore store(home / "store");
    artifacts::ArtifactServer server({}, store);
    network.rpc().send(network.key("solver"), contracts::Bond{.role = Role::kSolver, .amount = Amount{50 * kAsy}});
    network.rpc().send(network.key("verifier"), contracts::Bond{.role = Role::kVerifier, .amount = Amount{50 * kAsy}});
    write_task(home / "task");
    const auto spec = taskdir::pack_task(home / "task", store, server.url());
    const contracts::TaskId id = contracts::task_id(network.key("submitter").account(), 0);
    network.rpc().send(network.key("submitter"), contracts::SubmitTask{.spec = spec});
    network.start_worker("solver", {"solve"});
    network.start_worker("verifier", {"verify"});

    std::mt19937_64 random(seed);
    Run result;
    const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(150);
    auto next_kill = std::chrono::steady_clock::now() + std::chrono::milliseconds(800);
    while (!is_terminal(result.state) && std::chrono::steady_clock::now() < give_up_at) {
        network.check_alive();
        if (result.kills < kills_wanted && std::chrono::steady_clock::now() > next_kill) {
            const std::string victim = random() % 3 == 0 ? "verifier" : "solver";
            network.kill_worker(victim);
            network.restart_worker(victim);
            ++result.kills;
            next_kill = std::chrono::steady_clock::now() + std::chrono::milliseconds(700 + random() % 900);
        }
        network.rpc().wait_for_block(network.rpc().height(), std::chrono::seconds(2));
        if (const auto task = network.rpc().task(id)) {
            result.state = task->state;
            result.evaluation = task->evaluation;
        }
    }
    const contracts::Beacon beacon = network.rpc().beacon();
    result.kept_seat = beacon.seats.size() == 1 && beacon.withheld.empty();
    for (std::uint32_t i = 0; i <= contracts::segment_count(spec); ++i) {
        const auto checkpoint = network.rpc().checkpoint(id, i);
        result.roots.push_back(checkpoint ? checkpoint->state_root : Hash256{});
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: worker_resume BIN\n";
        return 2;
    }
    const std::uint64_t seed = std::random_device{}();
    std::cout << "seed " << seed << "\n";
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-resume-XXXXXX").string();
    const std::filesystem::path home = ::mkdtemp(pattern.data());
    const Run calm = run(argv[1], home / "calm", 0, seed);
    const Run killed = run(argv[1], home / "killed", 10, seed);
    const bool ok = calm.state == TaskState::kSettled && killed.state == TaskState::kSettled &&
                    calm.roots == killed.roots && calm.evaluation && calm.evaluation == killed.evaluation &&
                    killed.kills >= 3 && calm.kept_seat && killed.kept_seat;
    std::cout << "undisturbed: " << to_string(calm.state) << "; after " << killed.kills
              << " kills: " << to_string(killed.state) << ", roots "
              << (calm.roots == killed.roots ? "equal" : "DIFFER") << ", seat in the beacon "
              << (killed.kept_seat ? "kept" : "LOST") << "\n";
    if (!ok) {
        std::cout << "logs are kept in " << home.string() << "\n";
        return 1;
    }
    std::filesystem::remove_all(home);
    return 0;
}
