// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/trainer.hpp>

#include <utility>

namespace assay::worker {

using Clock = std::chrono::steady_clock;

namespace {

// Native training is one machine's: a cell would wait for the whole task.
engine::EngineOptions options_for(const contracts::TaskSpec& spec, engine::EngineOptions options) {
    if (spec.mode == contracts::Mode::kTolerance) {
        options.cell.reset();
    }
    return options;
}

}  // namespace

Trainer::Trainer(
    std::shared_ptr<const TaskArtifacts> artifacts, const engine::EngineOptions& options,
    std::shared_ptr<const Alteration> alteration, std::uint32_t segment, const std::vector<canonical::Tensor>& state
)
    : artifacts_(std::move(artifacts)),
      options_(options_for(artifacts_->spec, options)),
      alteration_(std::move(alteration)),
      segment_(segment),
      step_(segment == 0 ? 0 : artifacts_->first_step(segment)),
      runner_(std::make_unique<Runner>(artifacts_, segment == 0, options_, alteration_)) {
    if (segment != 0) {
        runner_->set_state(state);
        begin_natively(state);
    }
}

void Trainer::begin_natively(const std::vector<canonical::Tensor>& state) {
    const bool is_altered = alteration_ && alteration_->alters_training();
    if (artifacts_->spec.mode != contracts::Mode::kTolerance || is_altered) {
        return;
    }
    engine::NativeOptions options;
    options.device = options_.device;
    options.threads = options_.threads;
    native_ = std::make_unique<engine::NativeEngine>(artifacts_->program.step, artifacts_->dataset, options);
    native_->keep(artifacts_->program.loss_node);
    native_->set_state(state);
    before_ = state;
}

void Trainer::fall_back() {
    native_.reset();
    runner_->set_state(before_);
    step_ = artifacts_->first_step(segment_);
}

void Trainer::run_step() {
    if (!native_) {
        runner_->run(step_);
        return;
    }
    const canonical::StepContext context{
        .seed = artifacts_->spec.seed, .step = step_, .dataset = artifacts_->program.dataset};
    if (!native_->run_step(context)) {
        fall_back();
        runner_->run(step_);
    }
}

bool Trainer::advance(std::chrono::milliseconds budget) {
    try {
        return run(budget);
    } catch (const Diverged& divergence) {
        after_divergence_ = runner_->state_after_divergence(divergence.step());
        diverged_at_ = divergence.step();
        return true;
    }
}

bool Trainer::run(std::chrono::milliseconds budget) {
    if (segment_ == 0) {
        runner_->run(0);
        return true;
    }
    const std::uint64_t end = artifacts_->first_step(segment_) + artifacts_->step_count(segment_);
    const auto started = Clock::now();
    while (step_ < end && Clock::now() - started < budget) {
        run_step();
        ++step_;
        ++timed_steps_;
    }
    spent_ += Clock::now() - started;
    loss_ = native_ ? native_->scalar(artifacts_->program.loss_node) : runner_->loss();
    return step_ == end;
}

std::vector<canonical::Tensor> Trainer::state() const {
    if (diverged_at_) {
        return after_divergence_;
    }
    if (!native_) {
        return runner_->state();
    }
    return alteration_ ? alteration_->passed_on(before_, native_->state()) : native_->state();
}

void Trainer::begin_next() {
    if (segment_ == 0) {
        const auto initial = runner_->take_state();
        runner_.reset();  // two engines at once would need twice the memory
        runner_ = std::make_unique<Runner>(artifacts_, false, options_, alteration_);
        runner_->set_state(initial);
        begin_natively(initial);
    } else if (native_) {
        before_ = state();
        native_->set_state(before_);
    } else if (artifacts_->spec.mode == contracts::Mode::kTolerance) {
        begin_natively(runner_->state());
    }
    ++segment_;
}

double Trainer::steps_per_s() const {
    const double seconds = std::chrono::duration<double>(spent_).count();
    return seconds > 0 ? static_cast<double>(timed_steps_) / seconds : 0;
}

}  // namespace assay::worker
