// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include <core/crypto/keys.hpp>
#include <core/crypto/private_file.hpp>

namespace assay::worker {

/// A key cannot be had, or the file could be read by others; the message names the file and what is wrong, never the secret.
class KeyFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// 64 hex digits and nothing else but white space: for devnets only.
crypto::SecretKey read_hex_key(const std::filesystem::path& file);
/// A sealed key (keystore JSON) under a password.
crypto::SecretKey read_keystore(const std::filesystem::path& file, std::string_view password);
/// The first line of a file.
crypto::SecretText read_password(const std::filesystem::path& file);

}  // namespace assay::worker
