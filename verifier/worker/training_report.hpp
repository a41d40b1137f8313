// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>

#include <verifier/worker/trainer.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// What a solver tells of a training while it runs: its progress, its losses and the time that it takes.
class TrainingReport {
  public:
    explicit TrainingReport(WorkerContext& context) : context_(context) {}
    void progress(const contracts::Task& task, const Trainer& trainer);
    /// A segment has ended: its loss is served from now on. Not for the initialisation, which has none.
    void note_loss(const contracts::Task& task, const Trainer& trainer);
    /// So much time was spent on the segment in training, which it may have ended.
    void note_time(const contracts::TaskId& task, std::chrono::duration<double> spent, bool is_finished);
    void forget(const contracts::TaskId& task) { spent_.erase(task); }

  private:
    WorkerContext& context_;
    std::map<contracts::TaskId, std::chrono::duration<double>> spent_;  ///< on the segment in training
};

}  // namespace assay::worker
