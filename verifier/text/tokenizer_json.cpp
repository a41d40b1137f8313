// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>
#include <verifier/text/byte_alphabet.hpp>
#include <verifier/text/tokenizer.hpp>

namespace assay::text {

using Json = nlohmann::json;
using Checked = Result<void, TokenizerProblem>;

namespace {

/// The pieces of a byte-level pre-tokenizer that names no regular expression of its own.
constexpr const char* kByteLevelPattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
constexpr std::size_t kMaxPreTokenizers = 16;  // of a sequence

Unexpected<TokenizerProblem> problem(TokenizerError error, std::string message) {
    return Unexpected{TokenizerProblem{error, std::move(message)}};
}

/// The member `name` of `object`; null if there is none.
const Json& member(const Json& object, const char* name) {
    static const Json kNull;
    if (!object.is_object()) {
        return kNull;
    }
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

std::string type_of(const Json& object) {
    const Json& type = member(object, "type");
    return type.is_string() ? type.get<std::string>() : "";
}

/// The flag `name`; `otherwise` if there is none.
bool flag(const Json& object, const char* name, bool otherwise) {
    const Json& value = member(object, name);
    return value.is_boolean() ? value.get<bool>() : otherwise;
}

std::optional<std::uint32_t> id_of(const Json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kMaxTokens) {
        return std::nullopt;
    }
    return value.get<std::uint32_t>();
}

std::string quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

/// Builds a tokenizer from the members of a tokenizer.json, one after another.
class TokenizerReader {
  public:
    Result<Tokenizer, TokenizerProblem> read(const Json& file) {
        if (!file.is_object()) {
            return problem(TokenizerError::kJson, "the file is not a JSON object");
        }
        if (const Json& normalizer = member(file, "normalizer"); !normalizer.is_null()) {
            return problem(
                TokenizerError::kNormalizer,
                "normalizer " + quoted(type_of(normalizer)) + " is not supported: only files without one are"
            );
        }
        const Json& model = member(file, "model");
        TRY(check_model(model));
        TRY(read_pre_tokenizer(member(file, "pre_tokenizer")));
        TRY(read_vocabulary(member(model, "vocab"), flag(model, "ignore_merges", false)));
        TRY(read_merges(member(model, "merges")));
        TRY(read_added(member(file, "added_tokens")));
        return std::move(out_);
    }

  private:
    static Checked check_model(const Json& model);
    Checked read_pre_tokenizer(const Json& pre);
    Checked read_split(const Json& step);
    Checked add_pattern(const std::string& regex);
    Checked read_vocabulary(const Json& vocabulary, bool ignore_merges);
    Checked read_merges(const Json& merges);
    Checked read_added(const Json& added);
    Checked read_one_added(const Json& token);
    bool place(std::uint32_t id, std::string bytes);

