// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/result_keeper.hpp>

#include <algorithm>

#include <contracts/retention/retention.hpp>
#include <core/dispute/player.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::worker {

bool ResultKeeper::show(const contracts::Task& task) {
    const contracts::Checkpoint last = context_.chain.checkpoint(task.id, task.checkpoints - 1);
    const auto state = load_result(task, last, context_.source_of(task.id, artifacts::Urgency::kDuty));
    if (!state) {
        context_.decline(task.id, state.error());
        return false;
    }
    context_.told.erase(task.id);
    const contracts::ShownTile asked = contracts::shown_tile(task);
    const std::uint64_t tiles = canonical::tile_count((*state)[asked.tensor].shape);
    const std::uint32_t number = task.keeping->shows;
    const bool sent = context_.chain.send(
        contracts::ShowResult{.task = task.id, .opening = dispute::open_tile(*state, asked.tensor, asked.number % tiles)}
    );
    if (sent) {
        context_.reporter.event(
            {{"event", "result_shown"},
             {"task", to_hex(task.id.view())},
             {"show", number},
             {"of", task.keeping->shows_due}}
        );
    }
    return sent;
}

bool ResultKeeper::attend() {
    const auto& kept = context_.chain.kept();
    return std::any_of(kept.begin(), kept.end(), [this](const auto& entry) {
        const contracts::Task& task = entry.second;
        return task.keeping && task.keeping->seed && task.deadline.value > context_.chain.height() && show(task);
    });
}

}  // namespace assay::worker
