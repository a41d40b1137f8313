// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/checkpoint_shelf.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include <core/sealed/files/open.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/state_io.hpp>
#include <verifier/worker/private_tasks.hpp>

namespace assay::worker {

std::uint32_t CheckpointShelf::count(const contracts::TaskId& task) const {
    return static_cast<std::uint32_t>(context_.journal.checkpoints(task).size());
}

std::optional<std::vector<canonical::Tensor>> CheckpointShelf::load(const TaskArtifacts& artifacts, std::uint32_t index)
    const {
    const Journal::StoredCheckpoint stored = context_.journal.checkpoints(artifacts.task)[index];
    const auto file = context_.store.open(stored.artifact);
    if (!file) {
        return std::nullopt;
    }
    if (artifacts.spec.privacy) {
        return open(artifacts, stored, *file);
    }
    auto state = artifacts::decode_state(artifacts.program, *file, artifacts.frozen_in(index));
    if (!state || artifacts::state_root_of(*state) != stored.state_root) {
        return std::nullopt;
    }
    return *std::move(state);
}

std::optional<std::vector<canonical::Tensor>> CheckpointShelf::open(
    const TaskArtifacts& artifacts, const Journal::StoredCheckpoint& stored, const artifacts::StoredFile& file
) const {
    const artifacts::TaskSecrets* const secrets = context_.secrets_of(artifacts.task);
    if (secrets == nullptr || !secrets->of_checkpoints) {
        return std::nullopt;
    }
    const auto types = program::types_of(artifacts.program.state);
    auto state = sealed::open_state(
        artifacts::StoredSource(file),
        {.secret = *secrets->of_checkpoints,
         .artifact = artifacts::artifact_of(artifacts.task, stored.state_root),
         .sealed_root = stored.artifact,
         .types = types,
         .reporter = context_.chain.self()},
        {.threads = threads_of(context_.options)}
    );
    return state ? std::optional(*std::move(state)) : std::nullopt;
}

contracts::SealedFile CheckpointShelf::seal(
    const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const Hash256& root,
    std::uint32_t index
) {
    const artifacts::TaskSecrets* const secrets = context_.secrets_of(artifacts.task);
    if (secrets == nullptr || !secrets->of_checkpoints) {
        throw std::runtime_error("the task's keys are not shared with this account any more");
    }
    const auto began = std::chrono::steady_clock::now();
    const auto file = artifacts::seal_checkpoint(
        state, *secrets->of_checkpoints, artifacts::artifact_of(artifacts.task, root), context_.store,
        threads_of(context_.options)
    );
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    context_.reporter.event(
        {{"event", "sealed"},
         {"task", to_hex(artifacts.task.view())},
         {"index", index},
         {"size_bytes", file.size},
         {"seconds", spent.count()}}
    );
    return context_.behaviour.sealed(context_, artifacts.task, index, file);
}

artifacts::ContentStore::Entry CheckpointShelf::store(
    const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const artifacts::Leaves& leaves,
    std::uint32_t index
) {
    if (artifacts.spec.privacy) {
        const Hash256 root = artifacts::root_of_leaves(program::types_of(artifacts.program.state), leaves);
        const contracts::SealedFile file = seal(artifacts, state, root, index);
        return {file.root, file.size};
    }
    return artifacts::store_state(artifacts.program, state, leaves, context_.store, artifacts.frozen_in(index));
}

Hash256 CheckpointShelf::keep(
    const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const artifacts::Leaves& leaves,
    std::uint32_t index, std::optional<std::uint64_t> diverged_at
) {
    const Hash256 root = artifacts::root_of_leaves(program::types_of(artifacts.program.state), leaves);
    const auto [artifact, size_bytes] = store(artifacts, state, leaves, index);
    context_.fetcher.note_own(artifacts.task, artifact);
    context_.journal.add_checkpoint(
        artifacts.task, {.state_root = root, .artifact = artifact, .size_bytes = size_bytes, .diverged_at = diverged_at}
    );
    return root;
}

artifacts::Leaves CheckpointShelf::leaves_of(
    const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state
) {
    artifacts::Leaves& known = frozen_leaves_[artifacts.task];
    artifacts::Leaves out = artifacts::leaves_of(state, known);
    const artifacts::Frozen frozen = artifacts.frozen_in(1);  // as in any but the first and the last
    known.resize(state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (frozen.has(i)) {
            known[i] = out[i];
        }
    }
    return out;
}

void CheckpointShelf::drop_damaged(const contracts::TaskId& task, std::uint32_t index) {
    context_.reporter.trouble("checkpoint " + std::to_string(index) + " is damaged on disk: making it again");
    context_.journal.cut_checkpoints(task, index);
}

}  // namespace assay::worker
