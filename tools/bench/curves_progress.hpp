// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <core/canonical/tile.hpp>
#include <nlohmann/json.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::bench {

/// Files that let the curves be measured in several goes: PATH has what is printed in the end, with the runs that are
/// finished, and PATH.part the losses and the state of the run in hand. Without a path nothing is kept.
class CurvesProgress {
  public:
    /// `result` has no runs yet. Throws std::runtime_error if PATH belongs to another measurement.
    CurvesProgress(std::string path, nlohmann::json result);

    /// Whether the runs have one with the executor, the profile (if any) and the seed of `run`.
    bool has(const nlohmann::json& run) const;
    void add(nlohmann::json run);
    const nlohmann::json& result() const { return result_; }

    /// Keeps `run` with the losses so far, and the state after them.
    void save(const nlohmann::json& run, const program::Program& program, const std::vector<canonical::Tensor>& state)
        const;
    /// Returns the state that was saved for `run` and gives `run` its losses; nothing if none was saved.
    std::optional<std::vector<canonical::Tensor>> saved(nlohmann::json& run, const program::Program& program) const;

  private:
    std::string path_;
    nlohmann::json result_;
};

}  // namespace assay::bench
