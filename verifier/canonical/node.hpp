// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <core/base/result.hpp>

/// The graph that a training step is: a list of nodes in canonical (topological) order, each one primitive with one
/// output tensor. A node says everything about itself, the types of its inputs included, so that a referee can judge
/// it alone.
namespace assay::canonical {

enum class DType : std::uint8_t { kF32 = 1, kI32 = 2, kI64 = 3 };
constexpr bool is_valid(DType d) { return d >= DType::kF32 && d <= DType::kI64; }
constexpr std::uint32_t size_of(DType d) { return d == DType::kI64 ? 8 : 4; }

/// Every tensor is a matrix, row-major; a vector is [1, n] or [n, 1], a scalar [1, 1].
struct Shape {
    std::uint32_t rows = 0;
    std::uint32_t cols = 0;
    constexpr bool operator==(const Shape&) const = default;
    constexpr std::uint64_t element_count() const { return std::uint64_t{rows} * cols; }
    static constexpr auto fields() { return std::tuple{&Shape::rows, &Shape::cols}; }
};

/// Where an input comes from: an earlier node of the same graph, or a tensor of the state before the step.
enum class Source : std::uint8_t { kNode = 1, kState = 2 };
constexpr bool is_valid(Source s) { return s == Source::kNode || s == Source::kState; }

struct Input {
    Source source = Source::kNode;
    std::uint32_t index = 0;
    DType dtype = DType::kF32;
    Shape shape;
    bool operator==(const Input&) const = default;
    static constexpr auto fields() {
        return std::tuple{&Input::source, &Input::index, &Input::dtype, &Input::shape};
    }
};

/// The primitives (NUM rules; docs/protocol/numerics.md has the definition of each to the bit).
/// Shapes: x is [M,N] unless said otherwise; `a`, `b` are the node's attributes.
enum class Op : std::uint8_t {
    // Sources: no tensor inputs.
    kBatchRows = 1,   ///< i32 [B,W]: dataset row feistel(step*B + r) for each r; W is the dataset's row width
    kUniform = 2,     ///< f32 [M,N]: uniform in [-bound, bound); a = bits of bound (f32), b = tensor id for Philox
    kFill = 3,        ///< f32 [M,N]: every element the f32 whose bits are a
    // Data movement.
    kTranspose = 10,      ///< (x) -> [N,M]; f32, i32, i64
    kSliceCols = 11,      ///< (x) -> [M,cols], columns a .. a+cols
    kGatherRows = 12,     ///< (table f32 [V,D], index i32 [B,C]) -> f32 [B,C*D]; D % 32 == 0
    kScatterAddRows = 13, ///< (q i32 [B,C*D], index i32 [B,C]) -> i64 [V,D], exact sums; D % 32 == 0
    kOneHot = 14,         ///< (index i32 [B,1]) -> f32 [B,V]: 1.0 where column == index, else +0.0
    // One correctly rounded operation per element; the second operand may be [M,N], [M,1], [1,N] or [1,1].
    kAdd = 20,
    kSub = 21,
    kMul = 22,
    kDiv = 23,
    kSqrt = 24,
    kScale = 25,     ///< (x) -> x * c, a = bits of c (f32)
    kAddConst = 26,  ///< (x) -> x + c, a = bits of c
    kRelu = 27,      ///< x > 0 ? x : +0
    kReluGrad = 28,  ///< (x, g) -> x > 0 ? g : +0
    kExp = 29,       ///< canonical exp (NUM-20)
    kLog = 30,       ///< canonical log (NUM-21)
    // Reductions along a row, chained over column tiles.
    kRowMax = 40,       ///< f32 or i32 [M,N] -> [M,1]
    kRowExponent = 41,  ///< f32 [M,K] -> i32 [M, ceil(K/a)]: frexp exponent of the largest magnitude of each chunk of a
                        ///< columns, 0 for all zeros; a % 32 == 0
    kRowSum = 42,       ///< i32 [M,N] -> i64 [M,1], exact
    // Fixed point.
    kQuantise = 50,    ///< (x f32 [M,K], e i32 [M,nC], [1,1] or [M,1]) -> i32: rint(x * 2^(a-e)), half even; b = chunk
    kDequantise = 51,  ///< (q i64 [M,N], e i32 [M,1] or [1,1]) -> f32: RN32(RN64(q) * 2^(e-a))
    kContract = 52,    ///< (qa i32 [M,K], ea i32 [M,nC], qb i32 [N,K], eb i32 [N,nC]) -> f32 [M,N]: XG(p=a, Kc=b)
    // The last entry of a step: the state root over its inputs' commitments. Has no tensor: dtype f32, shape [0,0].
    kCommit = 90,
};
constexpr bool is_valid(Op op) {
    const auto n = static_cast<std::uint8_t>(op);
    return (n >= 1 && n <= 3) || (n >= 10 && n <= 14) || (n >= 20 && n <= 30) || (n >= 40 && n <= 42) ||
           (n >= 50 && n <= 52) || n == 90;
}
/// The primitive's name as shown to people: "contract", "batch_rows", ...
const char* to_string(Op op) noexcept;

struct Node {
    Op op = Op::kFill;
    DType dtype = DType::kF32;
    Shape shape;
    std::array<std::uint32_t, 2> attributes{};  ///< a and b above; 0 where unused
    std::vector<Input> inputs{};
    bool operator==(const Node&) const = default;
    static constexpr auto fields() {
        return std::tuple{&Node::op, &Node::dtype, &Node::shape, &Node::attributes, &Node::inputs};
    }
};

/// Limits that the decoder of programs and the referee share.
inline constexpr std::uint32_t kMaxDimension = 1U << 24U;
inline constexpr std::uint32_t kMaxStateTensors = 64;
inline constexpr std::uint32_t kMaxNodes = 10'000;

/// What a program's dataset looks like to kBatchRows.
struct DatasetShape {
    std::uint64_t rows = 0;
    std::uint32_t width = 0;  ///< i32 values per row, at most kMaxRowWidth
    bool operator==(const DatasetShape&) const = default;
    static constexpr auto fields() { return std::tuple{&DatasetShape::rows, &DatasetShape::width}; }
};
inline constexpr std::uint32_t kMaxRowWidth = 4096;

/// Why a node is not one that anybody can execute (PRG rules).
enum class [[nodiscard]] NodeError : std::uint8_t {
    kInputCount = 1,     ///< PRG-2
    kInputType = 2,      ///< PRG-2
    kInputShape = 3,     ///< PRG-2
    kOutputShape = 4,    ///< PRG-2
    kAttribute = 5,      ///< PRG-3: an attribute out of its range, or a contraction that would not be exact
    kTooLarge = 6,       ///< PRG-4: a dimension of 0 or beyond kMaxDimension
    kForwardReference = 7,  ///< PRG-5: an input that is not an earlier node, or whose type is not that node's
};

/// Whether `node` alone is well-formed: input types, shapes, attributes. Everything below requires it.
Result<void, NodeError> check_node(const Node& node) noexcept;

/// A graph: nodes, the last of which is kCommit over the next state's tensors.
using Graph = std::vector<Node>;
/// Whether the graph as a whole is well-formed: each node is, inputs refer backwards and agree with what they name,
/// state inputs agree with `state`, and the last node (only) is kCommit producing tensors of exactly `state`'s types.
struct TensorType {
    DType dtype = DType::kF32;
    Shape shape;
    bool operator==(const TensorType&) const = default;
    static constexpr auto fields() { return std::tuple{&TensorType::dtype, &TensorType::shape}; }
};
struct GraphError {
    std::uint32_t node = 0;
    NodeError error = NodeError::kInputCount;
};
Result<void, GraphError> check_graph(
    const Graph& graph, const std::vector<TensorType>& state_before, const std::vector<TensorType>& state_after
) noexcept;

}  // namespace assay::canonical
