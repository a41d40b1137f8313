// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <verifier/engine/cell/session.hpp>
#include <verifier/plan/turns.hpp>

/// Internal to the cell: sessions in which every rank trains replicas of its own, and they exchange what they send at
/// the end of a round.
namespace assay::engine::cell {

/// Rank 0's side.
std::unique_ptr<CellSession> open_turns(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
    std::unique_ptr<Collective> collective, const EngineOptions& options
);
/// Another rank's, until rank 0 ends the session.
Served serve_turns(
    const program::Program& program, const plan::Layout& layout, Collective& collective, const EngineOptions& options
);

}  // namespace assay::engine::cell
