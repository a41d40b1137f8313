// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <core/crypto/keystore.hpp>

/// Sealed keys as files: <home>/keys/<name>.json, one object each, readable by their owner alone.
namespace assay::cli {

/// A name, a key file or the directory is wrong; the message names the file.
class KeyFileError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// {"format": 1, "account", "kdf": {"name": "scrypt", "n", "r", "p", "salt"},
///  "cipher": {"name": "chacha20-poly1305", "nonce", "ciphertext"}}: what assay-worker reads too.
std::string to_key_json(const crypto::SealedKey& key);
/// Throws KeyFileError; `source` names the text in it.
crypto::SealedKey decode_key_json(std::string_view text, const std::string& source);

class KeyDirectory {
  public:
    explicit KeyDirectory(const std::filesystem::path& home) : directory_(home / "keys") {}

    /// All names, in order.
    std::vector<std::string> list() const;
    bool has(const std::string& name) const;
    /// Throws KeyFileError: missing, open to others, or not a key.
    crypto::SealedKey read(const std::string& name) const;
    /// Throws KeyFileError when the name is taken or cannot be one.
    void add(const std::string& name, const crypto::SealedKey& key) const;
    /// In one step: a crash leaves the old file or the new one.
    void replace(const std::string& name, const crypto::SealedKey& key) const;
    void remove(const std::string& name) const;

  private:
    std::filesystem::path file(const std::string& name) const;

    std::filesystem::path directory_;
};

/// Creates `file` with mode 0600 and `text`, on disk when it returns. Throws KeyFileError when it exists.
void write_private_file(const std::filesystem::path& file, std::string_view text);

}  // namespace assay::cli
