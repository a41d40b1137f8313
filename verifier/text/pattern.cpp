// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include <verifier/text/pattern.hpp>

#include <array>

#include <pcre2.h>

namespace assay::text {
namespace {

constexpr std::uint32_t kMaxSteps = 1'000'000;
constexpr std::uint32_t kMaxHeapKib = 65'536;
constexpr std::uint32_t kMaxNesting = 100;

PCRE2_SPTR units(std::string_view text) {
    static constexpr PCRE2_UCHAR8 kNothing = 0;
    return text.empty() ? &kNothing : reinterpret_cast<PCRE2_SPTR>(text.data());
}

/// Rewrites a regular expression from Oniguruma's syntax to PCRE2's.
class Translator {
  public:
    explicit Translator(std::string_view regex) : regex_(regex) {}

    /// nullopt, and the reason in `problem`, for what the two libraries read differently.
    std::optional<std::string> translate(std::string& problem) {
        while (at_ < regex_.size() && problem_.empty()) {
            regex_[at_] == '\\' ? escape() : plain();
        }
        if (!problem_.empty()) {
            problem = problem_;
            return std::nullopt;
        }
        return out_;
    }

  private:
    // PCRE2 counts U+180E among spaces, which Unicode does not.
    static constexpr const char* kSpaces = "\\t-\\r\\x{85}\\p{Z}";

    char next() const { return at_ + 1 < regex_.size() ? regex_[at_ + 1] : '\0'; }

    void escape() {
        const char letter = next();
        std::size_t length = 2;
        const bool is_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                             (letter >= '0' && letter <= '9') || letter == '\0';
        if (letter == 's') {
            out_ += in_class_ ? kSpaces : std::string("[") + kSpaces + "]";
        } else if (letter == 'S' && !in_class_) {
            out_ += std::string("[^") + kSpaces + "]";
        } else if (is_word && std::string_view("pPdrntx").find(letter) == std::string_view::npos) {
            problem_ = std::string("\\") + letter + (in_class_ ? " within [ ]" : "");
        } else {
            // A property or a number of a character goes to its brace, so that "\p{L}+" is no repetition of one.
            const bool has_brace = is_word && regex_.substr(at_ + 2, 1) == "{";
            const std::size_t end = has_brace ? regex_.find('}', at_) : at_ + 1;
            length = end == std::string_view::npos ? 2 : end + 1 - at_;
            out_ += regex_.substr(at_, length);
        }
        at_ += length;
    }

    void plain() {
        const char c = regex_[at_];
        if (in_class_ && (c == '[' || (c == '&' && next() == '&'))) {
            problem_ = "a class within a class";
        } else if (!in_class_ && c == '}' && next() == '+') {
            problem_ = "}+";
        } else if (!in_class_ && c == '(' && (next() == '*' || (next() == '?' && is_uncommon_group()))) {
            problem_ = "a group other than (?:, (?i:, (?=, (?!, (?<= and (?<!";
        }
        if (c == '[') {
            in_class_ = true;
        } else if (c == ']') {
            in_class_ = false;
        }
        out_ += c;
        ++at_;
    }

    bool is_uncommon_group() const {
        constexpr std::array<std::string_view, 6> kCommon{"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!"};
        for (const std::string_view group : kCommon) {
            if (regex_.substr(at_, group.size()) == group) {
                return false;
            }
        }
        return true;
    }

    std::string_view regex_;
    std::size_t at_ = 0;
    bool in_class_ = false;
    std::string out_;
    std::string problem_;
};

std::string message_of(int error) {
    std::array<PCRE2_UCHAR8, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Pattern::Code {
    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code() {
        pcre2_match_context_free(limits);
        pcre2_code_free(code);
    }

    pcre2_code* code = nullptr;
    pcre2_match_context* limits = nullptr;
};

std::optional<Pattern> Pattern::compile(std::string_view regex, std::string& problem) {
    const auto translated = Translator(regex).translate(problem);
    if (!translated) {
        return std::nullopt;
    }
    auto code = std::make_shared<Code>();
    pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
    pcre2_set_parens_nest_limit(context, kMaxNesting);
    int error = 0;
    PCRE2_SIZE offset = 0;
    code->code = pcre2_compile(
        units(*translated), translated->size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
        &error, &offset, context
    );
    pcre2_compile_context_free(context);
    if (code->code == nullptr) {
        problem = message_of(error);
        return std::nullopt;
    }
    std::uint32_t matches_nothing = 0;
    pcre2_pattern_info(code->code, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
    if (matches_nothing != 0) {
        problem = "it matches empty text";
        return std::nullopt;
    }
    code->limits = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(code->limits, kMaxSteps);
    pcre2_set_heap_limit(code->limits, kMaxHeapKib);
    pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE);  // where there is no JIT, matching is slower and the same
    Pattern out;
    out.code_ = std::move(code);
    return out;
}

bool Pattern::cut(std::string_view text, std::vector<std::string_view>& pieces) const {
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
        pcre2_match_data_create_from_pattern(code_->code, nullptr), &pcre2_match_data_free
    );
    const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match.get());
    std::size_t at = 0;
    while (at < text.size()) {
        const int found =
            pcre2_match(code_->code, units(text), text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), code_->limits);
        if (found == PCRE2_ERROR_NOMATCH) {
            pieces.push_back(text.substr(at));
            return true;
        }
        if (found < 0 || range[0] < at || range[1] <= range[0]) {
            return false;
        }
        if (range[0] > at) {
            pieces.push_back(text.substr(at, range[0] - at));
        }
        pieces.push_back(text.substr(range[0], range[1] - range[0]));
        at = range[1];
    }
    return true;
}

bool is_utf8(std::string_view text) {
    static const std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> kAnything = [] {
        int error = 0;
        PCRE2_SIZE offset = 0;
        return std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>(
            pcre2_compile(units(""), 0, PCRE2_UTF, &error, &offset, nullptr), &pcre2_code_free
        );
    }();
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
        pcre2_match_data_create(1, nullptr), &pcre2_match_data_free
    );
    return pcre2_match(kAnything.get(), units(text), text.size(), 0, 0, match.get(), nullptr) >= 0;
}

}  // namespace assay::text
