// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/worker_context.hpp>

#include <utility>

namespace assay::worker {
namespace {

template <class T>
nlohmann::ordered_json to_json(const std::optional<T>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// What the demo compares with where the dispute ends.
void confess(Reporter& reporter, const TaskArtifacts& artifacts, const Fraud& fraud) {
    if (!fraud.has_place()) {
        reporter.event(
            {{"event", "dishonest"}, {"task", to_hex(artifacts.task.view())}, {"kind", to_string(fraud.kind())}}
        );
        return;
    }
    nlohmann::ordered_json event = {
        {"event", "dishonest"},
        {"task", to_hex(artifacts.task.view())},
        {"kind", to_string(fraud.kind())},
        {"segment", fraud.segment()}};
    if (fraud.kind() == Dishonesty::kWithhold) {
        event["checkpoint"] = fraud.segment();
    } else if (fraud.kind() == Dishonesty::kOptimizer) {
        // Wrong in every segment from here on: which of them is convicted first is not ours to say.
        event["from_step"] = fraud.first_step();
    } else if (fraud.kind() != Dishonesty::kScore) {
        event["step"] = fraud.first_step();
    }
    event["node"] = to_json(fraud.node());
    event["tile"] = to_json(fraud.tile());
    reporter.event(event);
}

}  // namespace

void WorkerContext::want(const contracts::Task& task, artifacts::Urgency urgency) {
    if (materials.contains(task.id) || unusable.contains(task.id)) {
        return;
    }
    for (const contracts::ArtifactRef& artifact : artifacts_of(task.spec)) {
        fetcher.want(task.id, artifact, urgency);
    }
}

std::shared_ptr<const TaskArtifacts> WorkerContext::artifacts(const contracts::Task& task, artifacts::Urgency urgency) {
    if (const auto found = materials.find(task.id); found != materials.end()) {
        return found->second;
    }
    if (unusable.contains(task.id)) {
        return nullptr;
    }
    if (options.dishonesty == Dishonesty::kPrivate) {
        for (const contracts::ArtifactRef& artifact : artifacts_of(task.spec)) {
            withheld.add(artifact.sha256);
        }
    }
    want(task, urgency);
    auto loaded = load_task_artifacts(task.id, task.spec, [&](const contracts::ArtifactRef& artifact) {
        return obtain(task.id, artifact, urgency);
    });
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
    return load_state(artifacts, checkpoint, [&](const contracts::ArtifactRef& artifact) {
        return obtain(artifacts.task, artifact, urgency);
    });
}

Result<Bytes, artifacts::FetchError> WorkerContext::obtain(
    const contracts::TaskId& task, const contracts::ArtifactRef& artifact, artifacts::Urgency urgency
) {
    using artifacts::FetchError;
    auto bytes = fetcher.get(task, artifact, urgency);
    const auto open = chain.tasks().find(task);
    const bool may_be_elsewhere = !bytes && bytes.error() != FetchError::kPending &&
                                  bytes.error() != FetchError::kTooLarge && bytes.error() != FetchError::kNoRoom &&
                                  open != chain.tasks().end() && open->second.checkpoints != 0;
    if (!may_be_elsewhere) {
        return bytes;
    }
    contracts::ArtifactRef elsewhere = artifact;
    elsewhere.location = chain.checkpoint(task, open->second.checkpoints - 1).artifact.location;
    if (elsewhere.location == artifact.location || elsewhere.location == artifacts_url) {
        return bytes;
    }
    auto found = fetcher.get(task, elsewhere, urgency);
    return found || found.error() == FetchError::kPending ? std::move(found) : std::move(bytes);
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

std::shared_ptr<const Fraud> WorkerContext::fraud(const std::shared_ptr<const TaskArtifacts>& artifacts) {
    if (options.dishonesty == Dishonesty::kNone) {
        return nullptr;
    }
    if (const auto found = frauds.find(artifacts->task); found != frauds.end()) {
        return found->second;
    }
    auto made =
        std::make_shared<const Fraud>(options.dishonesty, artifacts, options.dishonest_step, options.dishonest_node);
    confess(reporter, *artifacts, *made);
    return frauds.emplace(artifacts->task, std::move(made)).first->second;
}

std::shared_ptr<const Fraud> WorkerContext::measuring_fraud(
    const std::shared_ptr<const TaskArtifacts>& measuring, Dishonesty kind
) const {
    return options.dishonesty == kind ? std::make_shared<const Fraud>(Fraud::overstating(measuring)) : nullptr;
}

std::shared_ptr<const Fraud> WorkerContext::scoring_fraud(const std::shared_ptr<const TaskArtifacts>& evaluating
) const {
    const bool lies = options.dishonesty == Dishonesty::kScore;
    return lies ? std::make_shared<const Fraud>(Fraud::flattering(evaluating)) : nullptr;
}

void WorkerContext::forget(const contracts::TaskId& task) {
    materials.erase(task);
    frauds.erase(task);
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
