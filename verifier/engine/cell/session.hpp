// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/base/result.hpp>
#include <core/canonical/executor.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/engine/backend/options.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/plan/layout.hpp>

namespace assay::engine {

/// What a rank did in a session.
struct Served {
    plan::Layout layout;
    std::uint64_t nodes = 0;        ///< of a step, with those that are computed a second time
    std::uint64_t steps = 0;        ///< in which it took part
    std::uint64_t state_bytes = 0;  ///< of its blocks of the state
    std::uint64_t sent_bytes = 0;   ///< in steps, batches for other ranks apart if ranks take turns
};
/// Rank 0 of a cell that trains one program: the other ranks do what it says. They get the program, their part of the
/// state and the rows of each batch from it. Functions throw std::runtime_error if a rank is gone; the session is of no
/// use then.
class CellSession {
  public:
    virtual ~CellSession() = default;

    /// Begins a segment where ranks answer for what they send (Collective::is_stated), and does nothing elsewhere.
    /// `before` is the state root before `first_step`, of the state that set_tensor() gives for it: all of it, for each
    /// segment, since a rank that was misled in the one before has another.
    virtual void begin_segment(const Hash256& /*before*/, std::uint64_t /*first_step*/) {}
    /// Ends it once its last step is done and its state is taken, so that ranks show each other what they were told;
    /// does nothing elsewhere.
    virtual void end_segment() {}
    virtual void set_tensor(std::size_t index, const canonical::Tensor& tensor) = 0;
    virtual canonical::Tensor tensor(std::size_t index) = 0;
    virtual Result<void, canonical::StepError> run_step(const canonical::StepContext& context) = 0;
    /// Of the last step.
    virtual float loss() const = 0;
    /// Whether tensor() has the state: if not, it has it after a later step.
    virtual bool has_state() const = 0;
    /// The seconds that each rank has computed in steps since the last call, without what it waited for others; empty
    /// if ranks take turns.
    virtual std::vector<double> take_busy() { return {}; }
    /// What this rank has done so far.
    virtual const Served& served() const = 0;
};

/// Begins a session of a cell; `collective` must be rank 0's. Ranks that take turns need a program that has some
/// (plan::find_turns).
std::unique_ptr<CellSession> open_session(
    const program::Program& program, std::shared_ptr<const canonical::RowSource> rows, const plan::Layout& layout,
    std::unique_ptr<Collective> collective, const EngineOptions& options
);

/// What a rank takes part in: where it answers for what it sends, other orders would have it sign wrong values.
struct Terms {
    /// Whether it is the task's program, and a layout in which this rank can answer for what it sends.
    std::function<bool(const program::Program&, const plan::Layout&)> program;
    std::uint64_t seed = 0;   ///< of the task
    std::uint64_t steps = 0;  ///< of a segment, at most
};

/// Executes another rank's part of a session until rank 0 ends it. Throws std::runtime_error if a rank is gone, or if
/// rank 0 sends what is no program. With `terms`, which a collective that is_stated() needs, also if rank 0 sends
/// another program, layout or seed, orders a step before all of the state is there, out of order, for a second time or
/// behind the end of a segment, or gives a tensor of the state for a second time in one segment.
Served serve_cell(
    std::unique_ptr<Collective> collective, const EngineOptions& options,
    const std::optional<Terms>& terms = std::nullopt
);

}  // namespace assay::engine
