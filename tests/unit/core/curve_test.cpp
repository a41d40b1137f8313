// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/curve.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/aead.hpp>
#include <core/crypto/discrete_log.hpp>
#include <core/crypto/ecies.hpp>
#include <core/crypto/hash.hpp>

#include <tests/unit/core/vectors.hpp>

namespace assay::crypto {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
        cells.push_back(cell);
    }
    return cells;
}

/// The rows of a table of BIP-374's, without its head.
std::vector<std::vector<std::string>> rows_of(const std::string& name) {
    auto file = open_vectors(name);
    std::string line;
    std::getline(file, line);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(file, line)) {
        rows.push_back(cells_of(line));
    }
    return rows;
}

/// Bytes of zeros, which encode no point, for "INFINITY".
CurvePoint point_in(const std::string& hex) { return fixed_from_hex<CurvePoint>(hex).value_or(CurvePoint{}); }

SecretKey secret_of(std::uint8_t number) {
    Hash256 bytes;
    bytes.data[31] = number;
    return SecretKey::from_bytes(bytes.view()).value();
}

TEST_CASE("proofs of equal logarithms are those that BIP-374 has published") {
    const auto rows = rows_of("bip374_generate.csv");
    REQUIRE(rows.size() == 11);
    for (const auto& row : rows) {
        CAPTURE(row[7]);
        const auto secret = SecretKey::from_bytes(hex_bytes(row[2]));
        if (!secret) {
            CHECK(row[6] == "INVALID");
            continue;
        }
        const Bytes message = hex_bytes(row[5]);
        const auto aux = fixed_from_hex<Hash256>(row[4]).value();
        const auto proof = prove_equal_logs(*secret, point_in(row[3]), aux.data, message, point_in(row[1]));
        CHECK((proof ? to_hex(proof->view()) : "INVALID") == row[6]);
    }
}

TEST_CASE("proofs of equal logarithms are verified as BIP-374 has published") {
    const auto rows = rows_of("bip374_verify.csv");
    REQUIRE(rows.size() == 15);
    for (const auto& row : rows) {
        CAPTURE(row[8]);
        const EqualLogs statement{
            .key = point_in(row[2]),
            .base = point_in(row[3]),
            .product = point_in(row[4]),
            .generator = point_in(row[1]),
        };
        const bool is_valid =
            verify_equal_logs(statement, fixed_from_hex<DlogProof>(row[5]).value(), hex_bytes(row[6]));
        CHECK(is_valid == (row[7] == "TRUE"));
    }
}

TEST_CASE("a proof of equal logarithms holds for one message, one secret and one base alone") {
    const SecretKey secret = secret_of(7);
    const CurvePoint base = public_point(secret_of(11));
    const Hash256 message = sha256(as_bytes("message"));
    const auto proof = prove_equal_logs(secret, base, {}, message.view());
    REQUIRE(proof.has_value());
    const EqualLogs right{.key = public_point(secret), .base = base, .product = *multiply(secret, base)};
    CHECK(verify_equal_logs(right, *proof, message.view()));
    CHECK_FALSE(verify_equal_logs(right, *proof));
    CHECK_FALSE(verify_equal_logs(right, *proof, sha256(message.view()).view()));
    CHECK_FALSE(verify_equal_logs(right, *proof, message.view().first(31)));
    CHECK_FALSE(prove_equal_logs(secret, base, {}, message.view().first(31)).has_value());
    for (CurvePoint EqualLogs::*const part :
         {&EqualLogs::key, &EqualLogs::base, &EqualLogs::product, &EqualLogs::generator}) {
        EqualLogs other = right;
        other.*part = public_point(secret_of(13));
        CHECK_FALSE(verify_equal_logs(other, *proof, message.view()));
        other.*part = CurvePoint{};
        CHECK_FALSE(verify_equal_logs(other, *proof, message.view()));
    }
    for (std::size_t i = 0; i < proof->data.size(); ++i) {
        DlogProof altered = *proof;
        altered.data[i] ^= 1U;
        CHECK_FALSE(verify_equal_logs(right, altered, message.view()));
    }
    // Numbers at the edges: zero, and a response that is not below the order.
    CHECK_FALSE(verify_equal_logs(right, DlogProof{}, message.view()));
    DlogProof large;
    large.data.fill(0xff);
    CHECK_FALSE(verify_equal_logs(right, large, message.view()));
    std::fill_n(large.data.begin() + 32, 32, std::uint8_t{0});
    CHECK_FALSE(verify_equal_logs(right, large, message.view()));
}

TEST_CASE("points are lifted multiplied and encoded as SEC 1 and BIP-340 have it") {
    const SecretKey one = secret_of(1);
    const SecretKey three = secret_of(3);
    CHECK(public_point(one) == generator());
    CHECK(*multiply(three, generator()) == public_point(three));
    CHECK(*lift_x(three.account().view()) == public_point(with_even_y(three)));
    for (std::uint8_t i = 1; i < 40; ++i) {
        const SecretKey even = with_even_y(secret_of(i));
        CHECK(public_point(even).data[0] == 2);
        CHECK(even.account() == secret_of(i).account());
        CHECK(*decode_point(*uncompressed(public_point(secret_of(i)))) == public_point(secret_of(i)));
    }
    // 5 is the x coordinate of no point, and the field's order is no coordinate.
    Hash256 x;
    x.data[31] = 5;
    CHECK_FALSE(lift_x(x.view()).has_value());
    x.data.fill(0xff);
    CHECK_FALSE(lift_x(x.view()).has_value());
    CHECK_FALSE(is_on_curve(CurvePoint{}));
    CHECK_FALSE(multiply(three, CurvePoint{}).has_value());
    auto hybrid = *uncompressed(generator());
    hybrid[0] = 6;
    CHECK_FALSE(decode_point(hybrid).has_value());
    CHECK_FALSE(decode_point({}).has_value());
}

