// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/siphash.hpp>

#include <cstddef>

#include <cryptopp/siphash.h>

namespace assay::crypto {

std::uint64_t siphash(const SipKey& key, ByteView bytes) {
    CryptoPP::SipHash<2, 4, false> hash(key.data(), static_cast<unsigned>(key.size()));
    hash.Update(bytes.data(), bytes.size());
    std::array<std::uint8_t, 8> digest{};
    hash.TruncatedFinal(digest.data(), digest.size());
    std::uint64_t out = 0;
    for (std::size_t i = digest.size(); i > 0; --i) {
        out = out << 8U | digest[i - 1];
    }
    return out;
}

}  // namespace assay::crypto
