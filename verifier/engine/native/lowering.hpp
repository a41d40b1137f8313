// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <core/canonical/node.hpp>

/// Internal to the engine: lowers a canonical graph to ordinary floating-point operations.
namespace assay::engine::native {

using Value = canonical::Input;

/// The operation of an instruction. Every kind except kNode replaces several nodes of the graph, which are found by
/// pattern matching on the graph's structure.
enum class Kind : std::uint8_t {
    kNode,           ///< the node itself
    kProduct,        ///< (a, b) -> a times b transposed, for each group
    kProductAdd,     ///< (a, b, c) -> c + a times b transposed
    kSum,            ///< (x) -> row sums
    kScatterSum,     ///< (x, index) -> sums of rows of x by index
    kSoftmax,        ///< (x)
    kSoftmaxBack,    ///< (gradient, y) -> y * (gradient - the row's sum of gradient * y)
    kLogSoftmax,     ///< (x)
    kCrossEntropy,   ///< (x, target) -> -log softmax(x)[target]; 0 if target is out of range
    kIsColumn,       ///< (index) -> whether index is in range of one-hot rows of width `columns`
    kNormalise,      ///< (x) -> (x - mean) / sqrt(variance + constant) of each row
    kNormaliseBack,  ///< (gradient, x, output of kNormalise) -> gradient of x
    kGelu,           ///< (x)
    kGeluBack,       ///< (gradient, x)
    kSigmoid,        ///< (x)
    kSilu,           ///< (x)
    kMultiplyAdd,    ///< (z, x, y) -> z + constant * x * y
    kAddScaled,      ///< (x, y) -> x + constant * y
};

struct Instruction {
    Kind kind = Kind::kNode;
    std::uint32_t node = 0;  ///< the node whose output it computes
    std::vector<Value> inputs;
    float constant = 0.0F;
    std::uint32_t columns = 0;
};

/// Returns the instructions that compute the next state and the outputs of `kept`, in execution order.
std::vector<Instruction> lower(const canonical::Graph& graph, std::span<const std::uint32_t> kept);

}  // namespace assay::engine::native
