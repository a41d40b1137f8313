// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/key_file.hpp>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/crypto/address.hpp>
#include <core/crypto/keystore.hpp>
#include <core/crypto/random.hpp>

namespace assay::worker {
namespace {

crypto::SecretText read_text(const std::filesystem::path& file) {
    auto text = crypto::read_private_file(file);
    if (!text) {
        throw KeyFileError(crypto::describe(text.error(), file));
    }
    return *std::move(text);
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
    const crypto::SecretText text = read_text(file);
    crypto::SecretText digits;
    for (const char c : text.view()) {
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            digits.push_back(c);
        }
    }
    auto bytes = from_hex(digits.view());
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

crypto::SecretKey read_keystore(const std::filesystem::path& file, std::string_view password) {
    const crypto::SecretText text = read_text(file);
    try {
        const auto key = crypto::open_key(decode_sealed(nlohmann::json::parse(text.view())), password);
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

crypto::SecretText read_password(const std::filesystem::path& file) {
    crypto::SecretText text = read_text(file);
    text.keep_first_line();
    return text;
}

}  // namespace assay::worker
