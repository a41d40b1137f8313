// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/runner.hpp>

#include <string>
#include <utility>

namespace assay::worker {

Runner::Runner(
    std::shared_ptr<const Material> material, bool initialisation, const engine::EngineOptions& options,
    std::shared_ptr<const Fraud> fraud
)
    : material_(std::move(material)),
      initialisation_(initialisation),
      fraud_(std::move(fraud)),
      engine_(initialisation ? material_->program.init : material_->program.step, material_->dataset, options) {
    if (!initialisation_) {
        engine_.keep(material_->program.loss_node);
    } else if (!material_->initial.empty()) {
        engine_.set_state(material_->initial);
    }
}

const canonical::Graph& Runner::graph() const {
    return initialisation_ ? material_->program.init : material_->program.step;
}

void Runner::run(std::uint64_t step, const canonical::NodeObserver& observe) {
    engine::Tamper tamper;
    if (fraud_ && fraud_->touches(initialisation_, step)) {
        tamper = fraud_->tamper(
            initialisation_, step, initialisation_ ? std::vector<canonical::Tensor>{} : engine_.state()
        );
    }
    const canonical::StepContext context{
        .seed = material_->spec.seed, .step = step, .dataset = material_->program.dataset};
    if (!engine_.run_step(context, tamper, observe)) {
        throw Diverged("the state is not finite after step " + std::to_string(step));
    }
}

float Runner::loss() const { return engine_.scalar(material_->program.loss_node); }

std::optional<std::vector<canonical::Tensor>> run_segment(
    const std::shared_ptr<const Material>& material, std::uint32_t segment, std::span<const canonical::Tensor> before,
    const engine::EngineOptions& options, const std::shared_ptr<const Fraud>& fraud,
    const std::function<bool(std::uint64_t done, std::uint64_t steps)>& progress
) {
    Runner runner(material, segment == 0, options, fraud);
    const std::uint64_t first = segment == 0 ? 0 : material->first_step(segment);
    const std::uint64_t steps = segment == 0 ? 1 : material->step_count(segment);
    if (segment != 0) {
        runner.set_state(before);
    }
    for (std::uint64_t i = 0; i < steps; ++i) {
        runner.run(first + i);
        if (progress && !progress(i + 1, steps)) {
            return std::nullopt;
        }
    }
    return runner.state();
}

}  // namespace assay::worker
