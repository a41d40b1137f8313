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

/// Internal to the engine: where tensors are stored and what computes on them. The engine walks the graph; a backend
/// executes one node at a time in its own memory.
namespace assay::engine {

static_assert(std::endian::native == std::endian::little, "a canonical::Tensor's bytes are used as they lie");

/// The largest magnitude after quantisation to at most 30 bits (NUM-14).
constexpr std::int32_t quantised_limit(std::uint32_t precision) {
    return precision == 7 ? 127 : std::int32_t{1} << precision;
}

/// Index of a stored tensor: node outputs first, in graph order, then state tensors.
using Slot = std::uint32_t;

/// A node, with what is known about it before the first step.
struct Task {
    canonical::Node node;
    std::vector<Slot> inputs;
    Slot output = 0;
    /// kContract only: the operands are known to be within quantised_limit, so sums in doubles are exact. Otherwise the
    /// sum is computed in 64-bit integers with wraparound (NUM-16), since a program may feed a contraction any values.
    bool is_bounded = false;
};

class Recorder;

class Backend {
  public:
    virtual ~Backend() = default;
    /// What repeats whole steps, or nullptr where there is no such thing.
    virtual Recorder* recorder() { return nullptr; }
    virtual void store(Slot slot, const canonical::Tensor& tensor) = 0;
    virtual canonical::Tensor load(Slot slot) const = 0;
    virtual void release(Slot slot) = 0;
    /// Frees memory of released tensors that is kept for the next ones.
    virtual void give_back() {}
    /// Computes task.output from task.inputs. Not for kCommit, kBatchRows, or the operations of draw().
    virtual void execute(const Task& task) = 0;
    /// Computes the i64 sums of products of a kContract whose exponents are of no concern (NUM-16): all columns of the
    /// operands as one chunk, modulo 2^64. Reads task.inputs[0] and [2] only.
    virtual void accumulate(const Task& task);
    /// Computes task.output from the step context: kUniform, kBernoulli, kStepCount.
    virtual void draw(const Task& task, const canonical::StepContext& context) = 0;
    /// NUM-6: whether an f32 tensor has no infinity and no NaN; true for other types.
    virtual bool is_finite(Slot slot) const = 0;
    /// Moves the tensors of slots `from` to slots `to`, pairwise and simultaneously.
    virtual void move_all(std::span<const Slot> from, std::span<const Slot> to) = 0;
};

/// Backend with the fused executor's loops, on whole tensors. CPU only.
std::unique_ptr<Backend> make_host_backend(std::size_t slots, int threads);
/// Backend on eager libtorch, for any device. Uses only operations that are exact or rounded once on all devices.
std::unique_ptr<Backend> make_torch_backend(std::size_t slots, const EngineOptions& options);
/// Returns the backend that `options` select.
std::unique_ptr<Backend> make_backend(std::size_t slots, const EngineOptions& options);

/// Whether the input is quantised to at most `precision` bits.
bool is_quantised_to(const canonical::Graph& graph, const canonical::Input& input, std::uint32_t precision);

/// Whether the sum of a chunk's products fits the 53 bits of a double, if all operands have p bits and the right one is
/// cut to `bits` bits.
bool fits_double(const canonical::Node& contract, std::uint32_t bits);

/// NUM-5: compares the backend's contractions with the reference implementation, for each kind of contraction in
/// `graph`, on operands whose sums reach the limit. Throws std::runtime_error that names the failing shape.
void check_contractions(const canonical::Graph& graph, const EngineOptions& options);

}  // namespace assay::engine
