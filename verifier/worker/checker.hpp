// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/roles/finding.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// Replays segments for verifiers and whistleblowers.
class Checker {
  public:
    explicit Checker(Workplace& workplace) : at_(workplace) {}
    /// One replay of a segment; the journal's Replays have the outcome. Whether there is a new result.
    bool replay(const contracts::Task& task, std::uint32_t segment);

  private:
    bool run(
        const contracts::Task& task, const std::shared_ptr<const Material>& material, std::uint32_t segment,
        const std::vector<canonical::Tensor>& before
    );

    Workplace& at_;
};

}  // namespace assay::worker
