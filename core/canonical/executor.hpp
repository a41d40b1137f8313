// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>
#include <core/canonical/partial.hpp>
#include <core/canonical/tile.hpp>

namespace assay::canonical {

/// The task's dataset.
class RowSource {
  public:
    virtual ~RowSource() = default;
    virtual DatasetShape shape() const = 0;
    /// 4 * shape().width bytes: i32, little-endian.
    virtual Bytes row(std::uint64_t index) const = 0;
    /// Chunk `index` of the dataset as it is stored. By default encodes what row() returns, whose values the storage
    /// must be able to hold.
    virtual Bytes chunk(std::uint64_t index) const;
};

/// NUM-6: a step diverges if a tensor of its next state or its loss is not finite; then there is no next state.
enum class [[nodiscard]] StepError : std::uint8_t{kDiverged = 1};

/// Executes one node by its definition: every tile, every partial. `inputs` are the tensors of node.inputs, in order.
Tensor execute_node(
    const Node& node, const StepContext& context, const RowSource& rows, std::span<const Tensor* const> inputs
);

/// Called after each node except kCommit, with its output. Returning false stops the step, and the next state is then
/// empty.
using NodeObserver = std::function<bool(std::uint32_t node, const Tensor& output)>;

/// Executes a well-formed graph on `state` and returns the tensors of the next state, in kCommit's order, or kDiverged.
/// Slow reference implementation, to which the fast executors must be bit-identical.
Result<std::vector<Tensor>, StepError> execute_graph(
    const Graph& graph, const StepContext& context, const RowSource& rows, std::span<const Tensor> state,
    const NodeObserver& observer = {}
);

/// NUM-31: the dataset row at position `position` of the infinite batch order: epoch = position / rows, index =
/// feistel(seed, epoch, position % rows), a permutation of 0..rows-1 by cycle walking.
std::uint64_t batch_row(std::uint64_t seed, std::uint64_t position, std::uint64_t rows) noexcept;

/// NUM-30: Philox4x32-10.
std::array<std::uint32_t, 4> philox4x32(
    const std::array<std::uint32_t, 4>& counter, const std::array<std::uint32_t, 2>& key
) noexcept;

/// NUM-20, NUM-21, NUM-25 to NUM-27: the canonical fp64 algorithms, before the final rounding to fp32. Inputs must be
/// finite.
double exp_f64(double x) noexcept;
double log_f64(double x) noexcept;  ///< x > 0
double tanh_f64(double x) noexcept;
double erf_f64(double x) noexcept;
double sin_f64(double x) noexcept;  ///< |x| <= kTrigLimit
double cos_f64(double x) noexcept;  ///< |x| <= kTrigLimit

/// Whether this thread's floating-point mode follows IEEE 754: round to nearest, no flush to zero (NUM-3). In a process
/// that loads foreign libraries, call it before using any function above.
bool floating_point_is_canonical() noexcept;

}  // namespace assay::canonical
