// SPDX-License-Identifier: Apache-2.0
#include <node/app/signatures.hpp>

#include <doctest/doctest.h>

#include <core/crypto/keys.hpp>

using namespace assay;
using namespace assay::node;

TEST_CASE("ENC-2: a verifier that knows the signer says what one without memory says") {
    const auto one = crypto::SecretKey::generate();
    const auto two = crypto::SecretKey::generate();
    const Bytes message(168, 7);
    const Signature good = one.sign(message);
    Signature forged = good;
    forged.data.back() ^= 1U;
    AccountId no_point;
    no_point.data.fill(0xFF);
    const SignatureVerifier verifier{};
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        CHECK_FALSE(verifier(one.account(), message, forged));
        CHECK_FALSE(verifier(two.account(), message, good));
        CHECK_FALSE(verifier(no_point, message, good));
        CHECK(verifier(one.account(), message, good));
        CHECK(verifier(two.account(), message, two.sign(message)));
        CHECK_FALSE(verifier(one.account(), Bytes(168, 8), good));
    }
}
