// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/checkpoint_poster.hpp>

#include <string>

#include <contracts/state/members.hpp>

namespace assay::worker {

std::uint64_t turn_end(WorkerContext& context, const contracts::Task& task) {
    const std::uint64_t began = task.checkpoints == 0
                                    ? task.deadline.value - task.spec.training_blocks
                                    : context.chain.checkpoint(task.id, task.checkpoints - 1).height.value;
    return began + contracts::turn_blocks(task);
}

Patience CheckpointPoster::patience_of(const contracts::Task& task) {
    if (task.group) {
        return patience_at(context_.chain.height(), turn_end(context_, task), contracts::turn_blocks(task), 1);
    }
    const std::uint32_t after = contracts::segment_count(task.spec) + 1 - task.checkpoints;
    return patience_at(context_.chain.height(), task.deadline.value, task.spec.training_blocks, after);
}

std::optional<std::string> CheckpointPoster::publish(
    const contracts::Task& task, const Journal::StoredCheckpoint& stored
) {
    return context_.publisher == nullptr ? std::optional(std::string())
                                         : context_.publisher->publish(stored.artifact, patience_of(task));
}

bool CheckpointPoster::is_publishing(const contracts::Task& task) {
    const auto& stored = context_.journal.checkpoints(task.id);
    const bool is_next = task.state == contracts::TaskState::kTraining && task.checkpoints < stored.size();
    return is_next && !stored.back().diverged_at && !publish(task, stored[task.checkpoints]);
}

std::optional<contracts::SealedFile> sealed_file(const contracts::Task& task, const Journal::StoredCheckpoint& stored) {
    if (!task.spec.privacy) {
        return std::nullopt;
    }
    return contracts::SealedFile{.root = stored.artifact, .size = stored.size_bytes};
}

bool CheckpointPoster::post(const contracts::Task& task, std::uint32_t index) {
    const Journal::StoredCheckpoint stored = context_.journal.checkpoints(task.id)[index];
    const auto published = publish(task, stored);
    if (!published) {
        return false;  // posted when it is where it is said to be
    }
    const bool posted = context_.chain.send(contracts::PostCheckpoint{
        .task = task.id,
        .index = index,
        .state_root = stored.state_root,
        .location = context_.artifacts_url + (published->empty() ? "" : " " + *published),
        .environment = context_.options.environment,
        .sealed = sealed_file(task, stored)});
    if (!posted) {
        return false;
    }
    nlohmann::ordered_json event = {
        {"event", "checkpoint"},
        {"task", to_hex(task.id.view())},
        {"index", index},
        {"state_root", to_hex(stored.state_root.view())},
        {"artifact", to_hex(stored.artifact.view())},
        {"size_bytes", stored.size_bytes}};
    if (context_.publisher != nullptr) {
        const std::uint32_t copies = context_.publisher->copies(stored.artifact);
        event["copies"] = copies;
        if (copies < context_.publisher->copies_wanted()) {
            context_.reporter.trouble(
                "checkpoint " + std::to_string(index) + " of task " + to_hex(task.id.view()) + " lies in " +
                std::to_string(copies) + " stores instead of " + std::to_string(context_.publisher->copies_wanted()) +
                ": its deadline did not leave time to wait for more"
            );
        }
    }
    context_.reporter.event(event);
    return true;
}

}  // namespace assay::worker
