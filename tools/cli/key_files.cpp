// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/key_files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

#include <core/crypto/address.hpp>
#include <tools/cli/session.hpp>

namespace assay::cli {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::size_t kSealedBytes = 48;

template <std::size_t kSize>
bool read_hex(const Json& object, const char* name, std::array<std::uint8_t, kSize>& out) {
    const auto bytes = from_hex(object.at(name).get<std::string>());
    if (!bytes || bytes->size() != kSize) {
        return false;
    }
    std::copy(bytes->begin(), bytes->end(), out.begin());
    return true;
}

Failure io_error(const std::filesystem::path& file, const char* what) {
    return Failure(kExitFailure, "io_error", std::string("cannot ") + what + " " + file.string() + ": " + std::strerror(errno));
}

/// Creates `file` for its owner only and syncs it.
void write_private(const std::filesystem::path& file, const std::string& text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        throw io_error(file, "create");
    }
    const ssize_t written = ::write(fd, text.data(), text.size());
    const bool good = written == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    const int cause = errno;
    ::close(fd);
    if (!good) {
        errno = cause;
        throw io_error(file, "write");
    }
}

}  // namespace

Json to_json(const crypto::SealedKey& key) {
    return {{"format", kFormat},
            {"account", crypto::to_address(key.account)},
            {"kdf", {{"name", "scrypt"}, {"n", key.cost.n}, {"r", key.cost.r}, {"p", key.cost.p}, {"salt", to_hex(key.salt)}}},
            {"cipher",
             {{"name", "chacha20-poly1305"}, {"nonce", to_hex(key.nonce)}, {"ciphertext", to_hex(key.ciphertext)}}}};
}

std::optional<crypto::SealedKey> decode_sealed_key(const Json& json) {
    try {
        const Json& kdf = json.at("kdf");
        const Json& cipher = json.at("cipher");
        if (json.at("format") != kFormat || kdf.at("name") != "scrypt" || cipher.at("name") != "chacha20-poly1305") {
            return std::nullopt;
        }
        crypto::SealedKey key;
        const auto account = crypto::decode_address(json.at("account").get<std::string>());
        auto ciphertext = from_hex(cipher.at("ciphertext").get<std::string>());
        for (const char* name : {"n", "r", "p"}) {
            if (!kdf.at(name).is_number_unsigned()) {
                return std::nullopt;
            }
        }
        if (!account || !ciphertext || ciphertext->size() != kSealedBytes || !read_hex(kdf, "salt", key.salt) ||
            !read_hex(cipher, "nonce", key.nonce) || kdf.at("r") > 0xffffffffU || kdf.at("p") > 0xffffffffU) {
            return std::nullopt;
        }
        key.account = *account;
        key.ciphertext = *std::move(ciphertext);
        key.cost = {kdf.at("n").get<std::uint64_t>(), kdf.at("r").get<std::uint32_t>(), kdf.at("p").get<std::uint32_t>()};
        return key;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

bool is_key_name(std::string_view name) {
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    return !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), is_allowed);
}

std::filesystem::path KeyDirectory::path(const std::string& name) const {
    if (!is_key_name(name)) {
        throw Failure(kExitUsage, "usage", "a key's name is 1 to 32 of a-z, 0-9, - and _, not \"" + name + "\"");
    }
    return directory_ / (name + ".json");
}

std::vector<NamedKey> KeyDirectory::list() const {
    std::vector<NamedKey> out;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, missing)) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == ".json" && is_key_name(name)) {
            out.push_back({name, load(name)});
        }
    }
    std::sort(out.begin(), out.end(), [](const NamedKey& a, const NamedKey& b) { return a.name < b.name; });
    return out;
}

bool KeyDirectory::has(const std::string& name) const { return std::filesystem::exists(path(name)); }

crypto::SealedKey KeyDirectory::load(const std::string& name) const {
    const auto file = path(name);
    std::ifstream in(file, std::ios::binary);
    if (!in.is_open()) {
        throw Failure(kExitNotFound, "key_not_found", "no key \"" + name + "\" in " + directory_.string());
    }
    const std::string text(std::istreambuf_iterator<char>(in), {});
    auto key = decode_sealed_key(Json::parse(text, nullptr, false));
    if (!key) {
        throw Failure(kExitConfig, "key_malformed", file.string() + " is not a key file");
    }
    return *std::move(key);
}

void KeyDirectory::save(const std::string& name, const crypto::SealedKey& key, bool replace) const {
    const auto file = path(name);
    if (!replace && std::filesystem::exists(file)) {
        throw Failure(kExitUsage, "key_exists", "there is a key \"" + name + "\" already");
    }
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (!error) {
        std::filesystem::permissions(directory_, std::filesystem::perms::owner_all, error);
    }
    if (error) {
        throw Failure(kExitFailure, "io_error", "cannot create " + directory_.string() + ": " + error.message());
    }
    const auto temporary = directory_ / ("." + name + ".tmp");
    write_private(temporary, cli::to_json(key).dump(2) + "\n");
    std::filesystem::rename(temporary, file, error);
    if (error) {
        throw Failure(kExitFailure, "io_error", "cannot write " + file.string() + ": " + error.message());
    }
}

void KeyDirectory::remove(const std::string& name) const {
    std::error_code error;
    if (!std::filesystem::remove(path(name), error)) {
        throw Failure(kExitNotFound, "key_not_found", "no key \"" + name + "\" in " + directory_.string());
    }
}

}  // namespace assay::cli
