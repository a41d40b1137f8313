// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/key_file.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/keystore.hpp>
#include <core/crypto/random.hpp>

namespace assay::worker {
namespace {

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        throw KeyFileError("cannot read " + file.string());
    }
    return std::string(std::istreambuf_iterator<char>(in), {});
}

void wipe(std::string& text) {
    crypto::wipe(std::span(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
}

template <std::size_t kSize>
void copy_hex(const nlohmann::json& json, const char* name, std::array<std::uint8_t, kSize>& to) {
    const auto bytes = from_hex(json.at(name).get<std::string>());
    if (!bytes || bytes->size() != kSize) {
        throw KeyFileError(std::string("\"") + name + "\" is not " + std::to_string(kSize) + " bytes in hex");
    }
    std::copy(bytes->begin(), bytes->end(), to.begin());
}

crypto::SealedKey decode_sealed(const nlohmann::json& json) {
    const nlohmann::json& kdf = json.at("kdf");
    const nlohmann::json& cipher = json.at("cipher");
    if (json.at("format") != 1 || kdf.at("name") != "scrypt" || cipher.at("name") != "chacha20-poly1305") {
        throw KeyFileError("it is of a format that this version does not know");
    }
    const auto account = crypto::decode_address(json.at("account").get<std::string>());
    const auto ciphertext = from_hex(cipher.at("ciphertext").get<std::string>());
    if (!account || !ciphertext) {
        throw KeyFileError("\"account\" or \"ciphertext\" is malformed");
    }
    crypto::SealedKey sealed;
    sealed.account = *account;
    sealed.ciphertext = *ciphertext;
    sealed.cost = {
        .n = kdf.at("n").get<std::uint64_t>(),
        .r = kdf.at("r").get<std::uint32_t>(),
        .p = kdf.at("p").get<std::uint32_t>()};
    copy_hex(kdf, "salt", sealed.salt);
    copy_hex(cipher, "nonce", sealed.nonce);
    return sealed;
}

}  // namespace

crypto::SecretKey read_hex_key(const std::filesystem::path& file) {
    std::string text = read_text(file);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    auto bytes = from_hex(text);
    wipe(text);
    if (!bytes || bytes->size() != 32) {
        throw KeyFileError(file.string() + " does not hold 64 hex digits");
    }
    const auto key = crypto::SecretKey::from_bytes(*bytes);
    crypto::wipe(*bytes);
    if (!key) {
        throw KeyFileError(file.string() + " holds a number that is no secret key");
    }
    return *key;
}

crypto::SecretKey read_keystore(const std::filesystem::path& file, const std::string& password) {
    const std::string text = read_text(file);
    try {
        const auto key = crypto::open_key(decode_sealed(nlohmann::json::parse(text)), password);
        if (key) {
            return *key;
        }
        switch (key.error()) {
            case crypto::KeystoreError::kWrongPassword: throw KeyFileError("wrong password, or the file was altered");
            case crypto::KeystoreError::kMalformed: throw KeyFileError("the sealed key is malformed");
            case crypto::KeystoreError::kCostTooHigh: throw KeyFileError("its scrypt cost is beyond what is accepted");
        }
        throw KeyFileError("the key cannot be opened");
    } catch (const nlohmann::json::exception&) {
        throw KeyFileError(file.string() + " is not a keystore file");
    } catch (const KeyFileError& error) {
        throw KeyFileError(file.string() + ": " + error.what());
    }
}

std::string read_password(const std::filesystem::path& file) {
    std::string text = read_text(file);
    text.resize(std::min(text.find_first_of("\r\n"), text.size()));
    return text;
}

}  // namespace assay::worker
