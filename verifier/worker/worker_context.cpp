// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/worker_context.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <contracts/state/members.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/worker/private_tasks.hpp>

namespace assay::worker {
namespace {

constexpr std::uint32_t kParserTries = 3;

bool suffices(const TaskArtifacts& artifacts, std::optional<std::uint32_t> segment) {
    return segment ? artifacts.covers(*segment) : !artifacts.segments.has_value();
}

/// Other locations at which `artifact` may be as well: those of the task's latest checkpoints (AVL-9).
std::vector<artifacts::Reference> elsewhere_of(
    const WorkerContext& context, const contracts::TaskId& task, const artifacts::Reference& artifact
) {
    std::vector<artifacts::Reference> out;
    const auto open = context.chain.tasks().find(task);
    if (open == context.chain.tasks().end()) {
        return out;
    }
    std::set<std::string> known{artifact.location, context.artifacts_url};
    for (const std::uint32_t index : contracts::latest_checkpoints(open->second)) {
        artifacts::Reference elsewhere = artifact;
        elsewhere.location = context.chain.checkpoint(task, index).location;
        if (known.insert(elsewhere.location).second) {
            out.push_back(std::move(elsewhere));
        }
    }
    return out;
}

/// Asks at the reference's location, and if that has failed elsewhere.
template <typename Get>
auto get_anywhere(
    const WorkerContext& context, const contracts::TaskId& task, const artifacts::Reference& artifact, const Get& get
) {
    using artifacts::FetchError;
    auto file = get(artifact);
    if (file || file.error() == FetchError::kPending || file.error() == FetchError::kTooLarge ||
        file.error() == FetchError::kNoRoom) {
        return file;
    }
    for (const artifacts::Reference& elsewhere : elsewhere_of(context, task, artifact)) {
        auto found = get(elsewhere);
        if (found || found.error() == FetchError::kPending) {
            return found;
        }
    }
    return file;
}

}  // namespace

void WorkerContext::want(
    const contracts::Task& task, artifacts::Urgency urgency, std::optional<std::uint32_t> segment
) {
    const auto known = materials.find(task.id);
    if ((known != materials.end() && suffices(*known->second, segment)) || unusable.contains(task.id)) {
        return;
    }
    const auto request = segment && !task.spec.privacy ? chunks_of_segment(task.spec, *segment) : nullptr;
    for (const auto& [artifact, size_max] : artifacts_of(task.spec)) {
        if (const contracts::SealedFile* const sealed = artifacts::sealed_of(task.spec, artifact.sha256)) {
            const std::uint64_t most = size_max ? artifacts::sealed_bytes_of(*size_max) : sealed->size;
            fetcher.want(task.id, artifacts::reference_to(*sealed, artifact.location), most, urgency);
            continue;
        }
        if (request && artifact == task.spec.dataset_artifact) {
            fetcher.want_chunks(task.id, artifacts::reference_to(artifact), urgency, request);
        } else if (size_max) {
            fetcher.want(task.id, artifacts::reference_to(artifact), *size_max, urgency);
        }
    }
}

void WorkerContext::want_state(
    const contracts::TaskId& task, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen
) {
    if (checkpoint.sealed) {
        const auto wanted = artifacts::reference_to(*checkpoint.sealed, checkpoint.location);
        fetcher.want(task, wanted, wanted.size_bytes, artifacts::Urgency::kDuty);
    } else if (const auto found = materials.find(task); found != materials.end()) {
        const artifacts::Reference wanted = reference_to(*found->second, checkpoint, frozen);
        fetcher.want(task, wanted, wanted.size_bytes, artifacts::Urgency::kDuty);
    }
}

void WorkerContext::want_checkpoint(const contracts::TaskId& task, std::uint32_t index) {
    if (const contracts::Checkpoint& checkpoint = chain.checkpoint(task, index); checkpoint.sealed) {
        want_state(task, checkpoint);
    } else if (const auto found = materials.find(task); found != materials.end()) {
        want_state(task, checkpoint, found->second->frozen_in(index));
    }
}

std::shared_ptr<const TaskArtifacts> WorkerContext::artifacts(
    const contracts::Task& task, artifacts::Urgency urgency, std::optional<std::uint32_t> segment
) {
    const auto known = materials.find(task.id);
    if (known != materials.end() && suffices(*known->second, segment)) {
        return known->second;
    }
    if (unusable.contains(task.id)) {
        return nullptr;
    }
    if (is_unreadable(task)) {
        return nullptr;
    }
    behaviour.note_loading(task.spec);
    want(task, urgency, segment);
    std::optional<SegmentPart> part;
    if (segment && !task.spec.privacy) {
        part = SegmentPart{
            .segment = *segment,
            .source = [this, &task, urgency](
                          const artifacts::Reference& artifact,
                          const std::shared_ptr<const artifacts::ChunkRequest>& request
                      ) { return obtain_chunks(task.id, artifact, urgency, request); }};
    }
    const auto start = task.spec.parent ? std::optional(start_of(task)) : std::nullopt;
    const auto loaded = load_task_artifacts(task.id, task.spec, source_of(task.id, urgency), part, start);
    if (!loaded) {
        decline(task.id, explain(task, loaded.error()));
        return nullptr;
    }
    told.erase(task.id);
    return materials.insert_or_assign(task.id, keep(*loaded)).first->second;
}

contracts::Checkpoint WorkerContext::start_of(const contracts::Task& task) {
    if (task.checkpoints > 0) {
        return chain.checkpoint(task.id, 0);
    }
    const contracts::Task parent = chain.rpc().task(task.spec.parent.value()).value();
    return chain.checkpoint(parent.id, parent.checkpoints - 1);
}

Unavailable WorkerContext::explain(const contracts::Task& task, Unavailable why) {
    const bool is_of_state = why.artifact && why.artifact->state;
    if (!task.spec.parent || !is_of_state || why.defect != Defect::kUnreachable) {
        return why;
    }
    const contracts::TaskSpec parent = chain.rpc().task(*task.spec.parent).value().spec;
    const auto file = obtain(
        task.id, artifacts::reference_to(parent.program_artifact), artifacts::kMaxProgramBytes,
        artifacts::Urgency::kDuty
    );
    if (!file) {
        return why;
    }
    const auto program = artifacts::decode_foreign_program(*file);
    if (!program || artifacts::commit_program(*program, parent.program.initial_root) != parent.program ||
        program->state == why.artifact->state->tensors) {
        return why;
    }
    return {
        .is_final = true,
        .reason = "the state of the task's parent has other tensors than the task's program",
        .defect = Defect::kStartOther};
}

std::shared_ptr<const TaskArtifacts> WorkerContext::keep(const std::shared_ptr<const TaskArtifacts>& loaded) {
    const std::uint64_t size_bytes = canonical::byte_count(loaded->spec.program.dataset);
    if (loaded->spec.privacy) {
        return loaded;  // nobody is served from it
    }
    if (!loaded->segments) {
        fetcher.keep_chunk_leaves(loaded->spec.dataset_artifact.sha256, loaded->dataset_tree);
        return loaded;
    }
    reporter.event(
        {{"event", "dataset"},
         {"task", to_hex(loaded->task.view())},
         {"segment", *loaded->segments->begin()},
         {"bytes", loaded->part_bytes},
         {"of", size_bytes}}
    );
    const auto known = materials.find(loaded->task);
    if (known == materials.end() || !known->second->segments) {
        return loaded;
    }
    auto more = std::make_shared<TaskArtifacts>(*loaded);
    more->segments->insert(known->second->segments->begin(), known->second->segments->end());
    return more;
}

Result<std::vector<canonical::Tensor>, Unavailable> WorkerContext::state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen,
    artifacts::Urgency urgency
) {
    if (artifacts.spec.privacy) {
        std::vector<canonical::Tensor> out;
        TRY(open_state(artifacts, checkpoint, urgency, [&out](std::uint32_t /*index*/, canonical::Tensor tensor) {
            out.push_back(std::move(tensor));
        }));
        return out;
    }
    return load_state(artifacts, checkpoint, frozen, source_of(artifacts.task, urgency));
}

