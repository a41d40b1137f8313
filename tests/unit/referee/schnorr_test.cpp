// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <client/referee/schnorr.hpp>
#include <core/crypto/keys.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;

namespace {

Bytes random_bytes(std::mt19937& random, std::size_t size) {
    Bytes out(size);
    for (std::uint8_t& byte : out) {
        byte = static_cast<std::uint8_t>(random());
    }
    return out;
}

/// The node's verdict on a signature, which the referee's must equal.
bool agree(const AccountId& signer, ByteView message, const Signature& signature) {
    const bool is_valid = crypto::verify_signature(signer, message, signature);
    CHECK(referee::verify_schnorr(signer, message, signature) == is_valid);
    return is_valid;
}

}  // namespace

TEST_CASE("ENC-2: the referee's BIP-340 agrees with all nineteen vectors") {
    std::ifstream file(folders::source() + "/tests/vectors/bip340.csv");
    REQUIRE(file.good());
    std::string line;
    std::getline(file, line);
    int rows = 0;
    while (std::getline(file, line)) {
        CAPTURE(line);
        std::vector<std::string> cells;
        std::stringstream rest(line);
        for (std::string cell; std::getline(rest, cell, ',');) {
            cells.push_back(cell);
        }
        const auto account = fixed_from_hex<AccountId>(cells[2]).value();
        const auto signature = fixed_from_hex<Signature>(cells[5]).value();
        CHECK(referee::verify_schnorr(account, from_hex(cells[4]).value(), signature) == (cells[6] == "TRUE"));
        ++rows;
    }
    CHECK(rows == 19);
}

TEST_CASE("ENC-2: the referee's BIP-340 agrees with the node's on signatures and on damaged ones") {
    std::mt19937 random(9);
    int valid = 0;
    for (int i = 0; i < 60; ++i) {
        const auto key = crypto::SecretKey::from_bytes(random_bytes(random, 32)).value();
        Bytes message = random_bytes(random, random() % 80);
        Signature signature = key.sign(message);
        AccountId signer = key.account();
        valid += agree(signer, message, signature) ? 1 : 0;
        signature.data[random() % 64] ^= static_cast<std::uint8_t>(1U << random() % 8);
        valid += agree(signer, message, signature) ? 1 : 0;
        signature = key.sign(message);
        signer.data[random() % 32] ^= static_cast<std::uint8_t>(1U << random() % 8);
        valid += agree(signer, message, signature) ? 1 : 0;
        message.push_back(0);
        valid += agree(key.account(), message, signature) ? 1 : 0;
    }
    CHECK(valid == 60);
}

TEST_CASE("ENC-2: the referee's BIP-340 refuses numbers at and beyond their bounds, as the node does") {
    const std::array<const char*, 7> numbers{
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000001",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2e",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140",
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};
    // The generator is the key of the secret 1.
    const char* generator = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    for (const char* r : numbers) {
        for (const char* s : numbers) {
            const auto signature = fixed_from_hex<Signature>(std::string(r) + s).value();
            CHECK_FALSE(agree(fixed_from_hex<AccountId>(generator).value(), as_bytes("message"), signature));
            CHECK_FALSE(agree(fixed_from_hex<AccountId>(r).value(), as_bytes("message"), signature));
        }
    }
}
