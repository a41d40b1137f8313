// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/seal.hpp>

#include <array>
#include <stdexcept>

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

Hash256 link_key(const std::string& secret, std::uint64_t session) {
    return hmac(secret, "links of session " + std::to_string(session));
}

bool is_same_text(const std::string& a, const std::string& b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace assay::cell
