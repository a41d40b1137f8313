// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/account_certificate.hpp>

#include <algorithm>

#include <client/http/own_certificate.hpp>
#include <core/crypto/hash.hpp>

namespace assay::relay {
namespace {

/// An identifier that nobody has to assign (ITU-T X.667): 2.25 and the number of a random UUID.
constexpr const char* kOid = "2.25.11026991039809411606330634149875325016";

Hash256 digest_of(ByteView public_key) {
    static const crypto::TaggedHash kTag("assay/relay/certificate");
    return kTag(public_key);
}

}  // namespace

boost::asio::ssl::context make_account_context(const crypto::SecretKey& key) {
    return http::make_own_certificate_context(http::CertificateExtension{
        .oid = kOid, .value = [&key](ByteView public_key) {
            const Signature signature = key.sign(digest_of(public_key).view());
            return Bytes(signature.data.begin(), signature.data.end());
        }});
}

bool is_of_account(ByteView certificate, const AccountId& account) {
    const auto decoded = http::decode_own_certificate(certificate, kOid);
    if (!decoded || decoded->extension.size() != Signature::kSizeBytes) {
        return false;
    }
    Signature signature;
    std::copy(decoded->extension.begin(), decoded->extension.end(), signature.data.begin());
    return crypto::verify_signature(account, digest_of(decoded->public_key).view(), signature);
}

}  // namespace assay::relay
