// SPDX-License-Identifier: Apache-2.0
#include <core/keys/key_directory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace assay::crypto {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr const char* kSuffix = ".json";

bool is_name(const std::string& name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    return !name.empty() && name.size() <= kMaxNameLength && std::all_of(name.begin(), name.end(), allowed);
}

[[noreturn]] void fail_errno(const std::string& what) { throw KeyFileError(what + ": " + std::strerror(errno)); }

}  // namespace

std::filesystem::path KeyDirectory::file(const std::string& name) const {
    if (!is_name(name)) {
        throw KeyFileError("\"" + name + "\" cannot name a key: letters, digits, - and _ only, at most 64");
    }
    return directory_ / (name + kSuffix);
}

std::vector<std::string> KeyDirectory::list() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, none)) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == kSuffix && is_name(name)) {
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool KeyDirectory::has(const std::string& name) const { return is_name(name) && std::filesystem::exists(file(name)); }

SealedKey KeyDirectory::read(const std::string& name) const {
    const auto path = file(name);
    return decode_key_json(read_secret(path).view(), path.string());
}

void KeyDirectory::add(const std::string& name, const SealedKey& key) const {
    const auto path = file(name);
    std::filesystem::create_directories(directory_);
    std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    write_private_file(path, to_key_json(key));
}

void KeyDirectory::replace(const std::string& name, const SealedKey& key) const {
    const auto path = file(name);
    const auto temporary = directory_ / ("." + name + ".new");
    std::error_code none;
    std::filesystem::remove(temporary, none);
    write_private_file(temporary, to_key_json(key));
    std::filesystem::rename(temporary, path);
}

void KeyDirectory::remove(const std::string& name) const {
    const auto path = file(name);
    if (::unlink(path.c_str()) != 0) {
        fail_errno("cannot delete " + path.string());
    }
}

}  // namespace assay::crypto
