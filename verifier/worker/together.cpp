// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together.hpp>

#include <verifier/worker/told.hpp>

namespace assay::worker {
namespace {

bool is_together(const contracts::Task& task) { return task.group && task.group->is_together; }

}  // namespace

void Together::attend(const contracts::Task& task) {
    if (!is_together(task)) {
        return;
    }
    const bool is_lead = task.solver == context_.chain.self();
    if (task.state != contracts::TaskState::kTraining) {
        lead_.end(task.id);
        member_.finish(task.id);
    } else if (is_lead && !context_.options.together.empty()) {
        seats_.tend(task, lead_.gone(task.id));
    } else if (const auto artifacts = is_lead ? nullptr : context_.artifacts(task)) {
        member_.serve(task, artifacts);
    }
}

std::optional<TogetherLead::Progress> Together::train(
    const contracts::Task& task, std::uint32_t segment, std::chrono::milliseconds budget
) {
    const bool is_ours = is_together(task) && segment > 0 && task.solver == context_.chain.self();
    if (!is_ours || context_.options.together.empty()) {
        return std::nullopt;
    }
    const auto artifacts = context_.artifacts(task);
    if (!artifacts || task.checkpoints < segment) {
        return TogetherLead::Progress::kWaits;  // what members state is about a state that the chain has
    }
    const auto load = [&] {
        auto state = shelf_.load(*artifacts, segment - 1);
        if (!state) {
            shelf_.drop_damaged(task.id, segment - 1);
        }
        return state;
    };
    return lead_.advance(task, artifacts, segment, load, budget);
}

void Together::forget(const contracts::TaskId& task) {
    lead_.forget(task);
    member_.end(task);
    context_.statements->forget(task);
}

}  // namespace assay::worker
