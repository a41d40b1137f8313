// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/defence_desk.hpp>

#include <contracts/state/members.hpp>

namespace assay::worker {

roles::Burden DefenceDesk::burden_of(const contracts::Task& task, std::uint64_t claims) const {
    return roles::burden_of(context_.chain.params(), task.spec, claims, offers_.measured(task), block_us_);
}

roles::DefenceView DefenceDesk::view_for(const contracts::Task& task, std::uint64_t claims) const {
    const AccountId& self = context_.chain.self();
    roles::DefenceView out;
    out.fixed_us = context_.chain.params().dispute_clock_blocks * block_us_;
    out.offered = burden_of(task, claims);
    out.tasks_at_once = context_.options.tasks_at_once;
    for (const auto& [id, other] : context_.chain.tasks()) {
        const auto pledged = pledged_.find(id);
        const bool may_be_seated = pledged != pledged_.end() && other.state <= contracts::TaskState::kTraining;
        if (id == task.id) {
            continue;
        }
        if (roles::is_answerable(other, self)) {
            out.held.push_back(burden_of(other, roles::claims_of(other, self)));
        } else if (may_be_seated) {
            out.held.push_back(burden_of(other, pledged->second));
        }
    }
    return out;
}

bool DefenceDesk::admits(const contracts::Task& task, std::uint64_t claims) {
    if (const std::uint64_t height = context_.chain.height(); block_us_ == 0 || height != timed_at_) {
        block_us_ = clock_block_us(context_.chain);
        timed_at_ = height;
    }
    const bool is_admitted = roles::may_take(view_for(task, claims));
    if (is_admitted) {
        refused_.erase(task.id);
    } else {
        refused_[task.id] = claims;
    }
    return is_admitted;
}

std::map<contracts::TaskId, std::optional<roles::Offer>> DefenceDesk::refused() const {
    std::map<contracts::TaskId, std::optional<roles::Offer>> out;
    for (const auto& [id, claims] : refused_) {
        const auto task = context_.chain.tasks().find(id);
        if (task != context_.chain.tasks().end() && !roles::may_take(view_for(task->second, claims))) {
            out[id] = roles::Offer::kTooMany;
        }
    }
    return out;
}

void DefenceDesk::forget(const contracts::TaskId& task) {
    pledged_.erase(task);
    refused_.erase(task);
}

}  // namespace assay::worker
