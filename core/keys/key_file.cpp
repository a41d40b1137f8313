// SPDX-License-Identifier: Apache-2.0
#include <core/keys/key_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

using nlohmann::json;

template <std::size_t kSize>
void copy_hex(const json& object, const char* name, std::array<std::uint8_t, kSize>& out) {
    const auto bytes = from_hex(object.at(name).get<std::string>());
    if (!bytes || bytes->size() != kSize) {
        throw KeyFileError(std::string("\"") + name + "\" is not " + std::to_string(kSize) + " bytes of hex");
    }
    std::copy(bytes->begin(), bytes->end(), out.begin());
}

SealedKey decode_members(const json& object) {
    const json& kdf = object.at("kdf");
    const json& cipher = object.at("cipher");
    if (object.at("format") != 1 || kdf.at("name") != "scrypt" || cipher.at("name") != "chacha20-poly1305") {
        throw KeyFileError("it has a format, kdf or cipher that this program does not know");
    }
    SealedKey key;
    const auto account = decode_address(object.at("account").get<std::string>());
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
    copy_hex(kdf, "salt", key.salt);
    copy_hex(cipher, "nonce", key.nonce);
    const auto ciphertext = from_hex(cipher.at("ciphertext").get<std::string>());
    if (!ciphertext) {
        throw KeyFileError("\"ciphertext\" is not hex");
    }
    key.ciphertext = *ciphertext;
    return key;
}

const char* describe(KeystoreError error) {
    switch (error) {
        case KeystoreError::kWrongPassword:
            return "wrong password, or the file was altered";
        case KeystoreError::kMalformed:
            return "the sealed key is malformed";
        case KeystoreError::kCostTooHigh:
            return "its scrypt cost is higher than this program accepts";
    }
    return "the sealed key cannot be opened";
}

}  // namespace

std::string to_key_json(const SealedKey& key) {
    const nlohmann::ordered_json kdf{
        {"name", "scrypt"}, {"n", key.cost.n}, {"r", key.cost.r}, {"p", key.cost.p}, {"salt", to_hex(key.salt)}};
    const nlohmann::ordered_json cipher{
        {"name", "chacha20-poly1305"}, {"nonce", to_hex(key.nonce)}, {"ciphertext", to_hex(key.ciphertext)}};
    const nlohmann::ordered_json object{
        {"format", 1}, {"account", to_address(key.account)}, {"kdf", kdf}, {"cipher", cipher}};
    return object.dump(2) + "\n";
}

SealedKey decode_key_json(std::string_view text, const std::string& source) {
    try {
        return decode_members(json::parse(text));
    } catch (const json::exception& error) {
        throw KeyFileError(source + " is not a key file: " + error.what());
    } catch (const KeyFileError& error) {
        throw KeyFileError(source + " is not a key file: " + error.what());
    }
}

SecretKey decode_hex_key(std::string_view text, const std::string& source) {
    SecretText digits;
    for (const char c : text) {
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            digits.push_back(c);
        }
    }
    auto bytes = from_hex(digits.view());
    if (!bytes || bytes->size() != 32) {
        throw KeyFileError(source + " does not hold 64 hex digits");
    }
    const auto key = SecretKey::from_bytes(*bytes);
    wipe(*bytes);
    if (!key) {
        throw KeyFileError(source + " holds a number that is not a secret key");
    }
    return *key;
}

SecretText read_secret(const std::filesystem::path& file) {
    auto text = read_private_file(file);
    if (!text) {
        throw KeyFileError(describe(text.error(), file));
    }
    return *std::move(text);
}

SecretKey read_hex_key(const std::filesystem::path& file) {
    return decode_hex_key(read_secret(file).view(), file.string());
}

SecretKey read_sealed_key(const std::filesystem::path& file, std::string_view password) {
    const auto key = open_key(decode_key_json(read_secret(file).view(), file.string()), password);
    if (!key) {
        throw KeyFileError(file.string() + ": " + describe(key.error()));
    }
    return *key;
}

void write_private_file(const std::filesystem::path& file, std::string_view text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        throw KeyFileError("cannot create " + file.string() + ": " + std::strerror(errno));
    }
    const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    ::close(fd);
    if (!written) {
        ::unlink(file.c_str());
        throw KeyFileError("cannot write " + file.string());
    }
}

}  // namespace assay::crypto
