// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>

/// Inside engine only: what a canonical graph means in ordinary floating point.
namespace assay::engine::native {

using Value = canonical::Input;

/// What an instruction computes from its inputs. Whatever is not kNode stands for several nodes of the graph, found by
/// their structure alone.
enum class Kind : std::uint8_t {
    kNode,           ///< the node itself
    kProduct,        ///< (a, b) -> a times the transpose of b, group by group
    kProductAdd,     ///< (a, b, c) -> c + a times the transpose of b
    kSum,            ///< (x) -> the sum of each row
    kScatterSum,     ///< (x, index) -> sums of rows of x by index
    kSoftmax,        ///< (x)
    kSoftmaxBack,    ///< (gradient, y) -> y * (gradient - the row's sum of gradient * y)
    kLogSoftmax,     ///< (x)
    kCrossEntropy,   ///< (x, target) -> -log softmax(x)[target], 0 where there is no such column
    kIsColumn,       ///< (index) -> whether index is a column of the one-hot rows, `columns` wide
    kNormalise,      ///< (x) -> (x - mean) / sqrt(variance + constant), row by row
    kNormaliseBack,  ///< (gradient, x, kNormalise's output) -> the gradient of x
    kGelu,           ///< (x)
    kGeluBack,       ///< (gradient, x)
    kSigmoid,        ///< (x)
    kSilu,           ///< (x)
    kMultiplyAdd,    ///< (z, x, y) -> z + constant * x * y
    kAddScaled,      ///< (x, y) -> x + constant * y
};

struct Instruction {
    Kind kind = Kind::kNode;
    std::uint32_t node = 0;  ///< whose output it makes
    std::vector<Value> inputs;
    float constant = 0.0F;
    std::uint32_t columns = 0;
};

/// The instructions that make the next state and the outputs of `kept`, in order of execution.
std::vector<Instruction> lower(const canonical::Graph& graph, std::span<const std::uint32_t> kept);

}  // namespace assay::engine::native
