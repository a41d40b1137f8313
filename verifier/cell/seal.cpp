// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/seal.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

#include <core/crypto/hash.hpp>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace assay::cell {
namespace {

constexpr std::size_t kMacDigits = 64;

Hash256 hmac(const std::string& secret, const std::string& text) {
    std::array<std::uint8_t, 32> out{};
    unsigned size = 0;
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    const auto* made =
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), data, text.size(), out.data(), &size);
    if (made == nullptr || size != out.size()) {
        throw std::runtime_error("the cell: OpenSSL computes no HMAC");
    }
    return Hash256{out};
}

// What an account signs.
Hash256 digest_of(const Hash256& subject, const std::string& target, const std::string& body) {
    static const crypto::TaggedHash kTag("assay/meeting");
    return kTag(subject.view(), to_bytes(target + "\n" + body));
}

}  // namespace

std::string mac_of(const std::string& secret, const std::string& text) { return to_hex(hmac(secret, text).view()); }

std::string seal(const std::string& secret, const std::string& target, const std::string& body) {
    return mac_of(secret, target + "\n" + body) + "\n" + body;
}

std::optional<std::string> unseal(const std::string& secret, const std::string& target, const std::string& sealed) {
    if (sealed.size() <= kMacDigits || sealed[kMacDigits] != '\n') {
        return std::nullopt;
    }
    std::string body = sealed.substr(kMacDigits + 1);
    if (!is_same_text(sealed.substr(0, kMacDigits), mac_of(secret, target + "\n" + body))) {
        return std::nullopt;
    }
    return body;
}

std::pair<Seal, OpenSeal> by_secret(const std::string& secret) {
    return {
        [secret](const std::string& target, const std::string& body) { return seal(secret, target, body); },
        [secret](const std::string& target, const std::string& sealed) -> std::optional<Opened> {
            auto body = unseal(secret, target, sealed);
            return body ? std::optional(Opened{*std::move(body)}) : std::nullopt;
        }};
}

Seal by_account(const crypto::SecretKey& key, const Hash256& subject) {
    return [key, subject](const std::string& target, const std::string& body) {
        const Signature signature = key.sign(digest_of(subject, target, body).view());
        return to_hex(key.account().view()) + to_hex(signature.view()) + "\n" + body;
    };
}

OpenSeal of_accounts(std::vector<AccountId> accounts, const Hash256& subject) {
    return [accounts = std::move(accounts),
            subject](const std::string& target, const std::string& sealed) -> std::optional<Opened> {
        constexpr std::size_t kAccountDigits = 2 * AccountId::kSizeBytes;
        constexpr std::size_t kHead = kAccountDigits + 2 * Signature::kSizeBytes;
        if (sealed.size() <= kHead || sealed[kHead] != '\n') {
            return std::nullopt;
        }
        const auto account = fixed_from_hex<AccountId>(sealed.substr(0, kAccountDigits));
        const auto signature = fixed_from_hex<Signature>(sealed.substr(kAccountDigits, kHead - kAccountDigits));
        std::string body = sealed.substr(kHead + 1);
        const bool is_member = account && std::find(accounts.begin(), accounts.end(), *account) != accounts.end();
        if (!is_member || !signature ||
            !crypto::verify_signature(*account, digest_of(subject, target, body).view(), *signature)) {
            return std::nullopt;
        }
        return Opened{.body = std::move(body), .name = to_hex(account->view())};
    };
}

Hash256 link_key(const std::string& secret, std::uint64_t session) {
    return hmac(secret, "links of session " + std::to_string(session));
}

bool is_same_text(const std::string& a, const std::string& b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace assay::cell
