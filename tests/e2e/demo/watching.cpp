// SPDX-License-Identifier: Apache-2.0
// Whistleblowers that come and go by themselves: one joins where nobody watches, another stays out; the first checks as
// many verdicts as it was told to, leaves and stays away; then the other joins.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include <tests/e2e/demo/small_network.hpp>

namespace {

using namespace assay;
using contracts::TaskState;
using e2e::SmallNetwork;

constexpr std::uint64_t kStakeAsy = 100;
constexpr std::uint64_t kFeesAsyMax = 1;
constexpr std::uint64_t kBlocksAwaited = 20;

contracts::Params quick_params() {
    contracts::Params params;
    params.accept_blocks = 100;
    params.commit_blocks = 1'000;
    params.contributor_bond = Amount{100 * e2e::kAsy};
    params.publish_blocks = 1'000;
    params.challenge_blocks = 400;  // time for replays on a busy machine
    params.segments_checked = 5;
    params.unbonding_blocks = 10;
    params.forced_error_bps = 0;
    return params;
}

class Watchers {
  public:
    explicit Watchers(SmallNetwork& network) : at_(network) {}

    void start(const std::string& name) {
        at_.network.start_worker(
            name,
            {"whistleblow", "--join", std::to_string(kStakeAsy * e2e::kAsy), "--join-below", "0", "--leave-after", "2"}
        );
    }
    /// Whether `name` reports `event` within `blocks` blocks.
    bool await(const std::string& name, const std::string& event, std::uint64_t blocks) {
        const Height end{at_.network.rpc().height().value + blocks};
        while (!has(name, event) && at_.network.rpc().height() < end) {
            at_.network.check_alive();
            at_.network.rpc().wait_for_block(at_.network.rpc().height(), std::chrono::seconds(2));
        }
        return has(name, event);
    }
    std::size_t count(const std::string& name, const std::string& event) {
        take();
        return static_cast<std::size_t>(std::count_if(seen_.begin(), seen_.end(), [&](const demo::WorkerEvent& each) {
            return each.worker == name && each.event.value("event", "") == event;
        }));
    }

  private:
    bool has(const std::string& name, const std::string& event) { return count(name, event) != 0; }
    void take() {
        const auto events = at_.network.take_events();
        seen_.insert(seen_.end(), events.begin(), events.end());
    }

    SmallNetwork& at_;
    std::vector<demo::WorkerEvent> seen_{};
};

void play(SmallNetwork& at) {
    Watchers watchers(at);
    watchers.start("early");
    at.expect(watchers.await("early", "join", 200), "where nobody watches, a whistleblower joins");
    watchers.start("late");
    at.network.await_workers(std::chrono::seconds(60));
    at.expect(!watchers.await("late", "join", kBlocksAwaited), "where one watches, another stays out");
    const auto task = at.submit("watched", 80, 64, 3, "");
    at.expect(at.wait(task, TaskState::kSettled) == TaskState::kSettled, "the task is settled");
    at.expect(watchers.await("early", "leave", 200), "it leaves when it has had its part");
    at.expect(watchers.await("late", "join", 200), "then the other joins");
    at.expect(!watchers.await("never", "anything", kBlocksAwaited), "blocks pass");
    at.expect(watchers.count("early", "join") == 1, "who left does not come back");
    const nlohmann::json account{{"account", to_hex(at.network.key("early").account().view())}};
    const std::string balance_text = at.network.rpc().call("account_get", account).at("balance");
    const std::uint64_t balance = std::stoull(balance_text);
    const std::uint64_t least = e2e::kFunds.grains - kFeesAsyMax * e2e::kAsy;
    at.expect(balance >= least && balance <= e2e::kFunds.grains, "its stake is back, less the fees");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: watching BIN\n";
        return 2;
    }
    return e2e::play_in_directory([&](const std::filesystem::path& home) {
        SmallNetwork network(argv[1], home, quick_params(), {"verifier"}, {"early", "late"});
        play(network);
        return network.faults;
    });
}
