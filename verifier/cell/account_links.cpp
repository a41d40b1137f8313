// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/account_links.hpp>

#include <stdexcept>
#include <string_view>

#include <core/crypto/hash.hpp>
#include <openssl/ssl.h>

namespace assay::cell {
namespace {

constexpr std::string_view kLabel = "EXPORTER-Channel-Binding";

}  // namespace

std::optional<Hash256> channel_binding(SSL* connection) {
    Hash256 out;
    const int is_exported = SSL_export_keying_material(
        connection, out.data.data(), out.data.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0
    );
    return is_exported == 1 ? std::optional(out) : std::nullopt;
}

Hash256 link_digest(const Hash256& binding, const AccountId& signer, const AccountId& other) {
    static const crypto::TaggedHash kTag("assay/link");
    Bytes accounts;
    append(accounts, signer.view());
    append(accounts, other.view());
    return kTag(binding.view(), accounts);
}

Signature sign_channel(SSL* connection, const crypto::SecretKey& key, const AccountId& other) {
    const auto binding = channel_binding(connection);
    if (!binding) {
        throw std::runtime_error("the cell: TLS has no exporter");
    }
    return key.sign(link_digest(*binding, key.account(), other).view());
}

bool is_channel_signed(SSL* connection, const AccountId& signer, const AccountId& other, const Signature& signature) {
    const auto binding = channel_binding(connection);
    return binding && crypto::verify_signature(signer, link_digest(*binding, signer, other).view(), signature);
}

}  // namespace assay::cell
