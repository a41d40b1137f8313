// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <core/keys/key_file.hpp>

/// Sealed keys as files: <home>/keys/<name>.json, one JSON object each, readable only by their owner.
namespace assay::crypto {

class KeyDirectory {
  public:
    explicit KeyDirectory(const std::filesystem::path& home) : directory_(home / "keys") {}

    /// All key names, sorted.
    std::vector<std::string> list() const;
    bool has(const std::string& name) const;
    /// Throws KeyFileError if the file is missing, is readable by others, or is not a key.
    SealedKey read(const std::string& name) const;
    /// Throws KeyFileError if the name already exists or is not valid.
    void add(const std::string& name, const SealedKey& key) const;
    /// Atomic: after a crash the file is either the old or the new one.
    void replace(const std::string& name, const SealedKey& key) const;
    void remove(const std::string& name) const;

  private:
    std::filesystem::path file(const std::string& name) const;

    std::filesystem::path directory_;
};

}  // namespace assay::crypto
