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

/// Rows of the task's dataset, i32 little-endian; `row(i)` has exactly 4 * shape().width bytes.
class RowSource {
  public:
    virtual ~RowSource() = default;
    virtual DatasetShape shape() const = 0;
    virtual ByteView row(std::uint64_t index) const = 0;
};

/// NUM-6: a step one of whose state tensors or whose loss is not finite has diverged; there is no next state.
enum class [[nodiscard]] StepError : std::uint8_t { kDiverged = 1 };

/// One whole node by the definition: every tile, every partial. `inputs` are node.inputs' tensors in order.
Tensor execute_node(
    const Node& node, const StepContext& context, const RowSource& rows, std::span<const Tensor* const> inputs
);

/// Called after each node (kCommit excepted) with its output; returning false stops the step, whose next state is
/// then empty.
using NodeObserver = std::function<bool(std::uint32_t node, const Tensor& output)>;

/// Runs a whole well-formed graph from `state` and returns the next state's tensors, in kCommit's order.
/// Slow and obvious: the yardstick that the fast executors are held to, bit for bit.
Result<std::vector<Tensor>, StepError> execute_graph(
    const Graph& graph, const StepContext& context, const RowSource& rows, std::span<const Tensor> state,
    const NodeObserver& observer = {}
);

/// NUM-31: the row of the dataset that position `position` of the endless batch order reads: epoch =
/// position / rows, index = feistel(seed, epoch, position % rows), a permutation of 0..rows-1 by cycle walking.
std::uint64_t batch_row(std::uint64_t seed, std::uint64_t position, std::uint64_t rows) noexcept;

/// NUM-30: Philox4x32-10.
std::array<std::uint32_t, 4> philox4x32(
    const std::array<std::uint32_t, 4>& counter, const std::array<std::uint32_t, 2>& key
) noexcept;

/// NUM-20, NUM-21, NUM-25 to NUM-27: the canonical fp64 chains, before the last rounding to fp32. Finite inputs.
double exp_f64(double x) noexcept;
double log_f64(double x) noexcept;  ///< x > 0
double tanh_f64(double x) noexcept;
double erf_f64(double x) noexcept;
double sin_f64(double x) noexcept;  ///< |x| <= kTrigLimit
double cos_f64(double x) noexcept;  ///< |x| <= kTrigLimit

/// Whether this thread computes as IEEE 754 asks: round to nearest, no flush to zero (NUM-3). Call before relying on
/// any of the above in a process that loads foreign libraries.
bool floating_point_is_canonical() noexcept;

}  // namespace assay::canonical
