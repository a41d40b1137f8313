// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/text/tokenizer.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto tokenizer = text::Tokenizer::from_json(input);
    if (!tokenizer) {
        ASSERT(!tokenizer.error().message.empty());
        return;
    }
    for (const std::string_view text : {std::string_view("it's 12 words\n  <|endoftext|>\xC3\xA4"), as_text(input)}) {
        const auto tokens = tokenizer->encode(text);
        if (!tokens) {
            continue;
        }
        for (const std::uint32_t token : *tokens) {
            ASSERT(token < tokenizer->vocabulary_size());
        }
        const auto back = tokenizer->decode(*tokens);
        // A file may ask for a space before each part; nothing else is added and nothing is lost.
        ASSERT(back.has_value() && back->size() >= text.size());
    }
}

}  // namespace assay::fuzz
