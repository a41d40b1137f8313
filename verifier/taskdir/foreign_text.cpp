// SPDX-License-Identifier: Apache-2.0
#include <verifier/taskdir/foreign_text.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <verifier/taskdir/parser_orders.hpp>

namespace assay::taskdir {
namespace {

// A tokenizer's JSON is some twenty times as large in memory as in the file, and each byte of text can be a token.
constexpr std::uint32_t kTextFactor = 32;

using Tokens = Result<ForeignTokens, TokensError>;

Tokens fail_tokens(TokensError error) { return Unexpected{std::move(error)}; }
Tokens garbage_tokens() { return fail_tokens(sandbox::make_refusal(sandbox::RefusalKind::kGarbage)); }

Tokens cut_here(ByteView tokenizer_file, ByteView text) {
    const auto tokenizer = text::Tokenizer::from_json(tokenizer_file);
    if (!tokenizer) {
        return fail_tokens(tokenizer.error());
    }
    auto ids = tokenizer->encode(as_text(text));
    if (!ids) {
        return fail_tokens(ids.error());
    }
    return ForeignTokens{.ids = *std::move(ids), .vocabulary_size = tokenizer->vocabulary_size()};
}

Tokens take_text_problem(TextProblem problem) {
    if (problem.is_of_tokenizer) {
        const auto error = static_cast<text::TokenizerError>(problem.error);
        const bool is_known = error >= text::TokenizerError::kJson && error <= text::TokenizerError::kAddedTokens;
        return is_known ? fail_tokens(text::TokenizerProblem{error, std::move(problem.message)}) : garbage_tokens();
    }
    const auto error = static_cast<text::EncodeError>(problem.error);
    const bool is_known = error == text::EncodeError::kNotUtf8 || error == text::EncodeError::kPatternCost;
    return is_known ? fail_tokens(error) : garbage_tokens();
}

Tokens take_tokens(std::uint32_t vocabulary_size, ByteView words, std::uint64_t text_bytes) {
    // Every token is at least a byte of the text, or of the space that some tokenizers put before a part of it.
    const std::uint64_t count = words.size() / 4;
    if (words.size() % 4 != 0 || count > 2 * text_bytes + 2 || vocabulary_size > text::kMaxTokens) {
        return garbage_tokens();
    }
    ForeignTokens out{.ids = {}, .vocabulary_size = vocabulary_size};
    out.ids.reserve(count);
    for (std::size_t i = 0; i < words.size(); i += 4) {
        std::uint32_t id = 0;
        for (std::size_t b = 0; b < 4; ++b) {
            id |= std::uint32_t{words[i + b]} << (8 * b);
        }
        out.ids.push_back(id);
    }
    const bool are_known =
        std::all_of(out.ids.begin(), out.ids.end(), [&](std::uint32_t id) { return id < vocabulary_size; });
    return are_known ? Tokens(std::move(out)) : garbage_tokens();
}

}  // namespace

Tokens cut_by_foreign_tokenizer(const artifacts::StoredFile& tokenizer, const artifacts::StoredFile& text) {
    if (sandbox::mode() == sandbox::Mode::kOff) {
        return cut_here(tokenizer.view(), text.view());
    }
    const sandbox::Call call{
        .parser = "text",
        .files = {{tokenizer.descriptor(), tokenizer.size_bytes()}, {text.descriptor(), text.size_bytes()}},
        .limits = sandbox::limits_for(tokenizer.size_bytes() + text.size_bytes(), kTextFactor)};
    const auto mapped = sandbox::run(call);
    if (!mapped) {
        return fail_tokens(mapped.error());
    }
    ByteView rest = mapped->bytes();
    const auto encoded = take_answer(rest);
    auto answer = encoded ? codec::decode<TextAnswer>(*encoded) : Unexpected{codec::DecodeError::kTruncated};
    if (!answer) {
        return garbage_tokens();
    }
    if (auto* problem = std::get_if<TextProblem>(&*answer)) {
        return take_text_problem(std::move(*problem));
    }
    return take_tokens(std::get<TextMade>(*answer).vocabulary_size, rest, text.size_bytes());
}

}  // namespace assay::taskdir
