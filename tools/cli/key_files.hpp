// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/crypto/keystore.hpp>

/// Sealed keys as JSON files, one per key: DIRECTORY/NAME.json, readable by their owner only.
namespace assay::cli {

nlohmann::json to_json(const crypto::SealedKey& key);
/// nullopt when it is not what to_json makes.
std::optional<crypto::SealedKey> decode_sealed_key(const nlohmann::json& json);

/// 1..32 of a-z, 0-9, '-' and '_'.
bool is_key_name(std::string_view name);

struct NamedKey {
    std::string name;
    crypto::SealedKey key;
};

/// A directory of keys. What fails throws Failure naming the file.
class KeyDirectory {
  public:
    explicit KeyDirectory(std::filesystem::path directory) : directory_(std::move(directory)) {}

    std::vector<NamedKey> list() const;  ///< by name
    bool has(const std::string& name) const;
    crypto::SealedKey load(const std::string& name) const;
    /// On disk when it returns. `replace`: over a key of that name, which stays whole if anything fails.
    void save(const std::string& name, const crypto::SealedKey& key, bool replace = false) const;
    void remove(const std::string& name) const;

  private:
    std::filesystem::path path(const std::string& name) const;

    std::filesystem::path directory_;
};

}  // namespace assay::cli
