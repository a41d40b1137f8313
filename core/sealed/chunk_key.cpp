// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/chunk_key.hpp>

#include <core/base/assert.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>

namespace assay::sealed {
namespace {

// SEA-5: a key seals one plaintext, so that the nonce need not differ.
constexpr std::array<std::uint8_t, crypto::kAeadNonceBytes> kNonce{};

}  // namespace

crypto::CurvePoint hash_to_curve(const ChunkName& name) noexcept {
    static const crypto::TaggedHash kHash("assay/chunk-point");
    const Bytes encoded = codec::encode(name);
    // Every second number is the x coordinate of a point.
    for (std::uint32_t counter = 0;; ++counter) {
        if (const auto point = crypto::lift_x(kHash(encoded, codec::encode(counter)).view())) {
            return *point;
        }
    }
}

crypto::CurvePoint chunk_point(const TaskSecret& secret, const ChunkName& name) noexcept {
    return *crypto::multiply(secret.scalar(), hash_to_curve(name));
}

crypto::AeadKey chunk_key(const crypto::CurvePoint& point) noexcept {
    static const crypto::TaggedHash kHash("assay/chunk-key");
    return {kHash(point.view()).data};
}

Bytes seal_chunk(const TaskSecret& secret, const ChunkName& name, ByteView plaintext) {
    crypto::AeadKey key = chunk_key(chunk_point(secret, name));
    Bytes out = crypto::seal_aead(key, kNonce, codec::encode(name), plaintext);
    crypto::wipe(key.data);
    return out;
}

std::optional<Bytes> open_chunk(const TaskSecret& secret, const ChunkName& name, ByteView sealed) {
    return open_chunk_with(chunk_point(secret, name), name, sealed);
}

std::optional<Bytes> open_chunk_with(const crypto::CurvePoint& point, const ChunkName& name, ByteView sealed) {
    crypto::AeadKey key = chunk_key(point);
    auto out = crypto::open_aead(key, kNonce, codec::encode(name), sealed);
    crypto::wipe(key.data);
    return out;
}

crypto::DlogProof prove_chunk_point(
    const TaskSecret& secret, const ChunkName& name, const AccountId& reporter, const std::array<std::uint8_t, 32>& aux
) noexcept {
    const auto proof = crypto::prove_equal_logs(secret.scalar(), hash_to_curve(name), aux, reporter.view());
    ASSERT(proof.has_value());  // it fails for one of 2^255 values of aux
    return *proof;
}

bool verify_chunk_point(
    const TaskKey& key, const ChunkName& name, const crypto::CurvePoint& point, const crypto::DlogProof& proof,
    const AccountId& reporter
) noexcept {
    const auto lifted = crypto::lift_x(key.view());
    if (!lifted) {
        return false;
    }
    const crypto::EqualLogs statement{.key = *lifted, .base = hash_to_curve(name), .product = point};
    return crypto::verify_equal_logs(statement, proof, reporter.view());
}

}  // namespace assay::sealed
