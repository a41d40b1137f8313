// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/account_links.hpp>

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

}  // namespace assay::cell
