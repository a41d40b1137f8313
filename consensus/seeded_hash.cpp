// SPDX-License-Identifier: Apache-2.0
#include <consensus/seeded_hash.hpp>

#include <core/crypto/random.hpp>
#include <core/crypto/siphash.hpp>

namespace assay::consensus {
namespace {

const crypto::SipKey& table_key() {
    static const auto kKey = [] {
        crypto::SipKey out{};
        crypto::fill_random(out);
        return out;
    }();
    return kKey;
}

}  // namespace

std::size_t SeededHash::operator()(ByteView bytes) const { return crypto::siphash(table_key(), bytes); }

}  // namespace assay::consensus
