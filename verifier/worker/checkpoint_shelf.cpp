// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/checkpoint_shelf.hpp>

#include <string>
#include <utility>

#include <verifier/artifacts/state_io.hpp>

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
    auto state = artifacts::decode_state(artifacts.program, *file, artifacts.frozen_in(index));
    if (!state || artifacts::state_root_of(*state) != stored.state_root) {
        return std::nullopt;
    }
    return *std::move(state);
}

Hash256 CheckpointShelf::keep(
    const TaskArtifacts& artifacts, const std::vector<canonical::Tensor>& state, const artifacts::Leaves& leaves,
    std::uint32_t index, std::optional<std::uint64_t> diverged_at
) {
    const program::Program& program = artifacts.program;
    const Hash256 root = artifacts::root_of_leaves(program::types_of(program.state), leaves);
    const auto [artifact, size_bytes] =
        artifacts::store_state(program, state, leaves, context_.store, artifacts.frozen_in(index));
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
