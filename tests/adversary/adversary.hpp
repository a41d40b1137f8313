// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <tests/adversary/dishonesty.hpp>
#include <tests/adversary/fraud.hpp>
#include <verifier/worker/behaviour.hpp>

namespace assay::adversary {

/// A worker that cheats in one way, for demonstrations and tests of what must stop it. Where that way leaves something
/// alone, it is honest. Tells what it does in a task in an event "dishonest", which the demo compares with how the
/// dispute ends.
class Adversary final : public worker::Behaviour {
  public:
    explicit Adversary(AdversaryOptions options) : options_(std::move(options)) {}

    std::unique_ptr<worker::Role> role(worker::WorkerContext& context) const override;
    std::shared_ptr<const worker::Alteration> of_task(
        worker::WorkerContext& context, const std::shared_ptr<const TaskArtifacts>& artifacts
    ) override;
    std::shared_ptr<const worker::Alteration> of_verdict(const std::shared_ptr<const TaskArtifacts>& measuring
    ) const override;
    std::shared_ptr<const worker::Alteration> of_profile(const std::shared_ptr<const TaskArtifacts>& measuring
    ) const override;
    std::shared_ptr<const worker::Alteration> of_score(const std::shared_ptr<const TaskArtifacts>& evaluating
    ) const override;
    void forget(const contracts::TaskId& task) override { frauds_.erase(task); }
    std::unique_ptr<engine::Collective> links(
        worker::WorkerContext& context, const contracts::TaskId& task, std::unique_ptr<engine::Collective> collective
    ) override;
    std::shared_ptr<engine::Pace> pace() const override;
    bool serves(const Hash256& artifact) const override;
    void note_loading(const contracts::TaskSpec& spec) override;
    void note_posting(
        worker::WorkerContext& context, const contracts::Task& task, std::uint32_t index, const Hash256& artifact
    ) override;
    bool invents_replay(
        worker::WorkerContext& context, const contracts::Task& task, std::uint32_t segment,
        const std::shared_ptr<const TaskArtifacts>& artifacts
    ) override;
    std::optional<dispute::StateOpening> alleged_divergence(const std::vector<canonical::Tensor>& after) const override;
    std::optional<contracts::Verdict> published(
        worker::WorkerContext& context, const contracts::Task& task, std::uint32_t segment,
        const contracts::Verdict& own
    ) const override;
    bool shares_keys() const override { return options_.kind != Dishonesty::kKeysWithheld; }
    artifacts::TaskSecrets shared(
        worker::WorkerContext& context, const contracts::TaskId& task, const artifacts::TaskSecrets& own
    ) override;
    contracts::SealedFile sealed(
        worker::WorkerContext& context, const contracts::TaskId& task, std::uint32_t index,
        const contracts::SealedFile& own
    ) override;
    bool watches() const override { return options_.kind == Dishonesty::kNone; }
    bool moves_at(Height height, Height deadline) const override;

  private:
    /// The fraud in the task, made and told of when it is first asked for; nullptr for kNone.
    std::shared_ptr<const Fraud> fraud(
        worker::WorkerContext& context, const std::shared_ptr<const TaskArtifacts>& artifacts
    );
    void withhold(const Hash256& artifact);

    AdversaryOptions options_;
    std::map<contracts::TaskId, std::shared_ptr<const Fraud>> frauds_{};
    /// Guards what the artifact server's threads read and what sessions with other members do.
    mutable std::mutex mutex_{};
    std::set<Hash256> withheld_{};
    std::uint64_t interval_ = 0;               ///< steps of a segment of the task whose artifacts were loaded last
    std::set<contracts::TaskId> misstated_{};  ///< tasks of which it has told how it lies
};

}  // namespace assay::adversary
