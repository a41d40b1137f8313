// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/curve.hpp>
#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/keys.hpp>

#include <algorithm>
#include <utility>

#include <client/referee/schnorr.hpp>
#include <client/referee/sha256.hpp>
#include <client/referee/wasm/signatures.hpp>

/// core/crypto for the build for browsers, as far as the referee needs it.
namespace assay::crypto {

Hash256 sha256(ByteView data) noexcept { return referee::PlainSha256().update(data).finish(); }

struct Sha256::Impl {
    referee::PlainSha256 hash;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(ByteView data) noexcept {
    impl_->hash.update(data);
    return *this;
}

Hash256 Sha256::finish() noexcept { return impl_->hash.finish(); }

struct TaggedHash::Begun {
    referee::PlainSha256 hash;
};

TaggedHash::TaggedHash(std::string_view tag) noexcept {
    const Hash256 digest = sha256(as_bytes(tag));
    std::copy(digest.data.begin(), digest.data.end(), prefix_.begin());
    std::copy(digest.data.begin(), digest.data.end(), prefix_.begin() + 32);
    const auto begun = std::make_shared<Begun>();
    begun->hash.update(prefix_);
    begun_ = begun;
}

Hash256 TaggedHash::operator()(ByteView data) const noexcept { return (*this)(data, ByteView{}); }

Hash256 TaggedHash::operator()(ByteView first, ByteView second) const noexcept {
    return referee::PlainSha256(begun_->hash).update(first).update(second).finish();
}

bool verify_signature(const AccountId& signer, ByteView message, const Signature& signature) noexcept {
    return referee::verify_schnorr(signer, message, signature);
}

std::optional<CurvePoint> lift_x(ByteView x32) noexcept {
    if (!referee::is_x_of_point(x32)) {
        return std::nullopt;
    }
    CurvePoint out;
    out.data[0] = 2;
    std::copy(x32.begin(), x32.end(), out.data.begin() + 1);
    return out;
}

bool verify_ed25519(ByteView public_key, ByteView message, ByteView signature) noexcept {
    return referee::note_signature(public_key, message, signature);
}

}  // namespace assay::crypto
