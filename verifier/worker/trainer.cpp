// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/trainer.hpp>

#include <utility>

namespace assay::worker {

using Clock = std::chrono::steady_clock;

Trainer::Trainer(
    std::shared_ptr<const Material> material, const engine::EngineOptions& options,
    std::shared_ptr<const Fraud> fraud, std::uint32_t segment, const std::vector<canonical::Tensor>& state
)
    : material_(std::move(material)),
      options_(options),
      fraud_(std::move(fraud)),
      segment_(segment),
      step_(segment == 0 ? 0 : material_->first_step(segment)),
      runner_(std::make_unique<Runner>(material_, segment == 0, options_, fraud_)) {
    if (segment != 0) {
        runner_->set_state(state);
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
    const std::uint64_t end = material_->first_step(segment_) + material_->step_count(segment_);
    const auto started = Clock::now();
    while (step_ < end && Clock::now() - started < budget) {
        runner_->run(step_);
        ++step_;
        ++timed_steps_;
    }
    spent_ += Clock::now() - started;
    loss_ = runner_->loss();
    return step_ == end;
}

std::vector<canonical::Tensor> Trainer::state() const {
    return diverged_at_ ? after_divergence_ : runner_->state();
}

void Trainer::begin_next() {
    if (segment_ == 0) {
        const auto initial = runner_->state();
        runner_ = std::make_unique<Runner>(material_, false, options_, fraud_);
        runner_->set_state(initial);
    }
    ++segment_;
}

double Trainer::steps_per_s() const {
    const double seconds = std::chrono::duration<double>(spent_).count();
    return seconds > 0 ? static_cast<double>(timed_steps_) / seconds : 0;
}

}  // namespace assay::worker
