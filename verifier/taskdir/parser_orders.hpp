// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <verifier/compile/onnx/import.hpp>

/// What the parsers of models and texts are told and what they answer, encoded with Borsh.
namespace assay::taskdir {

/// An onnx::TrainingConfig, with real numbers as their bits, and the files that hold weights: of the call's files the
/// first is the model, and the others are these.
struct ModelOrder {
    std::string loss;
    std::uint32_t batch_size = 0;
    std::uint64_t dataset_rows = 0;
    Bytes optimizer;
    std::uint32_t precision = 0;
    std::uint32_t chunk = 0;
    std::vector<std::string> frozen;
    std::optional<std::vector<std::string>> decayed;
    std::map<std::string, std::uint32_t> rates;
    std::map<std::string, std::uint32_t> dimensions;
    std::vector<std::string> locations;
    bool is_complete = false;  ///< there are no other files: what lacks is not asked for
    static constexpr auto fields() {
        return Fields<
            &ModelOrder::loss, &ModelOrder::batch_size, &ModelOrder::dataset_rows, &ModelOrder::optimizer,
            &ModelOrder::precision, &ModelOrder::chunk, &ModelOrder::frozen, &ModelOrder::decayed, &ModelOrder::rates,
            &ModelOrder::dimensions, &ModelOrder::locations, &ModelOrder::is_complete>{};
    }
};
ModelOrder to_order(const onnx::TrainingConfig& config);
/// The same way back. The order is our own; of one that is not, the configuration may be anything.
onnx::TrainingConfig to_config(const ModelOrder& order);

/// The model has weights in these files and did not get them.
struct ModelNeeds {
    std::vector<std::string> locations;
    static constexpr auto fields() { return Fields<&ModelNeeds::locations>{}; }
};
struct ModelProblem {
    std::uint8_t kind = 0;
    std::string message{};
    std::string op{};
    std::string input{};
    static constexpr auto fields() {
        return Fields<&ModelProblem::kind, &ModelProblem::message, &ModelProblem::op, &ModelProblem::input>{};
    }
};
/// A program. The values of its initial tensors follow the answer, one after another.
struct ModelMade {
    program::Program program;
    std::vector<canonical::TensorType> initial;
    std::vector<std::string> notes;
    static constexpr auto fields() { return Fields<&ModelMade::program, &ModelMade::initial, &ModelMade::notes>{}; }
};
using ModelAnswer = std::variant<ModelNeeds, ModelProblem, ModelMade>;

/// How to cut a text into tokens: the call's files are the tokenizer and the text.
struct TextProblem {
    bool is_of_tokenizer = false;
    std::uint8_t error = 0;
    std::string message{};  ///< of the tokenizer
    static constexpr auto fields() {
        return Fields<&TextProblem::is_of_tokenizer, &TextProblem::error, &TextProblem::message>{};
    }
};
/// The tokens follow the answer, each a u32.
struct TextMade {
    std::uint32_t vocabulary_size = 0;
    static constexpr auto fields() { return Fields<&TextMade::vocabulary_size>{}; }
};
using TextAnswer = std::variant<TextProblem, TextMade>;

/// An answer that is followed by something else comes after its own length, a u64. Returns the length's bytes.
Bytes length_of(ByteView answer);
/// Cuts off an answer with its length; nullopt where there is none.
std::optional<ByteView> take_answer(ByteView& bytes);

}  // namespace assay::taskdir
