// SPDX-License-Identifier: Apache-2.0
#include <client/node_address.hpp>

#include <algorithm>
#include <string_view>

#include <core/keys/key_file.hpp>

namespace assay::client {

namespace {

constexpr std::size_t kTokenMin = 16;

}  // namespace

std::string read_token(const std::filesystem::path& file) {
    crypto::SecretText text = crypto::read_secret(file);
    text.keep_first_line();
    const std::string_view token = text.view();
    const bool is_printable = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (token.size() < kTokenMin || !is_printable) {
        throw crypto::KeyFileError(
            file.string() + " holds no token: its first line must be " + std::to_string(kTokenMin) +
            " or more characters without spaces, such as assayd token makes"
        );
    }
    return std::string(token);
}

}  // namespace assay::client
