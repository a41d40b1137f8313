// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/training_report.hpp>

#include <bit>
#include <utility>

#include <verifier/worker/losses.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {

void TrainingReport::progress(const contracts::Task& task, const Trainer& trainer) {
    if (trainer.segment() == 0) {
        return;
    }
    const double rate = trainer.steps_per_s();
    const auto left = static_cast<double>(task.spec.steps - trainer.steps_done());
    context_.reporter.event(
        {{"event", "train"},
         {"task", to_hex(task.id.view())},
         {"step", trainer.steps_done()},
         {"steps", task.spec.steps},
         {"loss", static_cast<double>(trainer.loss().value_or(0.0F))},
         {"steps_per_s", rate},
         {"eta_s", rate > 0 ? left / rate : 0.0}}
    );
}

void TrainingReport::note_loss(const contracts::Task& task, const Trainer& trainer) {
    // Of a private task nobody else learns how the training goes.
    if (task.spec.privacy || context_.losses == nullptr || trainer.segment() == 0 || !trainer.loss() ||
        trainer.diverged_at()) {
        return;
    }
    context_.losses->note(
        task.id, {.segment = trainer.segment(),
                  .step = trainer.steps_done() - 1,
                  .loss = std::bit_cast<std::uint32_t>(*trainer.loss())}
    );
}

void TrainingReport::note_time(const contracts::TaskId& task, std::chrono::duration<double> spent, bool is_finished) {
    std::chrono::duration<double>& sum = spent_[task];
    sum += spent;
    if (is_finished) {
        const auto whole = std::exchange(sum, {});
        if (context_.metrics != nullptr) {
            context_.metrics->add_trained(whole);
        }
    }
}

}  // namespace assay::worker
