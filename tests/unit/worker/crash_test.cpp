// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/folders.hpp>
#include <verifier/taskdir/task_directory.hpp>
#include <tools/demo/network.hpp>
#include <client/http/http.hpp>
#include <verifier/artifacts/claimed_losses.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::worker {
namespace {

namespace fs = std::filesystem;
using contracts::Role;
using contracts::TaskState;

constexpr std::uint64_t kAsy = 1'000'000'000;

/// The process whose command line names `home`; 0 when there is none.
pid_t process_of(const fs::path& home) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
        pid_t pid = 0;
        const std::string name = entry.path().filename();
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{}) {
            continue;
        }
        std::ifstream in(entry.path() / "cmdline", std::ios::binary);
        const std::string command(std::istreambuf_iterator<char>(in), {});
        if (command.find("assay-worker") != std::string::npos && command.find(home.string()) != std::string::npos) {
            return pid;
        }
    }
    return 0;
}

class CrashNetwork {
  public:
    CrashNetwork() : network_(folders::build() + "/bin", home_.path() / "network", 3) {
        network_.add_actor("submitter", Amount{1'000 * kAsy});
        for (const char* name : {"solver", "verifier"}) {
            network_.add_actor(name, Amount{200 * kAsy});
        }
        contracts::Params params;
        params.commit_blocks = 400;
        params.publish_blocks = 400;
        params.disclose_blocks = 400;
        params.challenge_blocks = 10;
        network_.start_nodes(params, 50);
        hire("verifier", Role::kVerifier, {"verify"});
        hire("solver", Role::kSolver, {"solve", "--keep-checkpoints", "0"});
    }

    void hire(const std::string& name, Role role, const std::vector<std::string>& arguments) {
        const contracts::Bond bond{.role = role, .amount = Amount{50 * kAsy}};
        REQUIRE(network_.rpc().send(network_.key(name), bond).code == 0);
        network_.start_worker(name, arguments);
    }

    /// Waits for an event of the worker about the task, and returns it; null if it does not come in time.
    nlohmann::json await_event(const std::string& worker, const std::string& event, const contracts::TaskId& task) {
        const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (std::chrono::steady_clock::now() < give_up_at) {
            for (auto& heard : network_.take_events()) {
                heard_.push_back(std::move(heard));
            }
            for (const auto& heard : heard_) {
                if (heard.worker == worker && heard.event.value("event", "") == event &&
                    heard.event.value("task", "") == to_hex(task.view())) {
                    return heard.event;
                }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return nullptr;
    }

    void kill_and_restart(const std::string& name, const std::string& mode) {
        const pid_t pid = process_of(home_.path() / "network" / name);
        REQUIRE(pid != 0);
        REQUIRE(::kill(pid, SIGKILL) == 0);
        while (process_of(home_.path() / "network" / name) != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        network_.start_worker(name, {mode});
    }

    /// Restarts it without what it has fetched.
    void forget_fetched(const std::string& name) {
        const pid_t pid = process_of(home_.path() / "network" / name);
        REQUIRE(pid != 0);
        REQUIRE(::kill(pid, SIGKILL) == 0);
        while (process_of(home_.path() / "network" / name) != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        fs::remove_all(home_.path() / "network" / name / "fetched");
        network_.start_worker(name, {"verify"});
    }

    contracts::TaskId submit(std::uint64_t steps) {
        const auto directory = home_.path() / "task";
        fs::create_directories(directory);
        std::string text;
        for (int i = 0; i < 40; ++i) {
            text += "the assayer tests the metal and writes down number " + std::to_string(i * i) + "\n";
        }
        test::write_file(directory / "text.txt", as_bytes(text));
        std::ofstream(directory / "task.toml")
            << "title = \"killed\"\nsteps = " << steps << "\ncheckpoint_interval = " << steps / 10
            << "\nseed = 3\nreward = \"20 ASY\"\nverification_fee = \"3 ASY\"\ntraining_blocks = 5000\n\n"
            << "[model]\nkind = \"char\"\ncontext = 8\nembedding = 32\nhidden = 64\nbatch_size = 32\n\n"
            << "[optimizer]\nkind = \"adam\"\nlearning_rate = 0.003\n\n[data]\ntext = \"text.txt\"\n";
        const auto spec = taskdir::pack_task(directory, store_, server_.url());
        const auto key = network_.key("submitter");
        REQUIRE(network_.rpc().send(key, contracts::SubmitTask{.spec = spec}).code == 0);
        return contracts::task_id(key.account(), 0);
    }

    demo::Network& network() { return network_; }
    /// The submitter goes: from now on nobody has the program and the data but who has fetched them.
    void close_submitter() { server_.stop(); }

  private:
    test::TemporaryDirectory home_;
    artifacts::ContentStore store_{home_.path() / "store"};
    artifacts::ArtifactServer server_{{}, store_};
    demo::Network network_;
    std::vector<demo::WorkerEvent> heard_;
};

/// How much the solver says that the task paid as its reward, in the event.
std::uint64_t reward_in(const nlohmann::json& settled) {
    return settled.is_object() && settled.at("paid").contains("reward") ? demo::grains(settled.at("paid").at("reward"))
                                                                        : 0;
}

/// The task was settled: what its workers say of it, serve of it and delete of it.
void check_aftermath(CrashNetwork& network, const contracts::Task& task) {
    auto& rpc = network.network().rpc();
    const auto settled = network.await_event("solver", "settled", task.id);
    std::uint64_t reward = 0;
    const auto answer = rpc.call("account_payments", {{"account", to_hex(task.solver.value().view())}});
    for (const auto& payment : answer.at("payments")) {
        reward += payment.at("reason") == "reward" ? demo::grains(payment.at("amount")) : 0;
    }
    CHECK(reward != 0);
    CHECK(reward_in(settled) == reward);
    const auto paid = network.await_event("solver", "paid", task.id);
    REQUIRE(paid.is_object());
    CHECK(paid.at("role") == "solver");
    CHECK(network.await_event("verifier", "settled", task.id).is_object());

    const auto last = rpc.checkpoint(task.id, task.checkpoints - 1).value();
    const auto losses =
        artifacts::decode_losses(http::http_get(last.location + artifacts::losses_target(task.id)).body);
    REQUIRE(losses.has_value());
    CHECK(losses->account == task.solver);
    CHECK(losses->losses.size() == task.checkpoints - 1);  // the initialisation has none

    const auto freed = network.await_event("solver", "freed", task.id);
    REQUIRE(freed.is_object());
    CHECK(freed.at("files") == task.checkpoints - 1);
    CHECK(freed.at("is_all") == false);  // the result stays for its submitter
    CHECK(artifacts::ContentStore(network.network().worker_home("solver") / "store").entries().size() == 1);
}

TEST_CASE("workers killed again and again complete, are paid, and never contradict themselves") {
    CrashNetwork crash;
    const contracts::TaskId id = crash.submit(4'000);
    auto& rpc = crash.network().rpc();
    std::uint32_t killed_at = 0;
    int kills = 0;
    bool killed_verifier = false;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    contracts::Task task;
    while (std::chrono::steady_clock::now() < deadline) {
        task = rpc.task(id).value();
        if (contracts::is_terminal(task.state)) {
            break;
        }
        // Every third checkpoint, and once in the middle of the verdicts.
        if (task.state == TaskState::kTraining && task.checkpoints >= killed_at + 3) {
            killed_at = task.checkpoints;
            ++kills;
            crash.kill_and_restart("solver", "solve");
        }
        const auto is_committed = [](const auto& a) { return a.status == contracts::VerdictStatus::kCommitted; };
        if (task.state == TaskState::kVerifying && !killed_verifier &&
            std::any_of(task.assignments.begin(), task.assignments.end(), is_committed)) {
            killed_verifier = true;
            crash.kill_and_restart("verifier", "verify");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(task.state == TaskState::kSettled);
    CHECK(kills >= 2);
    for (const auto& assignment : task.assignments) {
        CHECK(assignment.status == contracts::VerdictStatus::kAccepted);
    }
}

TEST_CASE("AVL-9: a submitter that goes away once a solver trains cannot keep it from its pay, which it reports") {
    CrashNetwork network;
    const contracts::TaskId id = network.submit(1'000);
    auto& rpc = network.network().rpc();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    bool is_gone = false;
    contracts::Task task;
    while (std::chrono::steady_clock::now() < deadline) {
        task = rpc.task(id).value();
        if (contracts::is_terminal(task.state)) {
            break;
        }
        if (task.state == TaskState::kTraining && !is_gone) {
            is_gone = true;
            network.close_submitter();
            // What the verifier may have fetched already: it has to have it from the solver.
            network.forget_fetched("verifier");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(is_gone);
    CHECK(task.state == TaskState::kSettled);
    CHECK(task.redraws == 0);
    check_aftermath(network, task);
}

/// Has the solver publish to two directories.
std::vector<std::string> publishing(const fs::path& folder) {
    std::vector<std::string> out{"solve"};
    for (const char* name : {"first", "second"}) {
        out.insert(out.end(), {"--publish", "dir:" + (folder / name).string()});
    }
    return out;
}

TEST_CASE("VER-5: a solver and a verifier that lose their disks go on from the stores and their keys, and lose nothing"
) {
    const test::TemporaryDirectory stores;
    CrashNetwork network;
    network.network().stop_worker("solver");
    network.network().start_worker("solver", publishing(stores.path()));
    const contracts::TaskId id = network.submit(2'000);
    auto& rpc = network.network().rpc();
    nlohmann::json solver;
    nlohmann::json verifier;
    bool has_lost_files = false;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    contracts::Task task;
    while (std::chrono::steady_clock::now() < deadline) {
        task = rpc.task(id).value();
        if (contracts::is_terminal(task.state)) {
            break;
        }
        if (task.state == TaskState::kTraining && task.checkpoints >= 3 && solver.is_null()) {
            solver = network.network().lose_disk("solver");
            network.network().restart_worker("solver");
        }
        if (task.state == TaskState::kTraining && task.checkpoints >= 6 && !has_lost_files) {
            has_lost_files = true;  // the journal still has them
            const auto files = network.network().lose_disk("solver", "store");
            CHECK(files.at("is_whole") == true);
            const artifacts::ContentStore store(network.network().worker_home("solver") / "store");
            CHECK(store.entries().size() >= files.at("tasks").at(0).at("posted"));
            network.network().restart_worker("solver");
        }
        const auto is_committed = [](const auto& a) { return a.status == contracts::VerdictStatus::kCommitted; };
        if (task.state == TaskState::kVerifying && verifier.is_null() &&
            std::any_of(task.assignments.begin(), task.assignments.end(), is_committed)) {
            verifier = network.network().lose_disk("verifier");
            network.network().restart_worker("verifier");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(task.state == TaskState::kSettled);
    CHECK(has_lost_files);
    REQUIRE(solver.is_object());
    CHECK(solver.at("is_whole") == true);
    const auto& trained = solver.at("tasks").at(0);
    CHECK(trained.at("posted") >= 3);
    CHECK(trained.at("kept") == trained.at("posted"));
    REQUIRE(verifier.is_object());
    CHECK(verifier.at("tasks").at(0).at("to_open") >= 1);
    CHECK(network.await_event("verifier", "reopened", id).is_object());
    for (const auto& assignment : task.assignments) {
        CHECK(assignment.status == contracts::VerdictStatus::kAccepted);
    }
    // Every checkpoint lies in both stores, whose locations the chain has.
    for (std::uint32_t i = 0; i < task.checkpoints; ++i) {
        const std::string location = rpc.checkpoint(id, i)->location;
        CHECK(location.find(" dir:" + (stores.path() / "first").string()) != std::string::npos);
        CHECK(location.find(" dir:" + (stores.path() / "second").string()) != std::string::npos);
    }
}

}  // namespace
}  // namespace assay::worker
