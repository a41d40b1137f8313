// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tests/adversary/dishonesty.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::adversary {

/// A whistleblower that challenges verdicts for their jackpots without a replay. A free rider copies other parties'
/// challenges, seals included; an insider challenges the verdicts that its owner's verifier has kept as forced.
class JackpotHunter final : public worker::Role {
  public:
    JackpotHunter(worker::WorkerContext& context, const AdversaryOptions& options)
        : context_(context), options_(options) {}
    bool prompt() override;
    bool disputes() override { return false; }
    bool labour() override { return false; }
    void forget(const contracts::TaskId& /*task*/) override {}

  private:
    /// Sends challenges for the task. Returns whether one was sent.
    bool attend(const contracts::Task& task);
    /// Challenges copied from others (copied) or of verdicts that our owner's verifier knows to be forced (betrayed),
    /// without those that we have challenged already.
    std::vector<contracts::ChallengeVerdict> copied(const contracts::Task& task);
    std::vector<contracts::ChallengeVerdict> betrayed(const contracts::Task& task);

    worker::WorkerContext& context_;
    const AdversaryOptions& options_;
};

}  // namespace assay::adversary
