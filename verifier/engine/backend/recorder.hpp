// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include <core/canonical/executor.hpp>
#include <verifier/engine/backend/backend.hpp>

/// Internal to the engine: a step that a device repeats as a whole. Asking a GPU for one operation after another takes
/// longer than most of the operations; a recorded step is asked for once.
namespace assay::engine {

class Recorder {
  public:
    virtual ~Recorder() = default;

    /// What a step reads and leaves.
    struct Outline {
        std::span<const Slot> inputs;  ///< stored by the caller before each replay: batches, and counts of steps
        std::span<const Slot> state;
        std::span<const Slot> next;  ///< pairwise with `state`
        std::span<const Slot> kept;  ///< other outputs that can be loaded after a replay
    };

    /// Records `step`, which executes every node but those of `inputs`, and does not release what `outline` names.
    /// Every node must have been executed before: what an operation does the first time only cannot be recorded. From
    /// now on the tensors of `inputs` and `state` stay where they are, and what is stored there is copied. A record
    /// that was there before is forgotten.
    virtual void record(
        const canonical::StepContext& context, const Outline& outline, const std::function<void()>& step
    ) = 0;
    /// Executes what was recorded, at another seed and step. Returns whether all of `next` is finite (NUM-6); only then
    /// `state` has become `next`.
    virtual bool replay(const canonical::StepContext& context) = 0;
};

}  // namespace assay::engine