    Tokenizer out_;
    std::unordered_map<std::string, std::uint32_t> ids_;
};

Checked TokenizerReader::check_model(const Json& model) {
    const std::string type = type_of(model);
    // Old files of GPT-2 do not name the type; no other model has merges.
    if (!model.is_object() || (type != "BPE" && !(type.empty() && model.contains("merges")))) {
        return problem(
            TokenizerError::kModel,
            "model " + quoted(type) + " is not supported: only byte-level BPE is, as of GPT-2 and Llama 3"
        );
    }
    const Json& dropout = member(model, "dropout");
    if (!dropout.is_null() && dropout != 0) {
        return problem(TokenizerError::kModel, "model: dropout would give other tokens each time");
    }
    for (const char* const affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (const Json& value = member(model, affix); !value.is_null() && value != "") {
            return problem(TokenizerError::kModel, std::string("model: ") + affix + " is not supported");
        }
    }
    if (flag(model, "byte_fallback", false)) {
        return problem(
            TokenizerError::kModel,
            "model: byte_fallback is not supported: only vocabularies whose symbols are bytes are"
        );
    }
    return {};
}

Checked TokenizerReader::add_pattern(const std::string& regex) {
    std::string reason;
    auto pattern = Pattern::compile(regex, reason);
    if (!pattern) {
        return problem(TokenizerError::kPattern, "pre_tokenizer: " + quoted(regex) + " is not supported: " + reason);
    }
    out_.patterns_.push_back(*std::move(pattern));
    return {};
}

Checked TokenizerReader::read_split(const Json& step) {
    const Json& regex = member(member(step, "pattern"), "Regex");
    const Json& behavior = member(step, "behavior");
    if (!regex.is_string() || behavior != "Isolated" || flag(step, "invert", false)) {
        return problem(
            TokenizerError::kPreTokenizer,
            "pre_tokenizer: of Split only a Regex with behavior \"Isolated\", not inverted, is supported"
        );
    }
    return add_pattern(regex.get<std::string>());
}

Checked TokenizerReader::read_pre_tokenizer(const Json& pre) {
    std::vector<Json> steps{pre};
    if (type_of(pre) == "Sequence" && member(pre, "pretokenizers").is_array()) {
        steps = member(pre, "pretokenizers").get<std::vector<Json>>();
    }
    if (steps.empty() || steps.size() > kMaxPreTokenizers || type_of(steps.back()) != "ByteLevel") {
        return problem(
            TokenizerError::kPreTokenizer, "pre_tokenizer " + quoted(type_of(pre)) +
                                               " is not supported: only ByteLevel, or a Sequence that ends with it"
        );
    }
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
        if (type_of(steps[i]) != "Split") {
            return problem(
                TokenizerError::kPreTokenizer,
                "pre_tokenizer: step " + quoted(type_of(steps[i])) + " is not supported: only Split before ByteLevel is"
            );
        }
        TRY(read_split(steps[i]));
    }
    out_.add_prefix_space_ = flag(steps.back(), "add_prefix_space", true);
    if (out_.add_prefix_space_ && steps.size() > 1) {
        return problem(TokenizerError::kPreTokenizer, "pre_tokenizer: add_prefix_space after a Split is not supported");
    }
    if (flag(steps.back(), "use_regex", true)) {
        return add_pattern(kByteLevelPattern);
    }
    return {};
}

bool TokenizerReader::place(std::uint32_t id, std::string bytes) {
    if (id >= out_.bytes_.size()) {
        out_.bytes_.resize(std::size_t{id} + 1);
    }
    if (out_.bytes_[id]) {
        return false;
    }
    out_.bytes_[id] = std::move(bytes);
    return true;
}

Checked TokenizerReader::read_vocabulary(const Json& vocabulary, bool ignore_merges) {
    if (!vocabulary.is_object()) {
        return problem(TokenizerError::kVocabulary, "model: vocab is not an object");
    }
    for (const auto& [token, value] : vocabulary.items()) {
        const auto id = id_of(value);
        if (!id) {
            return problem(
                TokenizerError::kVocabulary,
                "vocab: the id of " + quoted(token) + " is not an integer from 0 to " + std::to_string(kMaxTokens - 1)
            );
        }
        auto bytes = bytes_of(token);
        if (bytes && ignore_merges) {
            out_.whole_.emplace(*bytes, *id);
        }
        // A token with other characters than the alphabet's occurs in no text; it may still be an added token.
        if (!place(*id, bytes ? *std::move(bytes) : token)) {
            return problem(TokenizerError::kVocabulary, "vocab: two tokens have the id " + std::to_string(*id));
        }
        ids_.emplace(token, *id);
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        const auto found = ids_.find(symbol_of(static_cast<std::uint8_t>(byte)));
        if (found == ids_.end()) {
            return problem(
                TokenizerError::kVocabulary, "vocab: the byte " + std::to_string(byte) +
                                                 " has no token, so not every text could be written; train the "
                                                 "tokenizer with the whole byte-level alphabet"
            );
        }
        out_.byte_tokens_[byte] = found->second;
    }
    return {};
}

Checked TokenizerReader::read_merges(const Json& merges) {
    if (!merges.is_array()) {
        return problem(TokenizerError::kMerges, "model: merges is not a list");
    }
    std::uint32_t rank = 0;
    for (const Json& merge : merges) {
        std::vector<std::string> parts;
        if (merge.is_string()) {
            const auto text = merge.get<std::string>();
            const std::size_t space = text.find(' ');
            if (space != std::string::npos) {
                parts = {text.substr(0, space), text.substr(space + 1)};
            }
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            parts = {merge[0].get<std::string>(), merge[1].get<std::string>()};
        }
        const std::string where = "merges: number " + std::to_string(rank);
        if (parts.empty()) {
            return problem(TokenizerError::kMerges, where + " is not a pair of tokens");
        }
        const auto left = ids_.find(parts[0]);
        const auto right = ids_.find(parts[1]);
        const auto both = ids_.find(parts[0] + parts[1]);
        if (left == ids_.end() || right == ids_.end() || both == ids_.end()) {
            return problem(TokenizerError::kMerges, where + " joins or makes a token that vocab does not have");
        }
        out_.merges_[std::uint64_t{left->second} << 32U | right->second] = {rank, both->second};
        ++rank;
    }
    return {};
}

Checked TokenizerReader::read_one_added(const Json& token) {
    const auto id = id_of(member(token, "id"));
    const Json& content = member(token, "content");
    if (!id || !content.is_string() || content == "") {
        return problem(TokenizerError::kAddedTokens, "added_tokens: one has no id or no content");
    }
    const auto text = content.get<std::string>();
    for (const char* const option : {"single_word", "lstrip", "rstrip"}) {
        if (flag(token, option, false)) {
            return problem(
                TokenizerError::kAddedTokens, "added_tokens: " + quoted(text) + ": " + option + " is not supported"
            );
        }
    }
    if (const auto known = ids_.find(text); known != ids_.end()) {
        if (known->second != *id) {
            return problem(TokenizerError::kAddedTokens, "added_tokens: vocab has another id for " + quoted(text));
        }
        out_.bytes_[*id] = text;
    } else if (!place(*id, text)) {
        return problem(TokenizerError::kAddedTokens, "added_tokens: the id of " + quoted(text) + " is taken");
    }
    auto& list = (flag(token, "normalized", true) ? out_.normalized_ : out_.raw_)[static_cast<std::uint8_t>(text[0])];
    list.push_back({text, *id});
    return {};
}

Checked TokenizerReader::read_added(const Json& added) {
    if (added.is_null()) {
        return {};
    }
    if (!added.is_array()) {
        return problem(TokenizerError::kAddedTokens, "added_tokens is not a list");
    }
    for (const Json& token : added) {
        TRY(read_one_added(token));
    }
    for (auto* const lists : {&out_.raw_, &out_.normalized_}) {
        for (auto& list : *lists) {
            std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
                return a.content.size() > b.content.size();
            });
        }
    }
    return {};
}

Result<Tokenizer, TokenizerProblem> Tokenizer::from_json(ByteView file) {
    if (file.size() > kMaxTokenizerFile) {
        return problem(
            TokenizerError::kJson, "the file is longer than " + std::to_string(kMaxTokenizerFile >> 20U) + " MiB"
        );
    }
    const Json json = Json::parse(file.begin(), file.end(), nullptr, false);
    if (json.is_discarded()) {
        return problem(TokenizerError::kJson, "the file is not JSON");
    }
    return TokenizerReader().read(json);
}

}  // namespace assay::text
