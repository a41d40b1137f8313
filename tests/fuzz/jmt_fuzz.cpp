// SPDX-License-Identifier: Apache-2.0
#include <core/merkle/jmt.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/shapes.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    (void)round_trip<merkle::JmtProof>(input);
    const auto claim = round_trip<JmtClaim>(input);
    if (!claim) {
        return;
    }
    const bool holds = merkle::verify_proof(claim->root, claim->key, claim->value, claim->proof).has_value();
    if (!holds) {
        return;
    }
    // One proof cannot show two things.
    Bytes other = claim->value.value_or(Bytes{});
    other.push_back(1);
    ASSERT(!merkle::verify_proof(claim->root, claim->key, other, claim->proof));
    if (claim->value) {
        ASSERT(!merkle::verify_proof(claim->root, claim->key, std::nullopt, claim->proof));
    }
}

}  // namespace assay::fuzz
