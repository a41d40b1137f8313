// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/replay.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/artifacts/hashing.hpp>

namespace assay::worker {
namespace {

std::uint64_t size_bytes(const std::vector<canonical::Tensor>& state) {
    std::uint64_t total = 0;
    for (const auto& tensor : state) {
        total += tensor.data.size();
    }
    return total;
}

}  // namespace

EngineReplay::EngineReplay(
    std::shared_ptr<const TaskArtifacts> artifacts, const dispute::Claim& claim, std::vector<canonical::Tensor> before,
    const engine::EngineOptions& options, std::shared_ptr<const Alteration> alteration, std::uint64_t state_budget_bytes
)
    : artifacts_(std::move(artifacts)),
      claim_(claim),
      runner_(artifacts_, claim.initialisation, options, std::move(alteration)) {
    const std::uint64_t affordable =
        std::max<std::uint64_t>(1, state_budget_bytes / std::max<std::uint64_t>(1, size_bytes(before)));
    stride_ = div_ceil<std::uint64_t>(std::uint64_t{claim.step_count} + 1, affordable);
    if (claim.initialisation) {
        before = artifacts_->initial;
    }
    states_.emplace(claim.first_step, std::move(before));
}

void EngineReplay::set_state(const std::vector<canonical::Tensor>& state) {
    if (!state.empty()) {
        runner_.set_state(state);
    }
}

void EngineReplay::run(std::uint64_t step, const canonical::NodeObserver& observe) {
    ++steps_run_;
    runner_.run(step, observe);
}

bool EngineReplay::is_kept(std::uint64_t step) const { return (step - claim_.first_step) % stride_ == 0; }

const std::vector<canonical::Tensor>* EngineReplay::after_divergence(std::uint64_t step) const {
    return step == *diverged_at_ + 1 ? &after_divergence_ : nullptr;
}

const std::vector<canonical::Tensor>* EngineReplay::state_at(std::uint64_t step) {
    ASSERT(step >= claim_.first_step && step <= claim_.first_step + claim_.step_count);
    if (diverged_at_ && step > *diverged_at_) {
        return after_divergence(step);
    }
    if (const auto found = states_.find(step); found != states_.end()) {
        return &found->second;
    }
    const auto nearest = std::prev(states_.upper_bound(step));
    std::uint64_t at = nearest->first;
    set_state(nearest->second);
    while (at < step) {
        try {
            run(at);
        } catch (const Diverged&) {
            after_divergence_ = runner_.state_after_divergence(at);
            diverged_at_ = at;
            return after_divergence(step);
        }
        ++at;
        if (at < step && is_kept(at)) {
            states_.emplace(at, runner_.state());
        }
    }
    if (passing_) {
        states_.erase(*passing_);
    }
    passing_ = is_kept(step) ? std::nullopt : std::optional(step);
    return &states_.emplace(step, runner_.state()).first->second;
}

Hash256 EngineReplay::state_root_after(std::uint64_t step) {
    if (const auto found = roots_.find(step); found != roots_.end()) {
        return found->second;
    }
    const auto* state = state_at(step + 1);
    return roots_.emplace(step, state != nullptr ? artifacts::state_root_of(*state) : Hash256{}).first->second;
}

const std::vector<canonical::Tensor>& EngineReplay::state_before(std::uint64_t step) {
    const auto* state = state_at(step);
    ASSERT(state != nullptr);
    return *state;
}

std::optional<std::uint64_t> EngineReplay::diverged_at() {
    if (!diverged_at_ && !is_finite_) {
        is_finite_ = state_at(claim_.first_step + claim_.step_count) != nullptr && !diverged_at_;
    }
    return diverged_at_;
}

void EngineReplay::watch(std::uint64_t step, const canonical::NodeObserver& observe) {
    set_state(state_before(step));
    try {
        run(step, observe);
    } catch (const Diverged&) {
        // Every node was computed; only the state after them is none.
    }
}

std::vector<Hash256> EngineReplay::commit_outputs(std::uint64_t step) {
    std::vector<Hash256> commitments;
    watch(step, [&](std::uint32_t, const canonical::Tensor& output) {
        commitments.push_back(artifacts::commit_tensor(output));
        return true;
    });
    ASSERT(commitments.size() + 1 == graph().size());
    return commitments;
}

const canonical::Tensor& EngineReplay::node_output(std::uint64_t step, std::uint32_t node) {
    if (outputs_step_ != step) {
        outputs_.clear();
        outputs_step_ = step;
    }
    if (!outputs_.contains(node)) {
        std::set<std::uint32_t> wanted{node};
        for (const canonical::Input& input : graph()[node].inputs) {
            if (input.source == canonical::Source::kNode) {
                wanted.insert(input.index);
            }
        }
        watch(step, [&](std::uint32_t index, const canonical::Tensor& output) {
            if (wanted.contains(index)) {
                outputs_.emplace(index, output);
            }
            return index < node;
        });
    }
    return outputs_.at(node);
}

}  // namespace assay::worker
