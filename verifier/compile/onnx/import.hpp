// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
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

/// Imports ONNX models as canonical graphs: operators of the default domain, up to opset 17, as listed in
/// docs/operations/onnx.md. Only the submitter reads the model; afterwards only the graph counts.
namespace assay::onnx {

/// ONNX's numbering (TensorProto.DataType).
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
/// Returns the type's name, such as "float32" or "int64".
const char* to_string(ElementType type) noexcept;

/// An array as ONNX stores it: contiguous, row-major, little-endian; one byte per bool.
struct HostTensor {
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    Bytes data;
};

enum class ImportErrorKind : std::uint8_t {
    kMalformed = 1,      ///< not a valid protobuf encoding of a model (or tensor)
    kInvalid = 2,        ///< violates ONNX's rules: a missing value, a cycle, or mismatched types or dimensions
    kUnsupported = 3,    ///< an operator, attribute, element type or opset that the importer does not support
    kTooLarge = 4,       ///< exceeds the limits of graphs
    kNeedsConstant = 5,  ///< graph input `input` determines a shape: fix it in ForwardConfig::constants
    kConfig = 6,         ///< the configuration names something missing, or contradicts the model
};

/// Why an import failed. The message names the node, its operator and opset, if one is concerned.
struct ImportError {
    ImportErrorKind kind = ImportErrorKind::kMalformed;
    std::string message;
    std::string op;     ///< the operator, if one is concerned
    std::string input;  ///< kNeedsConstant: the graph input
};

/// Decodes a TensorProto file. Fails with ImportError.
Result<HostTensor, ImportError> decode_tensor(ByteView bytes);
/// Returns the state tensor that holds `tensor`: f32 for real numbers (float64 is rounded) and bools, i32 for integers.
/// Fails with kTooLarge for an integer outside i32, kUnsupported for a tensor without elements.
Result<canonical::Tensor, ImportError> to_state_tensor(const HostTensor& tensor);

/// Sizes of the symbolic dimensions of a model ("batch", "sequence").
using Dimensions = std::map<std::string, std::uint32_t>;

struct ForwardConfig {
    program::Profile profile = program::kXg24;
    /// Graph inputs to fix as constants; required for inputs that determine shapes.
    std::map<std::string, HostTensor> constants{};
    Dimensions dimensions{};
};

struct GraphPort {
    std::string name;
    ElementType type = ElementType::kFloat;
    program::Dims dims;
    /// For an input, the index of its state tensor; for an output, its index in the next state. Absent for an array
    /// without elements and for an input that is a constant.
    std::optional<std::uint32_t> tensor;
};

/// A model as one graph that reads `state` and commits to the outputs. Arrays are matrices as program::matrix_shape
/// says; integers are i32, bools f32 of 0 and 1.
struct ForwardGraph {
    canonical::Graph graph;
    std::vector<program::StateTensor> state;  ///< inputs, initializers and other constants, in order of first use
    std::vector<canonical::Tensor> values;    ///< initial values of `state`; zeros for inputs
    std::vector<GraphPort> inputs;
    std::vector<GraphPort> outputs;
    std::vector<std::string> notes;  ///< remarks for the user on how the model was read
};

/// Imports a model for inference. The graph passes check_graph. Fails with ImportError.
Result<ForwardGraph, ImportError> import_forward(ByteView model, const ForwardConfig& config = {});

/// Reads `length` bytes from `offset` on of a file that the model names; nullopt if there are none or it may not be
/// read.
using ExternalData =
    std::function<std::optional<Bytes>(const std::string& location, std::uint64_t offset, std::uint64_t length)>;

/// Returns the names of the other files that a model keeps tensors in, each once; none of a file that is no model.
std::vector<std::string> external_locations(ByteView model);

struct TrainingConfig {
    std::string loss{};  ///< name of a scalar graph output; the first output if empty
    std::uint32_t batch_size = 0;
    std::uint64_t dataset_rows = 0;
    program::OptimizerConfig optimizer{};
    program::Profile profile = program::kXg21;
    std::vector<std::string> frozen{};  ///< initializers that are not trained
    /// Initializers that weight decay applies to; nullopt: those of two dimensions or more.
    std::optional<std::vector<std::string>> decayed{};
    std::map<std::string, float>
        rates{};  ///< initializers whose learning rate is multiplied, and what it is multiplied by
    Dimensions dimensions{};
    ExternalData external{};  ///< for weights in other files; without it they are refused
};

/// A model with a loss, imported as a training program. The first dimension of every graph input is the batch. A
/// dataset row is the concatenation, in graph input order, of one sample of each input: f32 as its bits, integers as
/// i32, bools as 0 and 1. Float initializers that the loss depends on become parameters under their own names, with the
/// shape of program::matrix_shape.
struct TrainingImport {
    program::Program program;                ///< passes check_program
    std::vector<canonical::Tensor> initial;  ///< values of program.initial
    std::vector<std::string> notes;
};
Result<TrainingImport, ImportError> import_training(ByteView model, const TrainingConfig& config);

/// How an operator is differentiated.
enum class Derivative : std::uint8_t {
    kExact = 1,  ///< gradients are propagated
    kZero = 2,   ///< the derivative is zero wherever it exists: gradients stop here
};

struct OperatorInfo {
    std::string_view name;
    std::uint32_t since = 0;  ///< first opset with the implemented definition
    Derivative derivative = Derivative::kExact;
};
/// Returns all supported operators, sorted by name.
std::vector<OperatorInfo> supported_operators();

}  // namespace assay::onnx
