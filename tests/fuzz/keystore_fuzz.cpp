// SPDX-License-Identifier: Apache-2.0
#include <core/keys/keystore.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/shapes.hpp>

namespace assay::fuzz {
namespace {

/// Costs that are lawful and would only take long are left out.
bool is_slow(const KeystoreCase& c) { return c.n <= (1U << 20U) && c.r <= 64 && c.p <= 64 && c.n * c.r * c.p > 256; }

}  // namespace

void run(ByteView input) {
    const auto sealed = codec::decode<KeystoreCase>(input);
    if (!sealed || is_slow(*sealed)) {
        return;
    }
    const crypto::SealedKey key{
        .account = sealed->account,
        .cost = {.n = sealed->n, .r = sealed->r, .p = sealed->p},
        .salt = sealed->salt,
        .nonce = sealed->nonce,
        .ciphertext = sealed->ciphertext};
    if (const auto opened = crypto::open_key(key, sealed->password)) {
        ASSERT(opened->account() == sealed->account);
    }
}

}  // namespace assay::fuzz
