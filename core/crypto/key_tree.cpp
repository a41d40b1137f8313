// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/key_tree.hpp>

#include <core/base/assert.hpp>
#include <core/crypto/curve_context.hpp>
#include <core/crypto/random.hpp>

namespace assay::crypto {

std::array<std::uint8_t, 33> compressed_public_key(const SecretKey& key) noexcept {
    secp256k1_pubkey point{};
    ASSERT(secp256k1_ec_pubkey_create(curve_context(), &point, key.bytes().data()) == 1);
    std::array<std::uint8_t, 33> out{};
    std::size_t size = out.size();
    ASSERT(secp256k1_ec_pubkey_serialize(curve_context(), out.data(), &size, &point, SECP256K1_EC_COMPRESSED) == 1);
    return out;
}

Result<SecretKey, KeyError> sum_of(const SecretKey& key, ByteView number32) noexcept {
    std::array<std::uint8_t, 32> sum = key.bytes();
    if (number32.size() != 32 || secp256k1_ec_seckey_tweak_add(curve_context(), sum.data(), number32.data()) != 1) {
        wipe(sum);
        return Unexpected{KeyError::kSecretOutOfRange};
    }
    auto out = SecretKey::from_bytes(sum);
    wipe(sum);
    return out;
}

}  // namespace assay::crypto
