// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <core/crypto/address.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const std::string_view text = as_text(input);
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    if (const auto decoded = crypto::decode_bech32m(text)) {
        ASSERT(crypto::encode_bech32m(decoded->prefix, decoded->data) == lower);
    }
    if (const auto account = crypto::decode_address(text)) {
        ASSERT(crypto::to_address(*account) == lower);
    }
}

}  // namespace assay::fuzz
