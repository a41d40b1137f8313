// SPDX-License-Identifier: Apache-2.0
// An attacker submits a dozen tasks whose artifacts are at addresses where connections are taken and nothing is ever
// said, and one that nobody can do in its time. The only solver accepts none of them and loses no bond; an honest task
// that comes after them, and is worth more (TASK-15, TASK-19), is accepted before its own window ends, trained and
// paid.
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <contracts/lifecycle/waiting.hpp>
#include <tests/e2e/demo/small_network.hpp>

namespace {

using namespace assay;
using contracts::TaskState;
using e2e::SmallNetwork;

constexpr int kDead = 12;

class Mute {
  public:
    Mute() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(fd_, any, size) != 0 || ::listen(fd_, 64) != 0 || ::getsockname(fd_, any, &size) != 0) {
            throw std::runtime_error("no port to be silent at");
        }
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    }
    ~Mute() { ::close(fd_); }
    Mute(const Mute&) = delete;
    Mute& operator=(const Mute&) = delete;
    const std::string& url() const { return url_; }

  private:
    int fd_;
    std::string url_;
};

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 200;  // 10 s: a worker that waited for each dead address would take minutes
    params.commit_blocks = 1'000;
    params.publish_blocks = 1'000;
    params.challenge_blocks = 60;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.forced_error_bps = 0;
    return params;
}

void play(SmallNetwork& at) {
    at.network.await_workers(std::chrono::seconds(120));
    std::vector<std::unique_ptr<Mute>> mutes;
    std::vector<contracts::TaskId> dead;
    for (int i = 0; i < kDead; ++i) {
        mutes.push_back(std::make_unique<Mute>());
        // A model of their own: the honest task's program would do for all that have the same.
        dead.push_back(at.submit("dead-" + std::to_string(i), 40, 96, i, "", mutes.back()->url(), 2'000, 10));
    }
    // As short as TASK-16 lets a deadline be. Blocks of 50 ms, where the chain takes them to last a second, make it a
    // twentieth of what the slowest machine needs.
    const auto bait = at.submit("bait", 4000, 8192, 50, "", "", e2e::kLeastTime, 15);
    const auto honest = at.submit("honest", 40, 64, 60, "");
    at.expect(at.wait(honest, TaskState::kSettled) == TaskState::kSettled, "the honest task is settled");
    const auto accepted_in_time = at.network.rpc().task(honest);
    at.expect(accepted_in_time && accepted_in_time->solver == at.network.key("solver").account(), "by the solver");
    for (const contracts::TaskId& id : dead) {
        const auto task = at.network.rpc().task(id);
        at.expect(task && task->checkpoints == 0, "nobody trained what nobody serves");
    }
    const auto task = at.network.rpc().task(bait);
    const bool is_taken = task && task->solver_bond > contracts::offer_bond(quick_params(), task->spec);  // TASK-6
    at.expect(task && !is_taken, "nobody locked a bond for what nobody can do in time");
    bool has_declined = false;
    bool has_lost = false;
    for (const demo::WorkerEvent& each : at.network.take_events()) {
        const std::string name = each.event.value("event", "");
        has_declined = has_declined || (name == "declined" && each.event.value("reason", "") == "too_long");
        if (name == "breaker") {
            std::cout << each.worker << ": " << each.event.dump() << "\n";
            has_lost = true;
        }
    }
    at.expect(!has_lost, "no stake was lost");
    at.expect(has_declined, "the bait was declined because it takes too long");
}

int play_in(const std::filesystem::path& bin, const std::filesystem::path& home) {
    SmallNetwork at(bin, home, quick_params(), {"verifier"});
    play(at);
    return at.faults;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: tarpit BIN\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) { return play_in(argv[1], home); });
}
