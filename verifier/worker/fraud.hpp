// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <verifier/engine/engine.hpp>
#include <verifier/worker/material.hpp>
#include <verifier/worker/options.hpp>

namespace assay::worker {

/// What one dishonest worker does to one task: the same in training and in every later replay, so that in a dispute
/// it defends what it did. For demonstrations and tests; honest workers have none.
class Fraud {
  public:
    /// Where nothing is asked for: a step in the middle of the run, and a node in the middle of the graph that matters.
    Fraud(
        Dishonesty kind, std::shared_ptr<const Material> material, std::optional<std::uint64_t> step = {},
        std::optional<std::uint32_t> node = {}
    );

    /// Overstates the first distance that a distance program measures, whose material this is.
    static Fraud overstating(std::shared_ptr<const Material> measuring);

    /// Halves the score that an evaluation gives, whose material this is.
    static Fraud flattering(std::shared_ptr<const Material> evaluating);

    Dishonesty kind() const { return kind_; }
    /// Whether it is at a place that a dispute can be compared with.
    bool has_place() const;
    /// The first step that is wrong; where each step from there on is, the end of the run.
    std::uint64_t first_step() const { return first_; }
    std::uint64_t last_step() const { return last_; }
    /// The segment of the first wrong step (0: the initialisation); of kWithhold: the checkpoint withheld; of kScore:
    /// the evaluation.
    std::uint32_t segment() const { return segment_; }
    std::optional<std::uint32_t> node() const { return node_; }
    std::optional<std::uint64_t> tile() const { return tile_; }

    bool touches(bool initialisation, std::uint64_t step) const;
    /// What to do to the outputs of a step that it touches, given the state before it.
    engine::Tamper tamper(
        bool initialisation, std::uint64_t step, std::span<const canonical::Tensor> before
    ) const;

    /// kPush: what is handed on after a segment that led from `before` to `after`.
    std::vector<canonical::Tensor> pushed(
        std::span<const canonical::Tensor> before, std::vector<canonical::Tensor> after
    ) const;

  private:
    void aim();
    void alter(canonical::Tensor& output) const;

    Dishonesty kind_;
    std::shared_ptr<const Material> material_;
    bool initialisation_ = false;  ///< which of the two graphs is altered
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint32_t segment_ = 0;
    std::optional<std::uint32_t> node_;
    std::optional<std::uint64_t> tile_;
};

}  // namespace assay::worker
