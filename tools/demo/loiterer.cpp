// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/loiterer.hpp>

#include <algorithm>
#include <variant>

#include <tools/demo/story.hpp>

namespace assay::demo {
namespace {

using nlohmann::json;

constexpr const char* kLoitererName = "loiterer";
constexpr Amount kLoitererFunds{10'000'000'000};
constexpr std::size_t kLoitererTasks = 600;
constexpr std::size_t kLeastTasks = 500;

}  // namespace

Loiterer::Loiterer(Network& network) : Outsider(network, {{kLoitererName, kLoitererFunds}}) {}

void Loiterer::buy() {
    bool is_broke = false;
    while (!is_broke && tasks().size() < kLoitererTasks) {
        ++spec_.seed;
        is_broke = !submit_task(kLoitererName, spec_);
    }
}

void Loiterer::prepare(const Packer& pack) {
    spec_ = pack(contracts::Mode::kExact);
    spec_.title = "loiterer";
    spec_.reward = Amount{};
    spec_.verification_fee = least_fee(spec_);
    buy();
}

bool Loiterer::was_drawn(const contracts::TaskId& task) {
    const auto records = history_of(network_, task);
    return std::any_of(records.begin(), records.end(), [](const contracts::HistoryRecord& record) {
        return std::holds_alternative<contracts::history::SolverDrawn>(record.event);
    });
}

void Loiterer::act(const contracts::Task& /*own*/) { buy(); }

json Loiterer::report() {
    std::uint64_t drawn = 0;
    std::uint64_t waiting = 0;
    for (const contracts::TaskId& id : tasks()) {
        const auto task = network_.rpc().task(id);
        drawn += was_drawn(id) ? 1U : 0U;
        waiting += task && task->state == contracts::TaskState::kOpen ? 1U : 0U;
    }
    return {{"submitted", tasks().size()}, {"drawn", drawn}, {"waiting", waiting}};
}

std::vector<std::string> Loiterer::judge(const json& report) const {
    std::vector<std::string> complaints;
    if (report.at("waiting") < kLeastTasks) {
        complaints.emplace_back("fewer than " + std::to_string(kLeastTasks) + " tasks wait, so nothing was tried");
    }
    return complaints;
}

}  // namespace assay::demo
