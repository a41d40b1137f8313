// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

/// A regular expression that cuts text into pieces. Tokenizer files write it in Oniguruma's syntax; it is matched by
/// PCRE2. Only what both read alike is accepted.
class Pattern {
  public:
    /// Compiles `regex`; nullopt, and the reason in `problem`, if it is not understood or may match nothing.
    static std::optional<Pattern> compile(std::string_view regex, std::string& problem);

    /// Appends to `pieces` the matches in `text` and what lies between them, in order. `text` must be UTF-8. Returns
    /// false if a match takes more steps than allowed.
    bool cut(std::string_view text, std::vector<std::string_view>& pieces) const;

  private:
    struct Code;
    std::shared_ptr<const Code> code_;
};

/// Whether `text` is well-formed UTF-8.
bool is_utf8(std::string_view text);

}  // namespace assay::text
