// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/md5.hpp>

#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1
#include <crypto++/md5.h>

namespace assay::crypto {

std::array<std::uint8_t, 16> md5(ByteView data) noexcept {
    std::array<std::uint8_t, 16> out{};
    CryptoPP::Weak::MD5 hash;
    hash.Update(data.data(), data.size());
    hash.Final(out.data());
    return out;
}

}  // namespace assay::crypto
