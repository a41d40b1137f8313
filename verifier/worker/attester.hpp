// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <verifier/worker/workplace.hpp>

namespace assay::worker {

/// A verifier's part in committees (AVL-3): it fetches all that a replay of the segments needs, and attests when it has it.
class Attester {
  public:
    explicit Attester(Workplace& workplace) : at_(workplace) {}

    /// Asks for what the task's committee has to have, if we are on it.
    void want(const contracts::Task& task);
    /// Attests if everything has come. Whether it was sent.
    bool attend(const contracts::Task& task);
    void forget(const contracts::TaskId& task) { had_.erase(task); }

  private:
    bool is_due(const contracts::Task& task) const;
    /// Whether the checkpoint can be had and is the one that was posted. `state` gets it where we are asked for one of its
    /// tiles.
    bool has_checkpoint(
        const contracts::Task& task, const Material& material, std::uint32_t index,
        std::optional<std::vector<canonical::Tensor>>& state
    );

    Workplace& at_;
    std::map<contracts::TaskId, std::set<std::uint32_t>> had_{};  ///< checkpoints that were fetched and checked
};

}  // namespace assay::worker
