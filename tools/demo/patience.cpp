// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/patience.hpp>

#include <stdexcept>
#include <thread>

namespace assay::demo {
namespace {

constexpr std::uint64_t kDrawBlocks = 300;  // to be drawn again, to try a step and to accept

bool has_no_solver(const Act& act) {
    return act.state == contracts::TaskState::kOpen || act.state == contracts::TaskState::kDrawn;
}

}  // namespace

Patience::Patience(const DemoOptions& options, const Workload& workload, Network& network, Narrator& narrator)
    : options_(options), workload_(workload), network_(network), narrator_(narrator) {}

double Patience::elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Patience::hear(const WorkerEvent& heard, const std::vector<Act>& acts) {
    const std::string kind = heard.event.value("event", "");
    const std::string reason = heard.event.value("reason", "");
    for (const Act& act : acts) {
        const bool is_own =
            heard.worker == act.solver && heard.event.value("task", "") == to_hex(act.story->task().view());
        if (is_own && (kind == "declined" || kind == "decline") && !reason.empty()) {
            reasons_[act.solver] = reason;
        }
        if (is_own && kind == "decline" && declined_.emplace(act.solver, network_.rpc().height()).second) {
            narrator_.plain("  " + act.solver + " has declined the " + act.story->label() + reason_of(act.solver));
        }
    }
}

void Patience::check(const std::vector<Act>& acts) {
    if (std::chrono::steady_clock::now() - started_ > workload_.patience) {
        throw std::runtime_error(
            "the tasks have not ended within " + std::to_string(workload_.patience.count()) + " minutes"
        );
    }
    for (const Act& act : acts) {
        const auto declined = declined_.find(act.solver);
        if (declined == declined_.end() || !has_no_solver(act)) {
            continue;
        }
        const std::uint64_t until = declined->second.value + network_.rpc().params().decline_blocks + kDrawBlocks;
        if (network_.rpc().height().value > until) {
            throw std::runtime_error(
                "the " + act.story->label() + " has no solver: " + act.solver + " has declined it" +
                reason_of(act.solver)
            );
        }
    }
}

std::string Patience::reason_of(const std::string& solver) const {
    const std::string log = network_.worker_log(solver).string();
    const auto reason = reasons_.find(solver);
    if (reason != reasons_.end()) {
        return " (" + reason->second + "); its log is " + log;
    }
    return "; " + log + " says why" + advice_on_decline(options_, std::thread::hardware_concurrency());
}

std::string advice_on_decline(const DemoOptions& options, std::uint32_t cores) {
    if (options.workers == 1) {
        return "";
    }
    return ". " + std::to_string(options.workers) + " workers on " + std::to_string(cores) +
           (cores == 1 ? " core" : " cores") + " may be too many to begin a session in time: give fewer --workers";
}

}  // namespace assay::demo
