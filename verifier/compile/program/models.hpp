// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/compile/program/boundary.hpp>
#include <verifier/compile/program/graph_builder.hpp>
#include <verifier/compile/program/optimizer.hpp>

/// Model families that the tools can train without being given a graph. They are not part of the protocol: any program
/// that check_program accepts may be trained.
namespace assay::program {

struct Program;

/// Why a configuration cannot be built. All builders require a configuration that passes check_model.
enum class [[nodiscard]] ModelError : std::uint8_t{
    kZero = 1,         ///< a size of 0, or a scale that is not finite
    kAlignment = 2,    ///< a size that is not a multiple of 32 as required, or heads that do not divide the width
    kRowWidth = 3,     ///< a dataset row of more than kMaxDimension values
    kTooLarge = 4,     ///< a matrix, or the number of state tensors or nodes, exceeds the limits of PRG-4
    kProbability = 5,  ///< dropout not in [0, 1)
    kProfile = 6,      ///< a precision and chunk that PRG-3 does not allow
    kTooSmall = 7,     ///< an image that pooling reduces to nothing
    kOptimizer = 8,    ///< check_optimizer rejects the optimizer
    kReplicas = 9,     ///< the batch cannot be divided into equal rows for each replica
    kBoundary = 10,    ///< a boundary behind no hidden layer, of other numbers of bits, of columns that are no multiple
                       ///< of 32, with replicas, or with more rows of data than a table has
};

/// A character-level language model: embedding of `context` characters, one hidden layer, softmax cross-entropy on the
/// next character. Dataset rows are context+1 character ids.
struct CharModelConfig {
    std::uint32_t vocabulary = 0;
    std::uint32_t context = 16;
    std::uint32_t embedding = 32;  ///< multiple of 32
    std::uint32_t hidden = 128;
    std::uint32_t batch_size = 64;
    std::uint64_t dataset_rows = 0;
    Profile profile = kXg21;
};

/// How the i32 values of a dataset row encode real numbers.
enum class Encoding : std::uint8_t {
    kInteger = 1,    ///< the integer itself
    kFloatBits = 2,  ///< the f32 with these bits
};

/// A multilayer perceptron: linear layers with ReLU, softmax cross-entropy. A dataset row is the features, then the
/// class.
struct MlpConfig {
    std::uint32_t features = 0;
    std::vector<std::uint32_t> hidden{128};
    std::uint32_t classes = 0;
    Encoding encoding = Encoding::kInteger;
    float scale = 1.0F;  ///< factor for the features
    std::uint32_t batch_size = 64;
    std::uint64_t dataset_rows = 0;
    Profile profile = kXg21;
    /// With a boundary behind a hidden layer a row ends with its number in the dataset, after the class.
    Boundary boundary{};
};

/// A convolutional network: stages of same-size convolution, optional batch normalisation, ReLU and 2x2 max pooling,
/// then a linear layer and softmax cross-entropy. A dataset row is the image in row-major order with interleaved
/// channels, then the class.
struct CnnConfig {
    std::uint32_t height = 8;
    std::uint32_t width = 8;
    std::uint32_t channels = 1;
    std::vector<std::uint32_t> filters{16, 32};  ///< of each stage
    std::uint32_t kernel = 3;                    ///< odd
    std::uint32_t classes = 10;
    bool batch_norm = false;
    Encoding encoding = Encoding::kInteger;
    float scale = 1.0F;  ///< factor for the pixels
    std::uint32_t batch_size = 32;
    std::uint64_t dataset_rows = 0;
    Profile profile = kXg21;
};

/// What a transformer of the Llama family has in place of GPT-2's blocks: RMS normalisation, SwiGLU, query heads that
/// share key and value heads, and no biases.
struct LlamaBlocks {
    std::uint32_t key_heads = 2;  ///< of keys and of values; a divisor of `heads`
    std::uint32_t hidden = 192;   ///< width between the projections of SwiGLU
};

/// A decoder-only transformer with a normalisation before each part of a block. GPT-2's blocks have layer
/// normalisation, GELU and biases everywhere; the head has no bias. Dataset rows are context+1 tokens; the loss is the
/// mean over all positions.
struct GptConfig {
    std::uint32_t vocabulary = 0;
    std::uint32_t context = 64;  ///< multiple of 32
    std::uint32_t layers = 2;
    std::uint32_t heads = 2;
    std::uint32_t width = 64;  ///< a multiple of 32 times `heads`
    bool rotary = false;       ///< rotary instead of learned position embedding
    float rotary_base = 10000.0F;
    bool tied_head = true;  ///< share the head's weight with the embedding
    float dropout = 0.0F;   ///< on the embedding and on each block's residual branch
    std::uint32_t batch_size = 8;
    std::uint64_t dataset_rows = 0;
    Profile profile = kXg21;
    std::optional<LlamaBlocks> llama{};  ///< Llama's blocks instead of GPT-2's
};

Result<void, ModelError> check_model(const CharModelConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_model(const MlpConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_model(const CnnConfig& model, const OptimizerConfig& optimizer);
Result<void, ModelError> check_model(const GptConfig& model, const OptimizerConfig& optimizer);

// Each function builds the forward graph, differentiates it and appends the optimizer; with several replicas, it does
// the first two for each of them. The configuration must pass
// check_model; the result passes check_program.

Program build_char_model(const CharModelConfig& model, const OptimizerConfig& optimizer);
Program build_mlp(const MlpConfig& model, const OptimizerConfig& optimizer);
Program build_cnn(const CnnConfig& model, const OptimizerConfig& optimizer);
Program build_gpt(const GptConfig& model, const OptimizerConfig& optimizer);

}  // namespace assay::program
