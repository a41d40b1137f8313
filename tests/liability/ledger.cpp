// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/ledger.hpp>

#include <contracts/tasks/tasks.hpp>

namespace assay::liability {
namespace {

using contracts::TaskState;

/// Whether each checkpoint is what the program gives from the one before. By distance nobody can say so of a native
/// state by its root; an honest solver's states are.
bool is_trained(const model::Task& task, model::Workshop& shop) {
    if (task.checkpoints.empty() || task.checkpoints.front() != shop.start(model::Way::kTruth)) {
        return false;
    }
    for (std::uint32_t i = 1; i < task.checkpoints.size(); ++i) {
        const Hash256 true_end = shop.after(
            model::Way::kTruth, task.checkpoints[i - 1], contracts::first_step(task.spec, i),
            contracts::step_count(task.spec, i)
        );
        if (task.checkpoints[i] != true_end) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::uint64_t wealth(const model::World& world, const AccountId& account) {
    const auto person = world.people.find(account);
    std::uint64_t sum = person == world.people.end() ? 0 : person->second.balance;
    for (const auto& [key, stake] : world.stakes) {
        if (key.second == account) {
            sum += stake.free + stake.locked;
            for (const auto& part : stake.parts) {
                sum += part.amount;
            }
        }
    }
    return sum;
}

std::int64_t Ledger::harm(const model::World& world, model::Workshop& shop) const {
    std::uint64_t sum = 0;
    for (const Slash& slash : slashes) {
        sum += honest.contains(slash.from) ? slash.amount : 0;
    }
    for (const auto& [id, task] : world.tasks) {
        const bool ended_unpaid = task.state == TaskState::kConvicted || task.state == TaskState::kExpired;
        const bool all_posted = task.checkpoints.size() == contracts::segment_count(task.spec) + std::size_t{1};
        if (task.solver && honest.contains(*task.solver) && ended_unpaid && all_posted) {
            sum += task.spec.reward.grains;  // earned, and not paid
        }
        const bool is_exact = task.spec.mode == contracts::Mode::kExact;
        const bool paid_a_stranger = task.state == TaskState::kSettled && task.solver && !honest.contains(*task.solver);
        if (honest.contains(task.submitter) && is_exact && paid_a_stranger && !task.spec.parent &&
            !is_trained(task, shop)) {
            sum += task.spec.reward.grains + task.spec.verification_fee.grains;  // paid for what is not there
        }
    }
    return static_cast<std::int64_t>(sum);
}

}  // namespace assay::liability