Result<std::vector<canonical::Tensor>, Unavailable> WorkerContext::state_at(
    const TaskArtifacts& artifacts, std::uint32_t index, artifacts::Urgency urgency
) {
    return state(artifacts, chain.checkpoint(artifacts.task, index), artifacts.frozen_in(index), urgency);
}

Result<void, Unavailable> WorkerContext::has_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, const artifacts::Frozen& frozen
) {
    if (artifacts.spec.privacy) {
        const auto opened = open_state(
            artifacts, checkpoint, artifacts::Urgency::kDuty,
            [](std::uint32_t /*index*/, const canonical::Tensor& /*tensor*/) {}
        );
        // A state of other tensors needs no seal to be refuted: no replay has its root.
        return opened || opened.error().defect != Defect::kStateOther ? opened : Result<void, Unavailable>();
    }
    return check_state(artifacts, checkpoint, frozen, source_of(artifacts.task, artifacts::Urgency::kDuty));
}

std::uint32_t WorkerContext::failures(const TaskArtifacts& artifacts, std::uint32_t index) {
    const contracts::Checkpoint& checkpoint = chain.checkpoint(artifacts.task, index);
    return fetcher.failures(
        checkpoint.sealed ? artifacts::reference_to(*checkpoint.sealed, checkpoint.location)
                          : reference_to(artifacts, checkpoint, artifacts.frozen_in(index))
    );
}

