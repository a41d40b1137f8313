// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/replay.hpp>

#include <algorithm>
#include <stdexcept>

#include <core/base/assert.hpp>
#include <core/base/integers.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/worker/output_observers.hpp>

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

namespace {

// A dispute is played by one machine: its steps are watched.
engine::EngineOptions without_cell(engine::EngineOptions options) {
    options.cell.reset();
    return options;
}

}  // namespace

EngineReplay::EngineReplay(
    std::shared_ptr<const TaskArtifacts> artifacts, const dispute::Claim& claim, std::vector<canonical::Tensor> before,
    const engine::EngineOptions& options, const Storage& storage, std::shared_ptr<const Alteration> alteration
)
    : artifacts_(std::move(artifacts)),
      claim_(claim),
      graph_(claim.initialisation ? artifacts_->program.init : artifacts_->program.step),
      storage_(storage),
      options_(without_cell(options)),
      alteration_(std::move(alteration)),
      at_(claim.first_step) {
    const std::vector<canonical::Tensor>& first = claim.initialisation ? artifacts_->initial : before;
    const std::uint64_t affordable =
        std::max<std::uint64_t>(1, storage.budget_bytes / std::max<std::uint64_t>(1, size_bytes(first)));
    stride_ = div_ceil<std::uint64_t>(std::uint64_t{claim.step_count} + 1, affordable);
    states_.emplace(claim.first_step, artifacts::SpilledState(storage_.directory, first.size(), [&](std::size_t i) {
                        return first[i];
                    }));
    runner_.emplace(artifacts_, claim_.initialisation, options_, alteration_).set_state(first);
    before = {};
}

// The engine, with the state before the step `at_`.
Runner& EngineReplay::runner() {
    if (!runner_) {
        const artifacts::SpilledState& state = states_.at(at_);
        runner_.emplace(artifacts_, claim_.initialisation, options_, alteration_);
        runner_->set_state(state.size(), [&](std::size_t i) { return state.load(i); });
    }
    return *runner_;
}

void EngineReplay::rest() {
    if (runner_) {
        if (!states_.contains(at_)) {
            pass(at_);
            spill();
        }
        runner_.reset();
    }
}

bool EngineReplay::advance(engine::OutputObserver* observer) {
    if (storage_.between_steps) {
        storage_.between_steps();
    }
    if (storage_.stop != nullptr && *storage_.stop) {
        throw std::runtime_error("the replay was stopped");
    }
    ++steps_run_;
    try {
        runner().run(at_, observer);
    } catch (const Diverged&) {
        if (!diverged_at_) {
            const std::vector<canonical::Tensor> after = runner().state_after_divergence(at_);
            after_divergence_.emplace(storage_.directory, after.size(), [&](std::size_t i) { return after[i]; });
            diverged_at_ = at_;
        }
        return false;
    }
    if (observer == nullptr || !observer->is_done()) {
        ++at_;
    }
    return true;
}

bool EngineReplay::is_kept(std::uint64_t step) const { return (step - claim_.first_step) % stride_ == 0; }

void EngineReplay::spill() {
    const Runner& from = runner();
    states_.try_emplace(at_, storage_.directory, from.state_size(), [&](std::size_t i) { return from.tensor(i); });
}

// Keeps the state before `step` until two others have been asked for, unless it is kept in any case.
void EngineReplay::pass(std::uint64_t step) {
    if (is_kept(step)) {
        return;
    }
    passing_.push_back(step);
    if (passing_.size() > 2) {
        states_.erase(passing_.front());
        passing_.pop_front();
    }
}

bool EngineReplay::bring_to(std::uint64_t step) {
    ASSERT(step >= claim_.first_step && step <= claim_.first_step + claim_.step_count);
    if (diverged_at_ && step > *diverged_at_) {
        return false;
    }
    const auto nearest = std::prev(states_.upper_bound(step));
    if (at_ > step || nearest->first > at_) {
        const artifacts::SpilledState& state = nearest->second;
        at_ = nearest->first;
        if (runner_) {
            runner_->set_state(state.size(), [&](std::size_t i) { return state.load(i); });
        }
    }
    while (at_ < step) {
        if (!advance()) {
            return false;
        }
        if (at_ < step && is_kept(at_)) {
            spill();
        }
    }
    return true;
}

const artifacts::SpilledState* EngineReplay::spilled(std::uint64_t step) {
    if (const auto found = states_.find(step); found != states_.end()) {
        return &found->second;
    }
    if (!bring_to(step)) {
        return step == *diverged_at_ + 1 ? &*after_divergence_ : nullptr;
    }
    pass(step);
    spill();
    return &states_.at(step);
}

Hash256 EngineReplay::state_root_after(std::uint64_t step) {
    if (const auto found = roots_.find(step); found != roots_.end()) {
        return found->second;
    }
    Hash256 root;
    if (const auto kept = states_.find(step + 1); kept != states_.end()) {
        root = artifacts::state_root_of(kept->second.size(), [&](std::size_t i) { return kept->second.load(i); });
    } else if (bring_to(step + 1)) {
        root = runner().state_root();
    } else if (step == *diverged_at_) {
        root = artifacts::state_root_of(after_divergence_->size(), [&](std::size_t i) {
            return after_divergence_->load(i);
        });
    }
    return roots_.emplace(step, root).first->second;
}

std::size_t EngineReplay::state_size(std::uint64_t step) {
    const artifacts::SpilledState* state = spilled(step);
    ASSERT(state != nullptr);
    return state->size();
}

const canonical::Tensor& EngineReplay::state_tensor(std::uint64_t step, std::uint32_t index) {
    if (loaded_at_ != std::pair{step, index}) {
        const artifacts::SpilledState* state = spilled(step);
        ASSERT(state != nullptr);
        loaded_ = {};
        loaded_ = state->load(index);
        loaded_at_ = {step, index};
    }
    return loaded_;
}

std::optional<std::uint64_t> EngineReplay::diverged_at() {
    if (!diverged_at_ && !is_finite_) {
        is_finite_ = bring_to(claim_.first_step + claim_.step_count);
    }
    return diverged_at_;
}

void EngineReplay::watch(std::uint64_t step, engine::OutputObserver& observer) {
    spilled(step);  // to return to
    const bool is_there = bring_to(step);
    ASSERT(is_there);
    // If the step diverges, every node was computed; only the state after them is none.
    static_cast<void>(advance(&observer));
}

std::vector<Hash256> EngineReplay::commit_outputs(std::uint64_t step) {
    OutputCommitments commitments(graph());
    watch(step, commitments);
    return commitments.take();
}

void EngineReplay::collect(std::uint64_t step, const std::set<std::uint32_t>& nodes) {
    outputs_.clear();
    outputs_step_ = step;
    CollectedOutputs collected(graph(), nodes);
    watch(step, collected);
    outputs_ = std::move(collected.outputs());
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
        std::erase_if(wanted, [&](std::uint32_t each) { return outputs_.contains(each); });
        CollectedOutputs collected(graph(), wanted);
        watch(step, collected);
        outputs_.merge(collected.outputs());
    }
    return outputs_.at(node);
}

}  // namespace assay::worker
