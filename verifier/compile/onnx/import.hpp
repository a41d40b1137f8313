// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/canonical/node.hpp>
#include <core/canonical/tile.hpp>
#include <verifier/compile/program/array.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/program.hpp>

/// ONNX models as canonical graphs: the operators of the default domain, opsets up to 17, that docs/operations/onnx.md
/// lists. What a model computes is read once, by whoever submits it; from then on only the graph counts.
namespace assay::onnx {

/// ONNX's own numbers (TensorProto.DataType).
enum class ElementType : std::uint8_t {
    kFloat = 1,
    kUint8 = 2,
    kInt8 = 3,
    kUint16 = 4,
    kInt16 = 5,
    kInt32 = 6,
    kInt64 = 7,
    kBool = 9,
    kFloat16 = 10,
    kDouble = 11,
    kUint32 = 12,
    kUint64 = 13,
    kBfloat16 = 16,
};
/// "float32", "int64", ...
const char* to_string(ElementType type) noexcept;

/// An array as models store it: row-major little-endian elements without gaps; one byte for a bool.
struct HostTensor {
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    Bytes data;
};

enum class ImportErrorKind : std::uint8_t {
    kMalformed = 1,      ///< not the protobuf encoding of a model (or tensor)
    kInvalid = 2,        ///< breaks ONNX's own rules: a missing value, a cycle, types or dimensions that do not fit
    kUnsupported = 3,    ///< an operator, attribute, element type or opset that this importer does not know
    kTooLarge = 4,       ///< beyond the limits of graphs
    kNeedsConstant = 5,  ///< graph input `input` decides a shape: give it in ForwardConfig::constants
    kConfig = 6,         ///< the configuration names what is not there, or contradicts the model
};

/// Why a model was not imported. The message names the node, its operator and its opset where one is concerned.
struct ImportError {
    ImportErrorKind kind = ImportErrorKind::kMalformed;
    std::string message;
    std::string op;     ///< the operator, where one is concerned
    std::string input;  ///< kNeedsConstant
};

/// A TensorProto file.
Result<HostTensor, ImportError> decode_tensor(ByteView bytes);
/// The state tensor that holds `tensor` in a graph: f32 for real numbers (float64 is rounded) and bools, i32 for
/// integers. kTooLarge for an integer beyond i32, kUnsupported for a tensor without elements.
Result<canonical::Tensor, ImportError> to_state_tensor(const HostTensor& tensor);

/// Sizes for the named dimensions that models leave open ("batch", "sequence").
using Dimensions = std::map<std::string, std::uint32_t>;

struct ForwardConfig {
    program::Profile profile = program::kXg24;
    /// Graph inputs that are fixed from here on: those that decide shapes must be.
    std::map<std::string, HostTensor> constants{};
    Dimensions dimensions{};
};

struct GraphPort {
    std::string name;
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    /// Of an input: the state tensor that holds it. Of an output: its position in the next state. Absent for an array
    /// without elements and for an input that is a constant.
    std::optional<std::uint32_t> tensor;
};

/// A model as one graph: it reads `state` and commits to the outputs. An array of dimensions d0 .. dn is the matrix
/// program::matrix_shape says; integers are i32, bools f32 of 0 and 1.
struct ForwardGraph {
    canonical::Graph graph;
    std::vector<program::StateTensor> state;   ///< inputs, initializers and other constants, in order of use
    std::vector<canonical::Tensor> values;     ///< what `state` starts from; zeros for inputs
    std::vector<GraphPort> inputs;
    std::vector<GraphPort> outputs;
    std::vector<std::string> notes;            ///< what a user should know about how the model was read
};

/// The model as it infers. The graph passes check_graph.
Result<ForwardGraph, ImportError> import_forward(ByteView model, const ForwardConfig& config = {});

struct TrainingConfig {
    std::string loss{};  ///< name of a graph output that is a scalar; the first output when empty
    std::uint32_t batch_size = 0;
    std::uint64_t dataset_rows = 0;
    program::OptimizerConfig optimizer{};
    program::Profile profile = program::kXg21;
    std::vector<std::string> frozen{};  ///< initializers that are not trained
    Dimensions dimensions{};
};

/// A model with a loss as a program. The first dimension of every graph input is the batch. A dataset row is the
/// concatenation, in the order of graph inputs, of one sample of each: f32 as its bits, integers as i32, bools as 0
/// and 1. Float initializers that the loss depends on are parameters under their own names, and keep the shape that
/// program::matrix_shape gives them.
struct TrainingImport {
    program::Program program;                ///< passes check_program
    std::vector<canonical::Tensor> initial;  ///< values for program.initial
    std::vector<std::string> notes;
};
Result<TrainingImport, ImportError> import_training(ByteView model, const TrainingConfig& config);

/// How an operator takes part in training.
enum class Derivative : std::uint8_t {
    kExact = 1,  ///< gradients flow through it
    kZero = 2,   ///< its derivative is zero where it has one: gradients stop here
};

struct OperatorInfo {
    std::string_view name;
    std::uint32_t since = 0;  ///< the first opset whose definition is the one implemented
    Derivative derivative = Derivative::kExact;
};
/// Everything that can be imported, by name.
std::vector<OperatorInfo> supported_operators();

}  // namespace assay::onnx
