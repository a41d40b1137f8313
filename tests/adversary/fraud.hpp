// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tests/adversary/dishonesty.hpp>
#include <verifier/worker/behaviour.hpp>
#include <verifier/worker/task_artifacts.hpp>

namespace assay::adversary {

using worker::TaskArtifacts;

/// What a dishonest worker alters in one task.
class Fraud final : public worker::Alteration {
  public:
    /// `step` and `node` default to a step in the middle of the run and a node near the middle of the graph that
    /// affects the result. Throws std::runtime_error if the program has no suitable node.
    Fraud(
        Dishonesty kind, std::shared_ptr<const TaskArtifacts> artifacts, std::optional<std::uint64_t> step = {},
        std::optional<std::uint32_t> node = {}
    );

    /// A fraud that overstates the first measured distance. `measuring` holds the distance program.
    static Fraud overstating(std::shared_ptr<const TaskArtifacts> measuring);

    /// A fraud that halves the score. `evaluating` holds the evaluation.
    static Fraud flattering(std::shared_ptr<const TaskArtifacts> evaluating);

    Dishonesty kind() const { return kind_; }
    /// Whether the fraud is at one known place, which can be compared with where a dispute ends.
    bool has_place() const;
    /// The first and last altered step. If every step from the first on is altered, the last one is the end of the run.
    std::uint64_t first_step() const { return first_; }
    std::uint64_t last_step() const { return last_; }
    /// The segment of the first altered step (0: the initialisation); for kWithhold the withheld checkpoint; for kScore
    /// the evaluation.
    std::uint32_t segment() const { return segment_; }
    std::optional<std::uint32_t> node() const { return node_; }
    std::optional<std::uint64_t> tile() const { return tile_; }

    bool touches(bool initialisation, std::uint64_t step) const override;
    engine::Tamper tamper(bool initialisation, std::uint64_t step, std::span<const canonical::Tensor> before)
        const override;
    bool alters_training() const override;

    /// kPush enlarges the segment's update of one tensor.
    std::vector<canonical::Tensor> passed_on(
        std::span<const canonical::Tensor> before, std::vector<canonical::Tensor> after
    ) const override;

  private:
    void aim();
    void aim_at_outer_step();
    engine::Tamper with_old_turn(const canonical::StepContext& context, std::span<const canonical::Tensor> before)
        const;
    engine::Tamper with_wrong_outer_step() const;
    void alter(canonical::Tensor& output) const;

    Dishonesty kind_;
    std::shared_ptr<const TaskArtifacts> artifacts_;
    bool initialisation_ = false;  ///< whether the init graph is altered, rather than the step graph
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint32_t segment_ = 0;
    std::optional<std::uint32_t> node_;
    std::optional<std::uint64_t> tile_;
    std::vector<std::uint32_t> outer_{};  // kOuter, kFold: the nodes that are altered
};

}  // namespace assay::adversary
