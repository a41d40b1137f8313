// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/baiter.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <contracts/params/work.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kBaiterName = "baiter";
constexpr Amount kBaiterFunds{50'000'000'000};
constexpr std::uint64_t kBaits = 6;
// A step of the demo's model takes a millisecond or more; a block of a tenth of a second is given for hundreds of them.
constexpr std::uint32_t kSteps = 50'000;
// Less than the demo's own task: who declines one is not drawn for others of at most its value (TASK-15).
constexpr Amount kBaiterReward{10'000'000'000};

}  // namespace

Baiter::Baiter(Network& network) : Outsider(network, {{kBaiterName, kBaiterFunds}}) {}

void Baiter::prepare(const Packer& pack) {
    contracts::TaskSpec spec = pack(contracts::Mode::kExact);
    spec.title = "bait";
    spec.steps = kSteps;
    spec.checkpoint_interval = kSteps;
    spec.verification_fee = least_fee(spec);
    spec.training_blocks = static_cast<std::uint32_t>(contracts::training_blocks_min(network_.rpc().params(), spec));
    for (std::uint64_t i = 0; i < kBaits; ++i) {
        spec.seed = i;
        spec.reward = i % 2 == 0 ? Amount{} : kBaiterReward;
        if (!submit_task(kBaiterName, spec)) {
            throw std::runtime_error("a bait was refused");
        }
    }
    // In one block with the demo's own task, whose fee is higher, that would be drawn for first, and its solver asked
    // for nothing else.
    while (!network_.rpc().task(tasks().back())) {
        network_.check_alive();
        network_.rpc().wait_for_block(network_.rpc().height(), std::chrono::seconds(2));
    }
}

void Baiter::act(const contracts::Task& own) {
    if (has_cancelled_ || !is_judged(own)) {
        return;
    }
    has_cancelled_ = true;
    cancel_tasks(kBaiterName);
}

json Baiter::report() { return tally(); }

std::vector<std::string> Baiter::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("accepted") != 0) {
        complaints.emplace_back("a solver accepted a task that nobody can do in time");
    }
    if (report.at("submitted") < kBaits || report.at("drawn") == 0) {
        complaints.emplace_back("no solver was drawn for a bait, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
