// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/key_directory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <core/crypto/address.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxNameLength = 64;
constexpr const char* kSuffix = ".json";

bool is_name(const std::string& name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    return !name.empty() && name.size() <= kMaxNameLength && std::all_of(name.begin(), name.end(), allowed);
}

[[noreturn]] void fail_errno(const std::string& what) { throw KeyFileError(what + ": " + std::strerror(errno)); }

template <std::size_t kSize>
void take_hex(const json& object, const char* name, std::array<std::uint8_t, kSize>& out) {
    const auto bytes = from_hex(object.at(name).get<std::string>());
    if (!bytes || bytes->size() != kSize) {
        throw KeyFileError(std::string("\"") + name + "\" is not " + std::to_string(kSize) + " bytes of hex");
    }
    std::copy(bytes->begin(), bytes->end(), out.begin());
}

crypto::SealedKey decode_members(const json& object) {
    const json& kdf = object.at("kdf");
    const json& cipher = object.at("cipher");
    if (object.at("format") != 1 || kdf.at("name") != "scrypt" || cipher.at("name") != "chacha20-poly1305") {
        throw KeyFileError("a format, kdf or cipher that this program does not know");
    }
    crypto::SealedKey key;
    const auto account = crypto::decode_address(object.at("account").get<std::string>());
    if (!account) {
        throw KeyFileError("\"account\" is not an address");
    }
    key.account = *account;
    for (const char* name : {"n", "r", "p"}) {
        if (!kdf.at(name).is_number_unsigned()) {
            throw KeyFileError(std::string("\"") + name + "\" is not a whole number");
        }
    }
    key.cost.n = kdf.at("n").get<std::uint64_t>();
    key.cost.r = kdf.at("r").get<std::uint32_t>();
    key.cost.p = kdf.at("p").get<std::uint32_t>();
    take_hex(kdf, "salt", key.salt);
    take_hex(cipher, "nonce", key.nonce);
    const auto ciphertext = from_hex(cipher.at("ciphertext").get<std::string>());
    if (!ciphertext) {
        throw KeyFileError("\"ciphertext\" is not hex");
    }
    key.ciphertext = *ciphertext;
    return key;
}

}  // namespace

std::string to_key_json(const crypto::SealedKey& key) {
    const nlohmann::ordered_json kdf{
        {"name", "scrypt"}, {"n", key.cost.n}, {"r", key.cost.r}, {"p", key.cost.p}, {"salt", to_hex(key.salt)}};
    const nlohmann::ordered_json cipher{
        {"name", "chacha20-poly1305"}, {"nonce", to_hex(key.nonce)}, {"ciphertext", to_hex(key.ciphertext)}};
    const nlohmann::ordered_json object{
        {"format", 1}, {"account", crypto::to_address(key.account)}, {"kdf", kdf}, {"cipher", cipher}};
    return object.dump(2) + "\n";
}

crypto::SealedKey decode_key_json(std::string_view text, const std::string& source) {
    try {
        return decode_members(json::parse(text));
    } catch (const json::exception& error) {
        throw KeyFileError(source + " is not a key file: " + error.what());
    } catch (const KeyFileError& error) {
        throw KeyFileError(source + " is not a key file: " + error.what());
    }
}

void write_private_file(const std::filesystem::path& file, std::string_view text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail_errno("cannot create " + file.string());
    }
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    ::close(fd);
    if (!written) {
        ::unlink(file.c_str());
        throw KeyFileError("cannot write " + file.string());
    }
}

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

crypto::SealedKey KeyDirectory::read(const std::string& name) const {
    const auto path = file(name);
    struct ::stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        fail_errno("cannot read " + path.string());
    }
    if ((info.st_mode & 077U) != 0) {
        throw KeyFileError(path.string() + " can be read by others: chmod 600 " + path.string());
    }
    std::ifstream in(path, std::ios::binary);
    return decode_key_json(std::string(std::istreambuf_iterator<char>(in), {}), path.string());
}

void KeyDirectory::add(const std::string& name, const crypto::SealedKey& key) const {
    const auto path = file(name);
    std::filesystem::create_directories(directory_);
    std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    write_private_file(path, to_key_json(key));
}

void KeyDirectory::replace(const std::string& name, const crypto::SealedKey& key) const {
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

}  // namespace assay::cli
