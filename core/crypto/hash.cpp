// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/hash.hpp>

#include <algorithm>

#include <crypto++/sha.h>

namespace assay::crypto {

Hash256 sha256(ByteView data) noexcept {
    Hash256 out;
    CryptoPP::SHA256 hash;
    hash.Update(data.data(), data.size());
    hash.Final(out.data.data());
    return out;
}

struct Sha256::Impl {
    CryptoPP::SHA256 hash;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(ByteView data) noexcept {
    impl_->hash.Update(data.data(), data.size());
    return *this;
}

Hash256 Sha256::finish() noexcept {
    Hash256 out;
    impl_->hash.Final(out.data.data());
    return out;
}

struct TaggedHash::Begun {
    CryptoPP::SHA256 hash;
};

TaggedHash::TaggedHash(std::string_view tag) noexcept {
    const Hash256 digest = sha256(as_bytes(tag));
    std::copy(digest.data.begin(), digest.data.end(), prefix_.begin());
    std::copy(digest.data.begin(), digest.data.end(), prefix_.begin() + 32);
    const auto begun = std::make_shared<Begun>();
    begun->hash.Update(prefix_.data(), prefix_.size());
    begun_ = begun;
}

Hash256 TaggedHash::operator()(ByteView data) const noexcept { return (*this)(data, ByteView{}); }

Hash256 TaggedHash::operator()(ByteView first, ByteView second) const noexcept {
    Hash256 out;
    CryptoPP::SHA256 hash = begun_->hash;
    hash.Update(first.data(), first.size());
    hash.Update(second.data(), second.size());
    hash.Final(out.data.data());
    return out;
}

}  // namespace assay::crypto
