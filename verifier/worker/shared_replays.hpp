// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>

#include <contracts/state/dispute.hpp>
#include <verifier/worker/replay.hpp>

namespace assay::worker {

/// The replays of a worker's open disputes. Disputes about one claim of one task share a replay, so that a claim that
/// several accounts dispute is replayed once. Only the replay that was asked for last has an engine in memory.
class SharedReplays {
  public:
    /// Returns a new replay of the dispute's claim, or nullptr if that is not possible now.
    using Make = std::function<std::shared_ptr<EngineReplay>()>;

    /// Returns the replay of `dispute`: its own, else that of another open dispute about the same claim, else a new
    /// one by `make`. A nullptr of `make` is returned and not kept. The other replays rest.
    std::shared_ptr<EngineReplay> of(const contracts::Dispute& dispute, const Make& make);
    /// How many replays there are.
    std::size_t count() const;
    /// Forgets the dispute's replay. The replay is freed with the last dispute that shares it.
    void drop(const contracts::DisputeId& dispute) { replays_.erase(dispute); }

  private:
    void rest_all_but(const std::shared_ptr<EngineReplay>& replay);

    struct Replaying {
        contracts::TaskId task;
        std::shared_ptr<EngineReplay> replay;
    };
    std::map<contracts::DisputeId, Replaying> replays_;
};

}  // namespace assay::worker