TEST_CASE("AES-256-GCM gives test case 16 of McGrew and Viega and refuses every other bit") {
    const auto key =
        fixed_from_hex<AeadKey>("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308").value();
    const Bytes nonce = hex_bytes("cafebabefacedbaddecaf888");
    const Bytes plaintext = hex_bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de6"
        "57ba637b39"
    );
    const Bytes associated = hex_bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    const Bytes sealed = seal_aead(key, nonce, associated, plaintext);
    CHECK(
        to_hex(sealed) ==
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a"
        "0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
    );
    CHECK(open_aead(key, nonce, associated, sealed) == plaintext);
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        Bytes altered = sealed;
        altered[i] ^= 0x80U;
        CHECK_FALSE(open_aead(key, nonce, associated, altered).has_value());
    }
    CHECK_FALSE(open_aead(key, nonce, {}, sealed).has_value());
    CHECK_FALSE(open_aead(key, Bytes(12), associated, sealed).has_value());
    CHECK_FALSE(open_aead({}, nonce, associated, sealed).has_value());
    CHECK_FALSE(open_aead(key, nonce, associated, Bytes(15)).has_value());
    CHECK(open_aead(key, nonce, {}, seal_aead(key, nonce, {}, {})) == Bytes{});
}

TEST_CASE("ECIES opens what ecies-rs has published and derives its key") {
    // src/elliptic/secp256k1.rs of github.com/ecies/rs: test_known_encrypted, test_known_shared_secret.
    const auto secret =
        SecretKey::from_bytes(hex_bytes("e520872701d9ec44dbac2eab85512ad14ad0c42e01de56d7b528abd8524fcb47")).value();
    const Bytes sealed = hex_bytes(
        "047be1885aeb48d4d4db0c992996725d3264784fef88c5b60782f8d0f940c213227fc3f904f846d5ec3d0fba6653754501e8ebadc421aa"
        "3892a20fef33cff0206047058a4cfb4efbeae96b2d019b4ab2edce33328748a0d008a69c8f5816b72d45bd9b5a41bb6ea0127ab23057ec"
        "6fcd"
    );
    const auto shared = multiply(secret, *ephemeral_point(sealed));
    REQUIRE(shared.has_value());
    const auto text = open_with_shared_point(*shared, sealed);
    REQUIRE(text.has_value());
    CHECK(string_of(*text) == "hello world\xf0\x9f\x8c\x8d");
    // The key of the secrets 2 and 3: what is sealed with it opens.
    const auto key =
        fixed_from_hex<AeadKey>("6f982d63e8590c9d9b5b4c1959ff80315d772edd8f60287c9361d548d5200f82").value();
    EciesEntropy entropy{.ephemeral = secret_of(2).bytes(), .nonce = {1, 2, 3}};
    const CurvePoint point_of_three = public_point(secret_of(3));
    REQUIRE(point_of_three.data[0] == 2);
    const Bytes to_three = *seal_to(secret_of(3).account(), as_bytes("text"), entropy);
    Bytes ordered(to_three.end() - 4, to_three.end());
    ordered.insert(ordered.end(), to_three.begin() + 81, to_three.begin() + 97);
    CHECK(string_of(*open_aead(key, entropy.nonce, {}, ordered)) == "text");
}

TEST_CASE("ECIES is opened by its reader or by the shared point of this message alone") {
    for (std::uint8_t i = 1; i < 20; ++i) {  // keys of both parities
        const SecretKey reader = secret_of(i);
        const EciesEntropy entropy = draw_ecies_entropy();
        const Bytes plaintext(i, i);
        const auto sealed = seal_to(reader.account(), plaintext, entropy);
        REQUIRE(sealed.has_value());
        CHECK(sealed->size() == plaintext.size() + kEciesOverhead);
        CHECK(open_with_key(reader, *sealed) == plaintext);
        CHECK(open_with_shared_point(*shared_point(reader, *sealed), *sealed) == plaintext);
        CHECK_FALSE(open_with_key(secret_of(77), *sealed).has_value());
        CHECK_FALSE(open_with_shared_point(generator(), *sealed).has_value());
        CHECK_FALSE(open_with_shared_point(CurvePoint{}, *sealed).has_value());
        const auto again = seal_to(reader.account(), plaintext, draw_ecies_entropy());
        CHECK(*again != *sealed);
        CHECK_FALSE(open_with_shared_point(*shared_point(reader, *sealed), *again).has_value());
        for (std::size_t at = 0; at < sealed->size(); at += 7) {
            Bytes altered = *sealed;
            altered[at] ^= 1U;
            CHECK_FALSE(open_with_key(reader, altered).has_value());
        }
    }
    CHECK_FALSE(seal_to(AccountId{}, {}, draw_ecies_entropy()).has_value());
    CHECK_FALSE(seal_to(secret_of(1).account(), {}, EciesEntropy{}).has_value());
    CHECK_FALSE(open_with_key(secret_of(1), Bytes(kEciesOverhead - 1)).has_value());
    CHECK_FALSE(ephemeral_point(Bytes(200)).has_value());
}

}  // namespace
}  // namespace assay::crypto
