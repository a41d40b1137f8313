// SPDX-License-Identifier: Apache-2.0
#include <verifier/text/tokenizer.hpp>

#include <limits>
#include <queue>
#include <tuple>

namespace assay::text {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxCachedPieces = 1U << 18U;
constexpr std::size_t kMaxCachedLength = 256;

/// A token of a piece, linked with its neighbours.
struct Symbol {
    std::uint32_t token = kNone;  ///< kNone once it was merged into the symbol before it
    std::uint32_t before = kNone;
    std::uint32_t after = kNone;
};

/// A merge that is possible at symbol `at` and the one after it.
struct Candidate {
    std::uint32_t rank = 0;
    std::uint32_t at = 0;
    std::uint32_t token = 0;
    bool operator>(const Candidate& other) const { return std::tie(rank, at) > std::tie(other.rank, other.at); }
};

}  // namespace

const char* to_string(EncodeError error) noexcept {
    switch (error) {
        case EncodeError::kNotUtf8:
            return "the text is not UTF-8";
        case EncodeError::kPatternCost:
            return "the tokenizer's regular expression takes too many steps on this text";
    }
    return "";
}

const Tokenizer::Merge* Tokenizer::find_merge(std::uint32_t left, std::uint32_t right) const {
    const auto found = merges_.find(std::uint64_t{left} << 32U | right);
    return found == merges_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Tokenizer::encode_piece(std::string_view piece) const {
    if (!whole_.empty()) {
        if (const auto token = whole_.find(std::string(piece)); token != whole_.end()) {
            return {token->second};
        }
    }
    std::vector<Symbol> symbols(piece.size());
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto offer = [&](std::uint32_t at) {
        if (at == kNone || symbols[at].after == kNone) {
            return;
        }
        if (const Merge* const merge = find_merge(symbols[at].token, symbols[symbols[at].after].token)) {
            queue.push({merge->rank, at, merge->token});
        }
    };
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
        symbols[i] = {
            byte_tokens_[static_cast<std::uint8_t>(piece[i])], i == 0 ? kNone : i - 1,
            i + 1 == symbols.size() ? kNone : i + 1};
    }
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
        offer(i);
    }
    while (!queue.empty()) {
        const Candidate best = queue.top();
        queue.pop();
        Symbol& left = symbols[best.at];
        if (left.token == kNone || left.after == kNone) {
            continue;
        }
        Symbol& right = symbols[left.after];
        const Merge* const merge = find_merge(left.token, right.token);
        if (merge == nullptr || merge->token != best.token) {
            continue;  // other merges have changed the pair
        }
        left.token = best.token;
        left.after = right.after;
        right.token = kNone;
        if (left.after != kNone) {
            symbols[left.after].before = best.at;
        }
        offer(left.before);
        offer(best.at);
    }
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = symbols.empty() ? kNone : 0; i != kNone; i = symbols[i].after) {
        out.push_back(symbols[i].token);
    }
    return out;
}

bool Tokenizer::encode_part(std::string_view text, Cache& cache, std::vector<std::uint32_t>& out) const {
    std::vector<std::string_view> pieces{text};
    for (const Pattern& pattern : patterns_) {
        std::vector<std::string_view> finer;
        for (const std::string_view piece : pieces) {
            if (!pattern.cut(piece, finer)) {
                return false;
            }
        }
        pieces = std::move(finer);
    }
    for (const std::string_view piece : pieces) {
        const auto known = cache.find(piece);
        if (known != cache.end()) {
            out.insert(out.end(), known->second.begin(), known->second.end());
            continue;
        }
        std::vector<std::uint32_t> tokens = encode_piece(piece);
        out.insert(out.end(), tokens.begin(), tokens.end());
        if (cache.size() < kMaxCachedPieces && piece.size() <= kMaxCachedLength) {
            cache.emplace(piece, std::move(tokens));
        }
    }
    return true;
}

std::vector<Tokenizer::Part> Tokenizer::split(const AddedTokens& added, const std::vector<Part>& parts) {
    std::vector<Part> out;
    for (const Part& part : parts) {
        if (part.token) {
            out.push_back(part);
            continue;
        }
        std::size_t start = 0;
        for (std::size_t at = 0; at < part.text.size();) {
            const AddedToken* match = nullptr;
            for (const AddedToken& token : added[static_cast<std::uint8_t>(part.text[at])]) {
                if (part.text.substr(at, token.content.size()) == token.content) {
                    match = &token;
                    break;
                }
            }
            if (match == nullptr) {
                ++at;
                continue;
            }
            if (at > start) {
                out.push_back({part.text.substr(start, at - start), std::nullopt});
            }
            out.push_back({match->content, match->id});
            at += match->content.size();
            start = at;
        }
        if (start < part.text.size()) {
            out.push_back({part.text.substr(start), std::nullopt});
        }
    }
    return out;
}

Result<std::vector<std::uint32_t>, EncodeError> Tokenizer::encode(std::string_view text) const {
    if (!is_utf8(text)) {
        return Unexpected{EncodeError::kNotUtf8};
    }
    const std::vector<Part> parts = split(normalized_, split(raw_, {{text, std::nullopt}}));
    std::vector<std::string> prefixed;  // owns what the cache's keys point into
    prefixed.reserve(parts.size());
    Cache cache;
    std::vector<std::uint32_t> out;
    for (const Part& part : parts) {
        if (part.token) {
            out.push_back(*part.token);
            continue;
        }
        std::string_view rest = part.text;
        if (add_prefix_space_ && !rest.empty() && rest.front() != ' ') {
            rest = prefixed.emplace_back(" " + std::string(rest));
        }
        if (!encode_part(rest, cache, out)) {
            return Unexpected{EncodeError::kPatternCost};
        }
    }
    return out;
}

std::optional<std::string> Tokenizer::decode(const std::vector<std::uint32_t>& tokens) const {
    std::string out;
    for (const std::uint32_t token : tokens) {
        if (token >= bytes_.size() || !bytes_[token]) {
            return std::nullopt;
        }
        out += *bytes_[token];
    }
    return out;
}

}  // namespace assay::text
