// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/access_token.hpp>

#include <algorithm>

#include <core/crypto/hash.hpp>

namespace assay::rpc {

namespace {

constexpr std::string_view kScheme = "bearer";

/// The hash of a secret: the same work for every text of one length.
Hash256 hash_of(std::string_view secret) {
    static const crypto::TaggedHash kHash("assay/rpc-token");
    return kHash(to_bytes(secret));
}

bool is_scheme(std::string_view text) {
    return std::equal(text.begin(), text.end(), kScheme.begin(), kScheme.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

}  // namespace

AccessToken::AccessToken(std::string_view token) : hash_(hash_of(token)) {}

bool AccessToken::admits(std::string_view authorization) const {
    const std::size_t space = authorization.find(' ');
    if (space == std::string_view::npos || !is_scheme(authorization.substr(0, space))) {
        return false;
    }
    const Hash256 given = hash_of(authorization.substr(space + 1));
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < given.data.size(); ++i) {
        difference = static_cast<std::uint8_t>(difference | (given.data[i] ^ hash_.data[i]));
    }
    return difference == 0;
}

}  // namespace assay::rpc