ArtifactSource WorkerContext::source_of(const contracts::TaskId& task, artifacts::Urgency urgency) {
    return [this, task, urgency](const artifacts::Reference& artifact, std::uint64_t size_max) {
        return obtain(task, artifact, size_max, urgency);
    };
}

Result<artifacts::StoredFile, artifacts::FetchError> WorkerContext::obtain(
    const contracts::TaskId& task, const artifacts::Reference& artifact, std::uint64_t size_max,
    artifacts::Urgency urgency
) {
    if (const contracts::Task* const record = artifact.is_sealed ? nullptr : find_private(task)) {
        return open_artifact(*record, artifact, size_max, urgency);
    }
    return get_anywhere(*this, task, artifact, [&](const artifacts::Reference& place) {
        return fetcher.get(task, place, size_max, urgency);
    });
}

Result<artifacts::DatasetFile, artifacts::FetchError> WorkerContext::obtain_chunks(
    const contracts::TaskId& task, const artifacts::Reference& artifact, artifacts::Urgency urgency,
    const std::shared_ptr<const artifacts::ChunkRequest>& request
) {
    return get_anywhere(*this, task, artifact, [&](const artifacts::Reference& place) {
        return fetcher.get_chunks(task, place, urgency, request);
    });
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
    // A parser that is always too slow must not keep the worker from everything else.
    const bool is_hopeless = why.defect == Defect::kParser && !why.is_final && ++stopped_parsers[task] >= kParserTries;
    const bool is_final = why.is_final || is_hopeless;
    const char* next = is_final ? "; skipping it" : "; trying again";
    if (std::exchange(told[task], why.reason) != why.reason) {
        reporter.trouble("task " + to_hex(task.view()) + ": " + why.reason + next);
    }
    if (is_final && unusable.emplace(task, why.reason).second) {
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
    stopped_parsers.erase(task);
    fetcher.forget(task);
    if (privates != nullptr) {
        privates->forget(task);
    }
    std::erase_if(judged, [&](const auto& item) { return item.first.first == task; });
    std::erase_if(checked, [&](const auto& item) { return item.first.first == task; });
}

Result<std::vector<canonical::Tensor>, Unavailable> load_parents_state(
    WorkerContext& context, const contracts::Task& task, const TaskArtifacts& artifacts
) {
    auto state = context.state(artifacts, context.start_of(task));
    if (!state) {
        return Unexpected{context.explain(task, state.error())};
    }
    return *std::move(state);
}

}  // namespace assay::worker
