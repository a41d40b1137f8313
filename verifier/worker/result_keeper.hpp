// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Duty of a solver that is paid for keeping a task's result (RET-5): shows each tile that is drawn. What the store has
/// lost is fetched from the places that the checkpoint names. Goes on while the circuit breaker is open, since a tile
/// that is not shown costs the bond.
class ResultKeeper {
  public:
    explicit ResultKeeper(WorkerContext& context) : context_(context) {}
    /// Shows one tile that is due. Returns whether something was sent. Throws as the chain and the store do.
    bool attend();

  private:
    bool show(const contracts::Task& task);

    WorkerContext& context_;
};

}  // namespace assay::worker
