// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <core/canonical/executor.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/engine/backend/options.hpp>

/// Inside engine only: where tensors live and who computes on them. The engine walks the graph; a backend executes
/// one node at a time, in memory of its own kind.
namespace assay::engine {

static_assert(std::endian::native == std::endian::little, "a canonical::Tensor's bytes are used as they lie");

/// The largest magnitude that a quantisation to at most 30 bits leaves (NUM-14).
constexpr std::int32_t quantised_limit(std::uint32_t precision) {
    return precision == 7 ? 127 : std::int32_t{1} << precision;
}

/// Where a tensor is kept: nodes' outputs first, in graph order, then the tensors of the state.
using Slot = std::uint32_t;

/// A node with what is known of it before the first step.
struct Task {
    canonical::Node node;
    std::vector<Slot> inputs;
    Slot output = 0;
    /// kContract only: the operands are known to be within quantised_limit, so that a sum in doubles may be trusted. A
    /// program may feed a contraction anything; then the sum is what 64-bit integers make of it (NUM-16).
    bool is_bounded = false;
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual void store(Slot slot, const canonical::Tensor& tensor) = 0;
    virtual canonical::Tensor load(Slot slot) const = 0;
    virtual void release(Slot slot) = 0;
    /// Computes task.output from task.inputs. Not kCommit, nor what draw and kBatchRows are for.
    virtual void execute(const Task& task) = 0;
    /// Makes task.output out of the step's numbers: kUniform, kBernoulli, kStepCount.
    virtual void draw(const Task& task, const canonical::StepContext& context) = 0;
    /// NUM-6: no infinity and no NaN in an f32 tensor; true for the others.
    virtual bool is_finite(Slot slot) const = 0;
    /// Puts what `from` holds into `to`, pairwise and all at once.
    virtual void move_all(std::span<const Slot> from, std::span<const Slot> to) = 0;
};

/// The fused executor's own loops, a whole tensor at a time. CPU only.
std::unique_ptr<Backend> make_host_backend(std::size_t slots, int threads);
/// libtorch eager on any device, with the operations that are exact or rounded once on all of them.
std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const EngineOptions& options);
/// The backend that `options` ask for.
std::unique_ptr<Backend> make_backend(std::size_t slots, const EngineOptions& options);

/// Whether the sum of a chunk of `task`'s products, each with p-bit operands, fits the 53 bits of a double when the
/// right operand is cut to `bits` of its bits.
bool fits_double(const canonical::Node& contract, std::uint32_t bits);

/// NUM-5: compares the backend's contraction with the definition, for each kind of contraction in `graph`, on operands
/// whose sums reach the limit. Throws std::runtime_error naming the shape that failed.
void check_contractions(const canonical::Graph& graph, const EngineOptions& options);

}  // namespace assay::engine
