// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/text/pattern.hpp>

/// Byte-pair tokenisation as a Hugging Face tokenizer.json describes it: byte-level vocabularies, as of GPT-2 and
/// Llama 3. What else such files can ask for is refused, since other tokens than the model was trained with are worse
/// than none.
namespace assay::text {

/// Which part of a tokenizer.json is not understood.
enum class [[nodiscard]] TokenizerError : std::uint8_t{
    kJson = 1,          ///< not a JSON object, or larger than kMaxTokenizerFile
    kModel = 2,         ///< a model other than byte-pair encoding, or an option of it that is not supported
    kNormalizer = 3,    ///< the text would be changed before it is tokenised
    kPreTokenizer = 4,  ///< another way to cut text than byte-level pieces and isolated matches
    kPattern = 5,       ///< a regular expression that is not supported
    kVocabulary = 6,    ///< a token without a number, two of one number, or a byte without a token
    kMerges = 7,        ///< a merge of tokens that the vocabulary does not have
    kAddedTokens = 8,   ///< an added token that absorbs its surroundings, or contradicts the vocabulary
};

struct TokenizerProblem {
    TokenizerError error = TokenizerError::kJson;
    std::string message;  ///< what is wrong and where, for people
};

/// Why a text cannot be tokenised.
enum class [[nodiscard]] EncodeError : std::uint8_t{
    kNotUtf8 = 1,
    kPatternCost = 2,  ///< a match of the file's regular expression takes too many steps
};
const char* to_string(EncodeError error) noexcept;

inline constexpr std::size_t kMaxTokenizerFile = 64U << 20U;
inline constexpr std::uint32_t kMaxTokens = 1U << 24U;

/// Turns text into token ids and back. Immutable: threads may share one.
class Tokenizer {
  public:
    static Result<Tokenizer, TokenizerProblem> from_json(ByteView file);

    /// The tokens of `text`. Nothing is added at its start or end: the file's post-processor is not applied. An added
    /// token, such as "<|endoftext|>", is recognised where the text has it.
    Result<std::vector<std::uint32_t>, EncodeError> encode(std::string_view text) const;

    /// The bytes of `tokens`, with those of special tokens; nullopt if one of them does not exist.
    std::optional<std::string> decode(const std::vector<std::uint32_t>& tokens) const;

    /// One more than the largest token id: the rows that an embedding needs.
    std::uint32_t vocabulary_size() const { return static_cast<std::uint32_t>(bytes_.size()); }

  private:
    friend class TokenizerReader;

    struct Merge {
        std::uint32_t rank = 0;
        std::uint32_t token = 0;
    };
    struct AddedToken {
        std::string content;
        std::uint32_t id = 0;
    };
    /// Added tokens by their first byte, the longest first.
    using AddedTokens = std::array<std::vector<AddedToken>, 256>;
    using Cache = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;

    /// A part of the text, or an added token.
    struct Part {
        std::string_view text;
        std::optional<std::uint32_t> token;
    };
    static std::vector<Part> split(const AddedTokens& added, const std::vector<Part>& parts);
    bool encode_part(std::string_view text, Cache& cache, std::vector<std::uint32_t>& out) const;
    std::vector<std::uint32_t> encode_piece(std::string_view piece) const;
    const Merge* find_merge(std::uint32_t left, std::uint32_t right) const;

    std::vector<std::optional<std::string>> bytes_;  // by token id
    std::array<std::uint32_t, 256> byte_tokens_{};
    std::unordered_map<std::uint64_t, Merge> merges_;       // by left << 32 | right
    std::unordered_map<std::string, std::uint32_t> whole_;  // pieces that are tokens whatever the merges say
    std::vector<Pattern> patterns_;                         // each cuts what those before it left
    bool add_prefix_space_ = false;
    AddedTokens raw_;         // found first
    AddedTokens normalized_;  // found in what the former left
};

}  // namespace assay::text
