// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include <contracts/lifecycle/drawn_tile.hpp>
#include <contracts/state/drawn_opening.hpp>
#include <verifier/worker/task_artifacts.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Reads the result that this account keeps for a task, and the program by which it is read. What the store lacks of
/// either is fetched from the places that the chain names, and stored. Returns nullopt if it cannot be had now, which
/// is reported. Throws StoreError or JournalError.
std::optional<KeptResult> hold_result(WorkerContext& context, const contracts::Task& task);
/// The same of a private task, of which the sealed file is kept. Needs no key.
std::optional<artifacts::StoredFile> hold_sealed_result(WorkerContext& context, const contracts::Task& task);
/// Whether either can be had now.
bool holds_result(WorkerContext& context, const contracts::Task& task);

/// Duty of a solver that is paid for keeping a task's result (RET-5): shows each tile that is drawn. Looks once, when
/// it begins, whether the result is there. Goes on while the circuit breaker is open, since a tile that is not shown
/// costs the bond.
class ResultKeeper {
  public:
    explicit ResultKeeper(WorkerContext& context) : context_(context) {}
    /// Shows one tile that is due. Returns whether something was sent. Throws as the chain and the store do.
    bool attend();

  private:
    bool show(const contracts::Task& task);
    /// What was drawn of the result, opened; nullopt if it cannot be had, or was looked for in vain a moment ago.
    std::optional<contracts::DrawnOpening> open(const contracts::Task& task, const contracts::DrawnTile& asked);
    /// Looks whether the result is there, which is what `look` returns.
    template <class Look>
    auto find(const contracts::Task& task, const Look& look) -> decltype(look());

    WorkerContext& context_;
    std::set<contracts::TaskId> held_;  ///< whose results were there when this process looked
    std::map<contracts::TaskId, std::chrono::steady_clock::time_point> missed_;  ///< when they were not
};

}  // namespace assay::worker
