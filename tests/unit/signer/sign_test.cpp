// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <client/signer/sign.hpp>
#include <core/crypto/keys.hpp>
#include <tests/unit/folders.hpp>

namespace assay::signer {
namespace {

std::array<std::uint8_t, 32> bytes32(const std::string& hex) { return fixed_from_hex<Hash256>(hex).value().data; }

}  // namespace

TEST_CASE("ENC-2: the signer for browsers makes the signatures of BIP-340's vectors") {
    std::ifstream file(folders::source() + "/tests/vectors/bip340.csv");
    REQUIRE(file.good());
    std::string line;
    std::getline(file, line);
    int signed_rows = 0;
    while (std::getline(file, line)) {
        CAPTURE(line);
        std::vector<std::string> cells;
        std::stringstream rest(line);
        for (std::string cell; std::getline(rest, cell, ',');) {
            cells.push_back(cell);
        }
        if (cells[1].empty()) {
            continue;  // for verification alone
        }
        const auto secret = bytes32(cells[1]);
        CHECK(account_of(secret) == fixed_from_hex<AccountId>(cells[2]).value());
        const auto made = sign_schnorr(secret, from_hex(cells[4]).value(), bytes32(cells[3]));
        CHECK(made == fixed_from_hex<Signature>(cells[5]).value());
        ++signed_rows;
    }
    CHECK(signed_rows == 8);
}

TEST_CASE("ENC-2: the signer for browsers signs as the node's library does") {
    std::mt19937 random(4);
    const auto fill = [&random](auto& bytes) {
        std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<std::uint8_t>(random()); });
    };
    for (int i = 0; i < 40; ++i) {
        Secret secret{};
        fill(secret);
        if (i % 4 == 0) {  // small and large numbers, of many equal bits
            std::fill(secret.begin() + i % 3, secret.end() - 1, static_cast<std::uint8_t>(i % 8 == 0 ? 0 : 0xff));
            secret[0] &= 0x7f;
        }
        std::array<std::uint8_t, 32> aux{};
        fill(aux);
        Bytes message(random() % 100);
        fill(message);
        const auto key = crypto::SecretKey::from_bytes(secret).value();
        CHECK(account_of(secret) == key.account());
        CHECK(sign_schnorr(secret, message, aux) == key.sign(message, aux));
    }
}

TEST_CASE("ENC-2: the signer for browsers refuses secrets that are none") {
    const std::string order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    for (const std::string& hex : {std::string(64, '0'), order, std::string(64, 'f')}) {
        CHECK_FALSE(account_of(bytes32(hex)).has_value());
        CHECK_FALSE(sign_schnorr(bytes32(hex), {}, {}).has_value());
    }
    // The greatest secret is the negative of the generator, which has the same x.
    const auto greatest = bytes32(order.substr(0, 63) + "0");
    CHECK(
        account_of(greatest) ==
        fixed_from_hex<AccountId>("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798").value()
    );
    CHECK(sign_schnorr(greatest, {}, {}).has_value());
}

}  // namespace assay::signer
