// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/group_training.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <contracts/state/members.hpp>
#include <core/base/assert.hpp>

namespace assay::worker {

using canonical::Tensor;

namespace {

constexpr std::uint64_t kPatienceBlocks = 20;  // for a checkpoint to be served

/// The first segment of the round of a segment, both from 1 on.
std::uint32_t first_of_round(const plan::Turns& turns, std::uint32_t segment) {
    return (segment - 1) / turns.replicas * turns.replicas + 1;
}

/// The worked tensors become what the replica's turn begins with.
void begin_turn(const plan::Turns& turns, std::uint32_t replica, std::vector<Tensor>& state) {
    for (const auto& [tensor, source] : turns.worked[replica]) {
        state[tensor] = state[source];
    }
}

/// The end of a round: the next common tensors, from a state that has what every replica sends.
bool end_round(
    const TaskArtifacts& artifacts, const plan::Turns& turns, std::uint64_t step, const engine::EngineOptions& options,
    std::vector<Tensor>& state
) {
    plan::PartialGraph part = plan::end_graph(artifacts.program, turns, turns.place_of(step));
    engine::Engine engine(std::move(part.graph), artifacts.dataset, options);
    engine.set_state(part.tensors.size(), [&](std::size_t i) { return state[part.tensors[i]]; });
    if (!engine.run_step({.seed = artifacts.spec.seed, .step = step, .dataset = artifacts.program.dataset})) {
        return false;
    }
    std::vector<Tensor> next = engine.take_state();
    for (std::size_t i = 0; i < next.size(); ++i) {
        state[part.tensors[i]] = std::move(next[i]);
    }
    return true;
}

}  // namespace

const plan::Turns* GroupTraining::turns_of(const contracts::Task& task) {
    auto known = turns_.find(task.id);
    if (known == turns_.end()) {
        const auto artifacts = context_.artifacts(task);
        if (!artifacts) {
            return nullptr;
        }
        auto turns = plan::find_turns(artifacts->program);
        if (turns && turns->steps != task.spec.checkpoint_interval) {
            turns.reset();
        }
        known = turns_.emplace(task.id, std::move(turns)).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<std::uint32_t> GroupTraining::segment_ahead(const contracts::Task& task) {
    const std::uint32_t next = task.checkpoints;
    const plan::Turns* turns = next == 0 ? nullptr : turns_of(task);
    if (turns == nullptr || shelf_.count(task.id) < first_of_round(*turns, next)) {
        return std::nullopt;
    }
    const std::uint32_t end =
        std::min(first_of_round(*turns, next) + turns->replicas, contracts::segment_count(task.spec) + 1);
    for (std::uint32_t segment = next + 1; segment < end; ++segment) {
        const auto& ahead = ahead_[task.id];
        const auto known = ahead.find(segment);
        const bool is_over = known != ahead.end() && known->second.is_finished;
        if (!is_over && contracts::owner_of(task, segment) == context_.chain.self() &&
            contracts::step_count(task.spec, segment) == turns->steps) {
            return segment;
        }
    }
    return std::nullopt;
}

bool GroupTraining::is_ahead(const contracts::TaskId& task, std::uint32_t segment) const {
    const auto ahead = ahead_.find(task);
    return ahead != ahead_.end() && ahead->second.contains(segment);
}

bool GroupTraining::train_ahead(const contracts::Task& task, std::uint32_t segment, std::chrono::milliseconds budget) {
    const plan::Turns* turns = turns_of(task);
    const auto artifacts = context_.artifacts(task);
    if (!artifacts || turns == nullptr) {
        return false;
    }
    Ahead& ahead = ahead_[task.id][segment];
    if (ahead.is_finished) {
        return false;
    }
    if (ahead.trainer == nullptr) {
        const std::uint32_t start = first_of_round(*turns, segment) - 1;
        auto state = shelf_.load(*artifacts, start);
        if (!state) {
            shelf_.drop_damaged(task.id, start);
            ahead_.erase(task.id);
            return false;
        }
        begin_turn(*turns, (segment - 1) % turns->replicas, *state);
        ahead.alteration = context_.behaviour.of_task(context_, artifacts);
        ahead.trainer =
            std::make_unique<Trainer>(artifacts, context_.options.engine, ahead.alteration, segment, *state);
        context_.reporter.event(
            {{"event", "ahead"},
             {"task", to_hex(task.id.view())},
             {"segment", segment},
             {"from", start},
             {"state_bytes", ahead_[task.id].size() * program::size_bytes(artifacts->program.state)}}
        );
    }
    ahead.is_finished = ahead.trainer->advance(budget);
    return true;
}

std::optional<std::vector<Tensor>> GroupTraining::finish(const TaskArtifacts& artifacts, std::uint32_t segment) {
    Ahead& ahead = ahead_.at(artifacts.task).at(segment);
    ASSERT(ahead.is_finished);
    const plan::Turns& turns = turns_.at(artifacts.task).value();
    auto state = ahead.trainer->diverged_at() ? std::nullopt : shelf_.load(artifacts, segment - 1);
    if (state) {
        std::vector<Tensor> after = ahead.trainer->state();
        const std::uint32_t replica = (segment - 1) % turns.replicas;
        for (const std::uint32_t tensor : turns.own[replica]) {
            (*state)[tensor] = std::move(after[tensor]);
        }
        const std::uint64_t last_step = artifacts.first_step(segment) + artifacts.step_count(segment) - 1;
        // Who alters the end of a round makes it in the segment's own step.
        const bool is_altered = ahead.alteration && ahead.alteration->touches(false, last_step);
        if (replica + 1 == turns.replicas &&
            (is_altered || !end_round(artifacts, turns, last_step, context_.options.engine, *state))) {
            state.reset();
        }
        if (state) {
            begin_turn(turns, (replica + 1) % turns.replicas, *state);
        }
    }
    ahead_[artifacts.task].erase(segment);
    return state;
}

bool GroupTraining::fetch(const contracts::Task& task, std::uint32_t index, std::chrono::milliseconds budget) {
    const auto artifacts = context_.artifacts(task);
    if (!artifacts) {
        return false;
    }
    const auto state = context_.state_at(*artifacts, index);
    if (!state) {
        context_.decline(task.id, state.error());
        const std::uint64_t posted_at = context_.chain.checkpoint(task.id, index).height.value;
        const bool is_late = context_.chain.height() >= posted_at + kPatienceBlocks;
        return is_late && recompute(task, artifacts, index, budget);
    }
    recomputed_.erase(task.id);
    shelf_.keep(*artifacts, *state, shelf_.leaves_of(*artifacts, *state), index, std::nullopt);
    context_.reporter.event(
        {{"event", "fetched"},
         {"task", to_hex(task.id.view())},
         {"index", index},
         {"bytes", context_.fetcher.checkpoint_bytes()}}
    );
    return true;
}

// In exact mode everybody can compute what another member posted.
bool GroupTraining::recompute(
    const contracts::Task& task, const std::shared_ptr<const TaskArtifacts>& artifacts, std::uint32_t index,
    std::chrono::milliseconds budget
) {
    std::unique_ptr<Trainer>& trainer = recomputed_[task.id];
    if (trainer == nullptr || trainer->segment() != index) {
        std::optional<std::vector<Tensor>> before;
        if (index > 0 && !(before = shelf_.load(*artifacts, index - 1))) {
            shelf_.drop_damaged(task.id, index - 1);
            return false;
        }
        trainer = std::make_unique<Trainer>(
            artifacts, context_.options.engine, nullptr, index, before.value_or(std::vector<Tensor>{})
        );
        context_.reporter.event({{"event", "recompute"}, {"task", to_hex(task.id.view())}, {"segment", index}});
    }
    if (!trainer->advance(budget)) {
        return true;
    }
    const std::vector<Tensor> state = trainer->state();
    const artifacts::Leaves leaves = shelf_.leaves_of(*artifacts, state);
    const Hash256 root = artifacts::root_of_leaves(program::types_of(artifacts->program.state), leaves);
    if (trainer->diverged_at() || root != context_.chain.checkpoint(task.id, index).state_root) {
        stuck_.insert(task.id);
        context_.reporter.trouble(
            "task " + to_hex(task.id.view()) + ": checkpoint " + std::to_string(index) +
            " is not what its segment leaves, and its state is not to be had: no member can go on from it"
        );
    } else {
        shelf_.keep(*artifacts, state, leaves, index, std::nullopt);
    }
    recomputed_.erase(task.id);
    return true;
}

void GroupTraining::forget(const contracts::TaskId& task) {
    turns_.erase(task);
    ahead_.erase(task);
    recomputed_.erase(task);
    stuck_.erase(task);
}

}  // namespace assay::worker
