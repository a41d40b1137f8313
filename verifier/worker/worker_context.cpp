// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/worker_context.hpp>

#include <utility>

namespace assay::worker {
void WorkerContext::want(const contracts::Task& task, artifacts::Urgency urgency) {
    if (materials.contains(task.id) || unusable.contains(task.id)) {
        return;
    }
    for (const auto& [artifact, size_max] : artifacts_of(task.spec)) {
        if (size_max) {
            fetcher.want(task.id, artifact, *size_max, urgency);
        }
    }
}

void WorkerContext::want_checkpoint(const contracts::TaskId& task, const contracts::Checkpoint& checkpoint) {
    if (const auto found = materials.find(task); found != materials.end()) {
        const TaskArtifacts& known = *found->second;
        fetcher.want(
            task, checkpoint.artifact, checkpoint_bytes_max(known), artifacts::Urgency::kDuty,
            expected_state(known, checkpoint.state_root)
        );
    }
}

std::shared_ptr<const TaskArtifacts> WorkerContext::artifacts(const contracts::Task& task, artifacts::Urgency urgency) {
    if (const auto found = materials.find(task.id); found != materials.end()) {
        return found->second;
    }
    if (unusable.contains(task.id)) {
        return nullptr;
    }
    behaviour.note_loading(task.spec);
    want(task, urgency);
    auto loaded = load_task_artifacts(task.id, task.spec, source_of(task.id, urgency));
    if (!loaded) {
        decline(task.id, loaded.error());
        return nullptr;
    }
    told.erase(task.id);
    return materials.emplace(task.id, *std::move(loaded)).first->second;
}

Result<std::vector<canonical::Tensor>, Unavailable> WorkerContext::state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, artifacts::Urgency urgency
) {
    return load_state(artifacts, checkpoint, source_of(artifacts.task, urgency));
}

Result<void, Unavailable> WorkerContext::has_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint
) {
    return check_state(artifacts, checkpoint, source_of(artifacts.task, artifacts::Urgency::kDuty));
}

ArtifactSource WorkerContext::source_of(const contracts::TaskId& task, artifacts::Urgency urgency) {
    return [this, task, urgency](
               const contracts::ArtifactRef& artifact, std::uint64_t size_max,
               const std::shared_ptr<const artifacts::ExpectedState>& state
           ) { return obtain(task, artifact, size_max, urgency, state); };
}

Result<artifacts::StoredFile, artifacts::FetchError> WorkerContext::obtain(
    const contracts::TaskId& task, const contracts::ArtifactRef& artifact, std::uint64_t size_max,
    artifacts::Urgency urgency, const std::shared_ptr<const artifacts::ExpectedState>& state
) {
    using artifacts::FetchError;
    auto file = fetcher.get(task, artifact, size_max, urgency, state);
    const auto open = chain.tasks().find(task);
    const bool may_be_elsewhere = !file && file.error() != FetchError::kPending &&
                                  file.error() != FetchError::kTooLarge && file.error() != FetchError::kNoRoom &&
                                  open != chain.tasks().end() && open->second.checkpoints != 0;
    if (!may_be_elsewhere) {
        return file;
    }
    contracts::ArtifactRef elsewhere = artifact;
    elsewhere.location = chain.checkpoint(task, open->second.checkpoints - 1).artifact.location;
    if (elsewhere.location == artifact.location || elsewhere.location == artifacts_url) {
        return file;
    }
    auto found = fetcher.get(task, elsewhere, size_max, urgency, state);
    return found || found.error() == FetchError::kPending ? std::move(found) : std::move(file);
}

bool WorkerContext::interlude() const {
    if (attend_urgent) {
        attend_urgent();
    }
    return !stop;
}

void WorkerContext::decline(const contracts::TaskId& task, const Unavailable& why) {
    if (why.defect == Defect::kPending) {
        return;
    }
    const char* next = why.is_final ? "; skipping it" : "; trying again";
    if (std::exchange(told[task], why.reason) != why.reason) {
        reporter.trouble("task " + to_hex(task.view()) + ": " + why.reason + next);
    }
    if (why.is_final && unusable.emplace(task, why.reason).second) {
        reporter.event(
            {{"event", "unfit"},
             {"task", to_hex(task.view())},
             {"defect", to_string(why.defect)},
             {"reason", why.reason}}
        );
    }
}

void WorkerContext::forget(const contracts::TaskId& task) {
    materials.erase(task);
    behaviour.forget(task);
    unusable.erase(task);
    told.erase(task);
    fetcher.forget(task);
    std::erase_if(judged, [&](const auto& item) { return item.first.first == task; });
}

Result<std::vector<canonical::Tensor>, Unavailable> load_parents_state(
    WorkerContext& context, const contracts::Task& task, const TaskArtifacts& artifacts
) {
    const contracts::Task parent = context.chain.rpc().task(task.spec.parent.value()).value();
    return context.state(artifacts, context.chain.checkpoint(parent.id, parent.checkpoints - 1));
}

}  // namespace assay::worker
