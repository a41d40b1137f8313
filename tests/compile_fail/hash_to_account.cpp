// SPDX-License-Identifier: Apache-2.0
// Error: invalid initialization of reference|no viable conversion
#include <core/crypto/keys.hpp>

namespace assay {

/// A digest is no signer.
bool probe(const Hash256& hash, const AccountId& account, const Signature& signature) {
#ifdef VIOLATION
    return crypto::verify_signature(hash, account.view(), signature);
#else
    return crypto::verify_signature(account, hash.view(), signature);
#endif
}

}  // namespace assay
