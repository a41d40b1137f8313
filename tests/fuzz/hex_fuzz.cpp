// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const std::string_view text = as_text(input);
    ASSERT(same(*from_hex(to_hex(input)), input));
    if (const auto bytes = from_hex(text)) {
        std::string lower(text);
        std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
            return c >= 'A' && c <= 'F' ? static_cast<char>(c + ('a' - 'A')) : c;
        });
        ASSERT(to_hex(*bytes) == lower);
    }
    if (const auto hash = fixed_from_hex<Hash256>(text)) {
        ASSERT(text.size() == 64);
    }
}

}  // namespace assay::fuzz
