// SPDX-License-Identifier: Apache-2.0
#include <verifier/parser/parsers.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <core/codec/borsh.hpp>
#include <verifier/compile/onnx/import.hpp>
#include <verifier/taskdir/parser_orders.hpp>
#include <verifier/text/pattern.hpp>
#include <verifier/text/tokenizer.hpp>

namespace assay::parser {
namespace {

using namespace assay::taskdir;

/// Writes an answer that something else follows.
template <class Answer>
void write_answer(const sandbox::Output& output, const Answer& answer) {
    const Bytes encoded = codec::encode(answer);
    output.write(length_of(encoded));
    output.write(encoded);
}

/// Names in a model may be any bytes; in an answer they are UTF-8.
std::string readable(std::string text) {
    if (!text::is_utf8(text)) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?'
        );
    }
    return text;
}

/// Reads weights out of the files that the order names; the call's first file is the model.
onnx::ExternalData weights_of(const ModelOrder& order, const sandbox::Input& input) {
    return [&order, &input](const std::string& location, std::uint64_t offset, std::uint64_t length) {
        const auto found = std::find(order.locations.begin(), order.locations.end(), location);
        std::optional<Bytes> out;
        if (found == order.locations.end()) {
            return out;
        }
        const ByteView file = input.files.at(1 + static_cast<std::size_t>(found - order.locations.begin()));
        if (offset <= file.size() && length <= file.size() - offset) {
            const ByteView part = file.subspan(offset, length);
            out.emplace(part.begin(), part.end());
        }
        return out;
    };
}

}  // namespace

void parse_onnx(const sandbox::Input& input, const sandbox::Output& output) {
    const ModelOrder order = codec::decode<ModelOrder>(input.config).value();
    const ByteView model = input.files.at(0);
    if (!order.is_complete) {
        auto locations = onnx::external_locations(model);
        std::erase_if(locations, [](const std::string& name) { return !text::is_utf8(name); });
        if (!locations.empty()) {
            write_answer(output, ModelAnswer(ModelNeeds{std::move(locations)}));
            return;
        }
    }
    onnx::TrainingConfig config = to_config(order);
    config.external = weights_of(order, input);
    auto made = onnx::import_training(model, config);
    if (!made) {
        const onnx::ImportError& error = made.error();
        write_answer(
            output, ModelAnswer(ModelProblem{
                        .kind = static_cast<std::uint8_t>(error.kind),
                        .message = readable(error.message),
                        .op = readable(error.op),
                        .input = readable(error.input)})
        );
        return;
    }
    std::transform(made->notes.begin(), made->notes.end(), made->notes.begin(), readable);
    auto types = program::types_of(made->program.initial);
    write_answer(
        output, ModelAnswer(ModelMade{
                    .program = std::move(made->program), .initial = std::move(types), .notes = std::move(made->notes)})
    );
    for (const canonical::Tensor& tensor : made->initial) {
        output.write(tensor.data);
    }
}

void parse_text(const sandbox::Input& input, const sandbox::Output& output) {
    const auto tokenizer = text::Tokenizer::from_json(input.files.at(0));
    if (!tokenizer) {
        write_answer(
            output, TextAnswer(TextProblem{
                        .is_of_tokenizer = true,
                        .error = static_cast<std::uint8_t>(tokenizer.error().error),
                        .message = readable(tokenizer.error().message)})
        );
        return;
    }
    const auto tokens = tokenizer->encode(as_text(input.files.at(1)));
    if (!tokens) {
        write_answer(
            output, TextAnswer(TextProblem{
                        .is_of_tokenizer = false, .error = static_cast<std::uint8_t>(tokens.error()), .message = {}})
        );
        return;
    }
    write_answer(output, TextAnswer(TextMade{tokenizer->vocabulary_size()}));
    Bytes words;
    words.reserve(tokens->size() * 4);
    for (const std::uint32_t token : *tokens) {
        for (std::size_t i = 0; i < 4; ++i) {
            words.push_back(static_cast<std::uint8_t>(token >> (8 * i)));
        }
    }
    output.write(words);
}

}  // namespace assay::parser
