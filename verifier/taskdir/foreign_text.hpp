// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include <core/base/result.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/sandbox/sandbox.hpp>
#include <verifier/text/tokenizer.hpp>

/// Texts cut by a tokenizer that may be a stranger's, in the sandbox: its patterns are programs.
namespace assay::taskdir {

struct ForeignTokens {
    std::vector<std::uint32_t> ids;     ///< below `vocabulary_size`
    std::uint32_t vocabulary_size = 0;  ///< at most text::kMaxTokens
};
using TokensError = std::variant<text::TokenizerProblem, text::EncodeError, sandbox::Refusal>;

/// Cuts `text` by the tokenizer.json `tokenizer`.
Result<ForeignTokens, TokensError> cut_by_foreign_tokenizer(
    const artifacts::StoredFile& tokenizer, const artifacts::StoredFile& text
);

}  // namespace assay::taskdir
