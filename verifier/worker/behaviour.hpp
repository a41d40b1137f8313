// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <contracts/state/task.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/engine.hpp>
#include <verifier/worker/role.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::worker {

/// A deliberate change of what the canonical program computes in one task. It must be the same in training and in every
/// replay, so that in a dispute the worker defends what it did.
class Alteration {
  public:
    virtual ~Alteration() = default;
    /// Whether the outputs of `step` are changed.
    virtual bool touches(bool initialisation, std::uint64_t step) const = 0;
    /// Returns the change of the outputs of `step`, given the state before it; empty if touches() is false.
    virtual engine::Tamper tamper(bool initialisation, std::uint64_t step, std::span<const canonical::Tensor> before)
        const = 0;
    /// Whether a step of the training may be changed, so that it cannot be trained natively.
    virtual bool alters_training() const = 0;
    /// Returns the state to pass on after a segment of native training that led from `before` to `after`.
    virtual std::vector<canonical::Tensor> passed_on(
        std::span<const canonical::Tensor> before, std::vector<canonical::Tensor> after
    ) const = 0;
};

/// Where a worker's conduct may differ from the honest one. Every function here does what an honest worker does, and
/// this is the only behaviour that the product has. The tests' adversaries override some of the functions, so that the
/// protocol can be shown to stop them. All functions but serves() and links() are called by the worker's own thread.
class Behaviour {
  public:
    virtual ~Behaviour() = default;

    /// Returns the role to play in place of the one that the worker's mode names; nullptr to play that one.
    virtual std::unique_ptr<Role> role(WorkerContext& /*context*/) const { return nullptr; }

    /// Each returns what is changed in a computation; nullptr if nothing is. They are about the task's program, about
    /// the distance that a verdict or a profile states (`measuring` holds the distance program), and about the score
    /// of a final state (`evaluating` holds the evaluation).
    virtual std::shared_ptr<const Alteration> of_task(
        WorkerContext& /*context*/, const std::shared_ptr<const TaskArtifacts>& /*artifacts*/
    ) {
        return nullptr;
    }
    virtual std::shared_ptr<const Alteration> of_verdict(const std::shared_ptr<const TaskArtifacts>& /*measuring*/
    ) const {
        return nullptr;
    }
    virtual std::shared_ptr<const Alteration> of_profile(const std::shared_ptr<const TaskArtifacts>& /*measuring*/
    ) const {
        return nullptr;
    }
    virtual std::shared_ptr<const Alteration> of_score(const std::shared_ptr<const TaskArtifacts>& /*evaluating*/
    ) const {
        return nullptr;
    }
    /// Drops what is kept for a task that has ended.
    virtual void forget(const contracts::TaskId& /*task*/) {}

    /// Between a member of a group that computes each step together and the collective that signs what it sends to the
    /// others. `collective` is the member's own for one session; what is returned is used in its place.
    virtual std::unique_ptr<engine::Collective> links(
        WorkerContext& /*context*/, const contracts::TaskId& /*task*/, std::unique_ptr<engine::Collective> collective
    ) {
        return collective;
    }

    /// At which speed the worker computes its part of sessions with other members; null: as fast as it can.
    virtual std::shared_ptr<engine::Pace> pace() const { return nullptr; }

    /// Whether the artifact server gives this artifact to those who ask. Called by the server's threads.
    virtual bool serves(const Hash256& /*artifact*/) const { return true; }
    /// Called before a task's artifacts are loaded, and before one of its checkpoints is posted.
    virtual void note_loading(const contracts::TaskSpec& /*spec*/) {}
    virtual void note_posting(
        WorkerContext& /*context*/, const contracts::Task& /*task*/, std::uint32_t /*index*/,
        const Hash256& /*artifact*/
    ) {}

    /// Stores an invented outcome in place of a segment's replay. Returns whether it did.
    virtual bool invents_replay(
        WorkerContext& /*context*/, const contracts::Task& /*task*/, std::uint32_t /*segment*/,
        const std::shared_ptr<const TaskArtifacts>& /*artifacts*/
    ) {
        return false;
    }
    /// Returns what is shown as a divergence that there was not, given the state after the segment; nullopt for none.
    virtual std::optional<dispute::StateOpening> alleged_divergence(const std::vector<canonical::Tensor>& /*after*/
    ) const {
        return std::nullopt;
    }
    /// Returns the verdict to publish where `own` is the one that was committed to; nullopt to wait.
    virtual std::optional<contracts::Verdict> published(
        WorkerContext& /*context*/, const contracts::Task& /*task*/, std::uint32_t /*segment*/,
        const contracts::Verdict& own
    ) const {
        return own;
    }
    /// Of a private task: whether its keys are shared with those who were drawn to judge it, and which are shared in
    /// place of `own`.
    virtual bool shares_keys() const { return true; }
    virtual artifacts::TaskSecrets shared(
        WorkerContext& /*context*/, const contracts::TaskId& /*task*/, const artifacts::TaskSecrets& own
    ) {
        return own;
    }
    /// Returns the file to post as the checkpoint's where `own` is the one that was sealed.
    virtual contracts::SealedFile sealed(
        WorkerContext& /*context*/, const contracts::TaskId& /*task*/, std::uint32_t /*index*/,
        const contracts::SealedFile& own
    ) {
        return own;
    }
    /// Whether others' verdicts and profiles are checked.
    virtual bool watches() const { return true; }
    /// Whether a dispute move that is due by `deadline` is made at `height`.
    virtual bool moves_at(Height /*height*/, Height /*deadline*/) const { return true; }
};

}  // namespace assay::worker
