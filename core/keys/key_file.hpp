// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include <core/crypto/keys.hpp>
#include <core/keys/keystore.hpp>
#include <core/keys/private_file.hpp>

/// Key files. All programs of Assay access them through these functions, so all of them refuse a file that others can
/// read.
namespace assay::crypto {

/// A key cannot be read or written. The message names the file and the problem, never the secret.
class KeyFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// {"format": 1, "account", "kdf": {"name": "scrypt", "n", "r", "p", "salt"},
///  "cipher": {"name": "chacha20-poly1305", "nonce", "ciphertext"}}
std::string to_key_json(const SealedKey& key);
/// Decodes to_key_json's format. Throws KeyFileError; `source` names the text in its message.
SealedKey decode_key_json(std::string_view text, const std::string& source);
/// Decodes 64 hex digits; white space is ignored. Throws KeyFileError; `source` names the text in its message.
SecretKey decode_hex_key(std::string_view text, const std::string& source);

/// Reads a file that only its owner can read. Throws KeyFileError.
SecretText read_secret(const std::filesystem::path& file);
/// The same for a file with an unsealed key, for devnets and for a validator's node. Throws KeyFileError.
SecretKey read_hex_key(const std::filesystem::path& file);
/// The same for a file with a sealed key. Throws KeyFileError, also for a wrong password.
SecretKey read_sealed_key(const std::filesystem::path& file, std::string_view password);

/// Creates `file` with mode 0600 and content `text`, and syncs both to disk before it returns. Throws KeyFileError,
/// also if the file exists.
void write_private_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::crypto
