// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/fields.hpp>
#include <core/base/result.hpp>
#include <core/canonical/dataset.hpp>

/// The computation graph of a training step: a list of nodes in canonical (topological) order, each a primitive with
/// one output tensor. A node is self-contained, including the types of its inputs, so that a one-step verifier can
/// judge it alone.
namespace assay::canonical {

enum class DType : std::uint8_t {
    kF32 = 1,
    kI32 = 2,
    kI64 = 3,
    kBf16 = 4,  ///< the upper half of an f32
    kI8 = 5,
};
constexpr bool is_valid(DType d) { return d >= DType::kF32 && d <= DType::kI8; }
constexpr std::uint32_t size_of(DType d) {
    switch (d) {
        case DType::kI64:
            return 8;
        case DType::kBf16:
            return 2;
        case DType::kI8:
            return 1;
        default:
            return 4;
    }
}
/// Whether only kNarrow writes tensors of this type and only kWiden reads them; a state may hold them (PRG-2).
constexpr bool is_narrow(DType d) { return d == DType::kBf16 || d == DType::kI8; }

/// Every tensor is a matrix, row-major; a vector is [1, n] or [n, 1], a scalar [1, 1].
struct Shape {
    std::uint32_t rows = 0;
    std::uint32_t cols = 0;
    constexpr bool operator==(const Shape&) const = default;
    constexpr std::uint64_t element_count() const { return std::uint64_t{rows} * cols; }
    static constexpr auto fields() { return Fields<&Shape::rows, &Shape::cols>{}; }
};

/// Origin of an input: an earlier node of the same graph, or a tensor of the state before the step.
enum class Source : std::uint8_t { kNode = 1, kState = 2 };
constexpr bool is_valid(Source s) { return s == Source::kNode || s == Source::kState; }

struct Input {
    Source source = Source::kNode;
    std::uint32_t index = 0;
    DType dtype = DType::kF32;
    Shape shape;
    bool operator==(const Input&) const = default;
    static constexpr auto fields() { return Fields<&Input::source, &Input::index, &Input::dtype, &Input::shape>{}; }
};

/// One axis of a view's input: coordinate = (offset + sum over the output's axes of stride * index) / divisor.
struct ViewAxis {
    std::uint32_t size = 1;
    std::int32_t offset = 0;
    std::uint32_t divisor = 1;
    std::vector<std::int32_t> strides{};  ///< one per entry of View::dims
    bool operator==(const ViewAxis&) const = default;
    static constexpr auto fields() {
        return Fields<&ViewAxis::size, &ViewAxis::offset, &ViewAxis::divisor, &ViewAxis::strides>{};
    }
};

/// For each element of a kView, the input element that it copies (NUM-34). Both matrices are read as row-major arrays
/// with the sizes `dims` (output) and the axes' sizes (input). If a coordinate is negative, fractional or not below its
/// axis' size, the element is the node's fill value. This one map covers reshape, transpose, permutation, slice,
/// padding, expansion, the windows of a convolution, and the adjoint of each.
struct View {
    std::vector<std::uint32_t> dims{};
    std::vector<ViewAxis> axes{};
    bool operator==(const View&) const = default;
    static constexpr auto fields() { return Fields<&View::dims, &View::axes>{}; }
};
inline constexpr std::size_t kMaxViewAxes = 8;
/// Maximum size of one axis; keeps coordinates within an i64.
inline constexpr std::uint32_t kMaxViewSize = 1U << 28U;

/// The primitives (NUM rules; bit-exact definitions in docs/protocol/numerics.md). x is [M,N] unless stated otherwise;
/// `a`, `b` are the node's attributes, 0 if unused.
enum class Op : std::uint8_t {
    // Sources: no tensor inputs.
    kBatchRows = 1,  ///< i32 [B,W]: dataset row feistel(step*B + r) for each r; W is the rows' width
    kUniform = 2,    ///< f32 [M,N]: uniform in [-bound, bound); a = bits of bound (f32), b = tensor id for Philox
    kFill = 3,       ///< f32 [M,N]: every element is the f32 whose bits are a
    kBernoulli = 4,  ///< f32 [M,N]: 1 where the element's Philox word is below a, else 0; b = tensor id
    kStepCount = 5,  ///< f32 [1,1]: floor(step / a), then modulo b unless b is 0; a >= 1
    // Data movement.
    kView = 10,            ///< (x) -> [M,N] by Node::view; f32, i32, i64; a = bits of the fill (0 for i64)
    kGatherRows = 12,      ///< (table f32 [V,D], index i32 [B,C]) -> f32 [B,C*D]; D % 32 == 0
    kScatterAddRows = 13,  ///< (q i32 [B,C*D], index i32 [B,C]) -> i64 [V,D], exact sums; D % 32 == 0
    kOneHot = 14,          ///< (index i32 [B,1]) -> f32 [B,V]: 1.0 where column == index, else +0.0
    // Elementwise conversions.
    kFromBits = 15,  ///< (i32) -> f32: the f32 with these bits, made canonical (NUM-7)
    kToFloat = 16,   ///< (i32) -> f32: the nearest f32
    kToInt = 17,     ///< (f32) -> i32: towards zero, clamped to the range of i32; NaN gives 0
    kNarrow = 18,  ///< (f32) or (f32, dither f32) -> bf16: the nearest, or by the dither (NUM-39); (i32) -> i8: clamped
    kWiden = 19,   ///< (bf16) -> f32, (i8) -> i32: the same number (NUM-40)
    // Elementwise: one correctly rounded operation or canonical algorithm each. Operands after the first may be [M,N],
    // [M,1], [1,N] or [1,1]. True is 1.0, false is 0.0.
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
    kTanh = 31,      ///< canonical tanh (NUM-25)
    kErf = 32,       ///< canonical erf (NUM-26)
    kSin = 33,       ///< canonical sin (NUM-27)
    kCos = 34,       ///< canonical cos (NUM-27)
    kAbs = 35,
    kFloor = 36,
    kRint = 37,  ///< to the nearest integer, ties to even
    kMax = 38,   ///< (x, y) -> x > y ? x : y
    kMin = 39,   ///< (x, y) -> x < y ? x : y
    // Row reductions, chained over column tiles.
    kRowMax = 40,       ///< f32 or i32 [M,N] -> [M,1]
    kRowExponent = 41,  ///< f32 [M,K] -> i32 [M, ceil(K/a)]: frexp exponent of the largest magnitude of each chunk of a
                        ///< columns, 0 for all zeros; a % 32 == 0
    kRowSum = 42,       ///< i32 [M,N] -> i64 [M,1], exact
    kRowArgMax = 43,    ///< f32 [M,N] -> i32 [M,1]: the first column with kRowMax's value; 0 for a row of NaN
    // Fixed point.
    kQuantise = 50,    ///< (x f32 [M,K], e i32 [M,nC], [1,1] or [M,1]) -> i32: rint(x * 2^(a-e)), half even; b = chunk
    kDequantise = 51,  ///< (q i64 [M,N], e i32 [M,1] or [1,1]) -> f32: RN32(RN64(q) * 2^(e-a))
    /// (qa i32 [G*M,K], ea i32 [G*M,nC], qb i32 [G*N,K], eb i32 [G*N,nC]) -> f32 [G*M,N]: for each group of M rows of
    /// qa
    /// and N rows of qb, XG(p=a, Kc=b) of the first and the transpose of the second. G is qb's rows divided by N; if it
    /// is not 1, M and N are multiples of 32.
    kContract = 52,
    // More elementwise operations.
    kLess = 60,        ///< (x, y) -> x < y
    kEqual = 61,       ///< (x, y) -> x == y
    kSelect = 62,      ///< (x, c, y) -> c != 0 ? x : y
    kCausalMask = 63,  ///< (x) -> column <= row modulo a ? x : the f32 whose bits are b
    // The last entry of a step: the state root over its inputs' commitments. Has no output tensor: dtype f32, shape
    // [0,0].
    kCommit = 90,
};
constexpr bool is_valid(Op op) {
    const auto n = static_cast<std::uint8_t>(op);
    return (n >= 1 && n <= 5) || n == 10 || (n >= 12 && n <= 43) || (n >= 50 && n <= 52) || (n >= 60 && n <= 63) ||
           n == 90;
}
/// The primitive's display name: "contract", "batch_rows", ...
const char* to_string(Op op) noexcept;

struct Node {
    Op op = Op::kFill;
    DType dtype = DType::kF32;
    Shape shape;
    std::array<std::uint32_t, 2> attributes{};  ///< a and b above; 0 where unused
    std::vector<Input> inputs{};
    std::optional<View> view{};  ///< kView only
    bool operator==(const Node&) const = default;
    static constexpr auto fields() {
        return Fields<&Node::op, &Node::dtype, &Node::shape, &Node::attributes, &Node::inputs, &Node::view>{};
    }
};

/// Limits shared by the decoder of programs and the one-step verifier.
inline constexpr std::uint32_t kMaxDimension = 1U << 24U;
inline constexpr std::uint32_t kMaxStateTensors = 4'096;
/// Tensors that a graph may read from before a step. More than a state has, so that three states (TOL-1), or a state
/// and a hold-out set (EVL-2), fit with the gaps between them.
inline constexpr std::uint32_t kMaxTensorsBefore = 4 * kMaxStateTensors;
inline constexpr std::uint32_t kMaxNodes = 65'536;

/// Why a node cannot be executed (PRG rules).
enum class [[nodiscard]] NodeError : std::uint8_t{
    kInputCount = 1,        ///< PRG-2
    kInputType = 2,         ///< PRG-2
    kInputShape = 3,        ///< PRG-2
    kOutputShape = 4,       ///< PRG-2
    kAttribute = 5,         ///< PRG-3: an attribute is out of range, or the contraction would not be exact
    kTooLarge = 6,          ///< PRG-4: a dimension is 0 or exceeds kMaxDimension
    kForwardReference = 7,  ///< PRG-5: an input is not an earlier node, or has another type than that node's output
};

/// Number of independent products in a kContract: the rows of its right operand divided by its columns.
constexpr std::uint32_t group_count(const Node& contract) {
    return contract.inputs[2].shape.rows / contract.shape.cols;
}

/// Whether `node` alone is well-formed: input types, shapes and attributes. The functions below require it unless they
/// check it.
Result<void, NodeError> check_node(const Node& node) noexcept;

/// The nodes of a graph; the last one is kCommit over the tensors of the next state.
using Graph = std::vector<Node>;
/// Type of a tensor.
struct TensorType {
    DType dtype = DType::kF32;
    Shape shape;
    bool operator==(const TensorType&) const = default;
    static constexpr auto fields() { return Fields<&TensorType::dtype, &TensorType::shape>{}; }
};
struct GraphError {
    std::uint32_t node = 0;
    NodeError error = NodeError::kInputCount;
};
/// Whether the graph is well-formed: each node is, inputs refer backwards and match the types of what they name, state
/// inputs match `state_before`, and the last node (only) is kCommit, producing tensors of exactly the types of
/// `state_after`. Fails with the first bad node.
Result<void, GraphError> check_graph(
    const Graph& graph, const std::vector<TensorType>& state_before, const std::vector<TensorType>& state_after
) noexcept;

}  // namespace assay::canonical
