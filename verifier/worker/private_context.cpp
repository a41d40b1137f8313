// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <core/crypto/random.hpp>
#include <core/sealed/files/open.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/worker/key_desk.hpp>
#include <verifier/worker/private_tasks.hpp>
#include <verifier/worker/worker_context.hpp>

/// The part of a worker's context that is about private tasks.
namespace assay::worker {
namespace {

/// The place of a checkpoint among those of its task.
std::uint32_t index_of(WorkerContext& context, const contracts::Task& task, const contracts::Checkpoint& checkpoint) {
    std::uint32_t index = 0;
    while (index + 1 < task.checkpoints && context.chain.checkpoint(task.id, index).sealed != checkpoint.sealed) {
        ++index;
    }
    return index;
}

/// PRV-7: convicts the solver of a file that is not the checkpoint. Returns what is told of it. What cannot be reported
/// now the key desk reports later.
std::string report_wrong_chunk(
    WorkerContext& context, const contracts::TaskId& id, const contracts::Checkpoint& checkpoint,
    const sealed::WrongChunk& evidence
) {
    const contracts::Task* const task = context.find_private(id);
    if (task == nullptr || task->solver == context.chain.self()) {
        return "the sealed file is not the checkpoint";
    }
    context.privates->note_wrong_chunk(
        {.task = id, .checkpoint = index_of(context, *task, checkpoint), .evidence = evidence}
    );
    const auto sent = send_wrong_chunk(context, *task);
    if (!sent) {
        return "the sealed file is not the checkpoint that this node tells of, and the chain has not proven that it is "
               "its own";
    }
    return std::string("its solver has sealed another state than the checkpoint's") +
           (*sent ? ", and is convicted" : "");
}

}  // namespace

const contracts::Task* WorkerContext::find_private(const contracts::TaskId& task) const {
    for (const auto* tasks : {&chain.tasks(), &chain.kept()}) {
        const auto found = tasks->find(task);
        if (found != tasks->end()) {
            return found->second.spec.privacy ? &found->second : nullptr;
        }
    }
    return nullptr;
}

const artifacts::TaskSecrets* WorkerContext::secrets_of(const contracts::TaskId& task) const {
    return privates == nullptr ? nullptr : privates->secrets(task);
}

bool WorkerContext::is_unreadable(const contracts::Task& task) {
    if (!task.spec.privacy) {
        return false;
    }
    const Standing standing = privates == nullptr ? Standing::kNotShared : privates->share_of(chain, task).standing;
    if (standing == Standing::kReadable) {
        return false;
    }
    if (std::exchange(told[task.id], to_string(standing)) != to_string(standing)) {
        reporter.notice(
            "task " + to_hex(task.id.view()) + ": " + to_string(standing),
            {{"event", "unreadable"}, {"task", to_hex(task.id.view())}, {"reason", to_string(standing)}}
        );
    }
    return true;
}

Result<artifacts::StoredFile, Unavailable> WorkerContext::obtain_sealed(
    const contracts::TaskId& task, const char* what, const artifacts::Reference& file, artifacts::Urgency urgency
) {
    auto found = obtain(task, file, file.size_bytes, urgency);
    if (!found) {
        return Unexpected{not_fetched(what, file, found.error())};
    }
    return *std::move(found);
}

Result<artifacts::StoredFile, artifacts::FetchError> WorkerContext::open_artifact(
    const contracts::Task& task, const artifacts::Reference& artifact, std::uint64_t size_max,
    artifacts::Urgency urgency
) {
    using artifacts::FetchError;
    const contracts::SealedFile* const file = artifacts::sealed_of(task.spec, artifact.name);
    if (artifact.size_bytes > size_max || (file != nullptr && file->size > artifacts::sealed_bytes_of(size_max))) {
        return Unexpected{FetchError::kTooLarge};
    }
    if (file == nullptr || privates == nullptr || is_unreadable(task)) {
        return Unexpected{FetchError::kSealed};
    }
    if (auto opened = privates->store().get(artifact.name)) {
        privates->note(task.id, artifact.name);
        return *std::move(opened);
    }
    TRY_ASSIGN(
        const auto sealed_file, obtain(task.id, artifacts::reference_to(*file, artifact.location), file->size, urgency)
    );
    auto opened = artifacts::open_file(
        sealed_file, privates->secrets(task.id)->of_task, artifacts::artifact_of(*task.spec.privacy, artifact.name),
        file->root, privates->store(), threads_of(options)
    );
    if (opened) {
        privates->note(task.id, artifact.name);
        return *std::move(opened);
    }
    if (opened.error() == sealed::OpenError::kContents) {
        return Unexpected{FetchError::kUnopened};
    }
    artifacts::ContentStore::quarantine(sealed_file);  // our disk has damaged it
    return Unexpected{FetchError::kPending};
}

Result<void, Unavailable> WorkerContext::open_state(
    const TaskArtifacts& artifacts, const contracts::Checkpoint& checkpoint, artifacts::Urgency urgency,
    const sealed::TensorSink& out
) {
    constexpr const char* kName = "the checkpoint";
    const artifacts::TaskSecrets* const secrets = secrets_of(artifacts.task);
    const bool has_key = secrets != nullptr && secrets->of_checkpoints;
    if (!has_key || !checkpoint.sealed) {
        return Unexpected{Unavailable{
            .reason = std::string(kName) + (has_key ? " was posted without a sealed file"
                                                    : " is sealed, and its key is not shared with this account"),
            .defect = Defect::kSealed}};
    }
    const auto wanted = artifacts::reference_to(*checkpoint.sealed, checkpoint.location);
    TRY_ASSIGN(const auto file, obtain_sealed(artifacts.task, kName, wanted, urgency));
    std::array<std::uint8_t, 32> aux{};
    crypto::fill_random(aux);
    const auto types = program::types_of(artifacts.program.state);
    const sealed::StateReader reader{
        .secret = *secrets->of_checkpoints,
        .artifact = artifacts::artifact_of(artifacts.task, checkpoint.state_root),
        .sealed_root = checkpoint.sealed->root,
        .types = types,
        .reporter = chain.self(),
        .aux = aux};
    const auto opened =
        sealed::open_state(artifacts::StoredSource(file), reader, out, {.threads = threads_of(options)});
    if (opened) {
        return {};
    }
    if (const auto* evidence = std::get_if<sealed::WrongChunk>(&opened.error())) {
        return Unexpected{Unavailable{
            .reason = std::string(kName) + ": " + report_wrong_chunk(*this, artifacts.task, checkpoint, *evidence),
            .defect = Defect::kUnopened,
            .artifact = wanted}};
    }
    const auto error = std::get<sealed::OpenError>(opened.error());
    if (error == sealed::OpenError::kTypes || error == sealed::OpenError::kPadding) {
        return Unexpected{Unavailable{
            .reason = std::string(kName) + " has other tensors than the task's program",
            .defect = Defect::kStateOther,
            .artifact = wanted}};
    }
    artifacts::ContentStore::quarantine(file);
    return Unexpected{Unavailable{
        .reason = std::string(kName) + " was damaged on this disk: it is fetched again",
        .defect = Defect::kDamaged,
        .artifact = wanted}};
}

}  // namespace assay::worker
