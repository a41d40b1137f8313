// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <core/keys/key_file.hpp>

/// Sealed keys as files: <home>/keys/<name>.json, one object each, readable by their owner alone.
namespace assay::crypto {

class KeyDirectory {
  public:
    explicit KeyDirectory(const std::filesystem::path& home) : directory_(home / "keys") {}

    /// All names, in order.
    std::vector<std::string> list() const;
    bool has(const std::string& name) const;
    /// Throws KeyFileError when the file is missing, others can read it, or it is not a key.
    SealedKey read(const std::string& name) const;
    /// Throws KeyFileError when the name is taken or cannot be one.
    void add(const std::string& name, const SealedKey& key) const;
    /// In one step: a crash leaves the old file or the new one.
    void replace(const std::string& name, const SealedKey& key) const;
    void remove(const std::string& name) const;

  private:
    std::filesystem::path file(const std::string& name) const;

    std::filesystem::path directory_;
};

}  // namespace assay::crypto
