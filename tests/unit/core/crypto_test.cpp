// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/keys.hpp>

#include <array>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/ed25519.hpp>
#include <core/crypto/hash.hpp>
#include <core/crypto/hash_batch.hpp>
#include <core/keys/keystore.hpp>
#include <core/crypto/random.hpp>
#include <core/crypto/signing_key.hpp>
#include <core/crypto/siphash.hpp>

#include <tests/unit/core/vectors.hpp>

namespace assay::crypto {
namespace {

std::vector<std::string> split(const std::string& line, std::size_t columns) {
    std::vector<std::string> cells(columns);
    std::istringstream in(line);
    for (std::size_t i = 0; i < columns; ++i) {
        std::getline(in, cells[i], ',');
    }
    return cells;
}

TEST_CASE("SipHash-2-4 gives the values that its authors published") {
    SipKey key{};
    Bytes message(63);
    for (std::size_t i = 0; i < message.size(); ++i) {
        message[i] = static_cast<std::uint8_t>(i);
        key[i % key.size()] = static_cast<std::uint8_t>(i % key.size());
    }
    struct Vector {
        std::size_t size;
        std::uint64_t hash;
    };
    for (const Vector& vector :
         {Vector{0, 0x726fdb47dd0e0e31}, Vector{1, 0x74f839c593dc67fd}, Vector{2, 0x0d6c8009d9a94f5a},
          Vector{7, 0xab0200f58b01d137}, Vector{8, 0x93f5f5799a932462}, Vector{15, 0xa129ca6149be45e5},
          Vector{63, 0x958a324ceb064572}}) {
        CAPTURE(vector.size);
        CHECK(siphash(key, ByteView(message).first(vector.size)) == vector.hash);
    }
    key[15] ^= 1U;
    CHECK(siphash(key, ByteView(message).first(15)) != 0xa129ca6149be45e5);
}

TEST_CASE("VAL-1: Ed25519 signs as RFC 8032 has it, and takes one encoding of each signature") {
    const auto seed =
        fixed_from_hex<Hash256>("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").value();
    const Ed25519Key key(seed.data);
    CHECK(to_hex(ByteView(key.public_key())) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    auto signature = key.sign({});
    CHECK(
        to_hex(ByteView(signature)) ==
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b"
        "be24655141438e7a100b"
    );
    CHECK(verify_ed25519(key.public_key(), {}, signature));
    const Bytes other{1};
    CHECK_FALSE(verify_ed25519(key.public_key(), other, signature));
    CHECK_FALSE(verify_ed25519(key.public_key(), {}, ByteView(signature).first(63)));
    // S plus the order is the same number to who reduces it.
    const std::array<std::uint8_t, 16> order{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                             0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14};
    unsigned carry = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        const unsigned digit = i < order.size() ? order[i] : (i == 31 ? 0x10U : 0U);
        carry += signature[32 + i] + digit;
        signature[32 + i] = static_cast<std::uint8_t>(carry);
        carry >>= 8U;
    }
    CHECK_FALSE(verify_ed25519(key.public_key(), {}, signature));
    // y and y plus the field's order likewise.
    std::array<std::uint8_t, 32> field{};
    field.fill(0xff);
    field.front() = 0xee;
    field.back() = 0x7f;
    CHECK_FALSE(verify_ed25519(field, {}, key.sign({})));
}

TEST_CASE("SHA-256 gives the digests of NIST's short messages at once and in parts") {
    auto file = open_vectors("sha256_short.rsp");
    std::string line;
    std::size_t bits = 0;
    Bytes message;
    std::size_t seen = 0;
    Sha256 stream;
    while (std::getline(file, line)) {
        if (line.starts_with("Len = ")) {
            bits = std::stoul(line.substr(6));
        } else if (line.starts_with("Msg = ")) {
            message = hex_bytes(line.substr(6));
            message.resize(bits / 8);
        } else if (line.starts_with("MD = ")) {
            ++seen;
            const ByteView view = message;
            CHECK(to_hex(sha256(view).view()) == line.substr(5));
            stream.update(view.first(view.size() / 3)).update(view.subspan(view.size() / 3));
            CHECK(to_hex(stream.finish().view()) == line.substr(5));
        }
    }
    CHECK(seen == 65);
}

TEST_CASE("ENC-1: a tagged hash is SHA-256 over the tag digest twice and the data") {
    const Hash256 tag = sha256(as_bytes("assay/example"));
    Bytes input;
    append(input, tag.view());
    append(input, tag.view());
    append(input, as_bytes("some data"));
    const TaggedHash hash("assay/example");
    CHECK(hash(as_bytes("some data")) == sha256(input));
    CHECK(hash(as_bytes("some"), as_bytes(" data")) == sha256(input));
    CHECK(hash(as_bytes("some data")) != TaggedHash("assay/other")(as_bytes("some data")));
    CHECK(
        to_hex(TaggedHash("BIP0340/challenge")({}).view()) == to_hex([] {
            Bytes twice;
            append(twice, sha256(as_bytes("BIP0340/challenge")).view());
            append(twice, sha256(as_bytes("BIP0340/challenge")).view());
            return sha256(twice);
        }()
                                                                         .view())
    );
}

TEST_CASE("ENC-1: many hashes at once are those of one at a time, in every thread") {
    const TaggedHash tag("assay/example");
    // Lengths around a block and padding, and one that no batch holds; numbers around lanes, and more than any queue.
    const std::vector<std::size_t> lengths{0, 1, 31, 54, 55, 56, 63, 64, 65, 119, 120, 4'096, 8'192, 200'000};
    const std::vector<std::size_t> counts{0, 1, 2, 3, 15, 16, 17, 300};
    const auto work = [&](std::uint8_t salt) {
        HashBatch batch(tag);
        for (const std::size_t count : counts) {
            std::vector<Hash256> expected;
            for (std::size_t i = 0; i < count; ++i) {
                const Bytes data(lengths[(i + count) % lengths.size()], static_cast<std::uint8_t>(i + salt));
                batch.add(data);
                expected.push_back(tag(data));
            }
            CHECK(batch.finish() == expected);
            CHECK(batch.finish().empty());
        }
    };
    std::vector<std::jthread> threads;
    for (std::uint8_t salt = 0; salt < 4; ++salt) {
        threads.emplace_back(work, salt);
    }
}

TEST_CASE("ENC-1: rows at equal distances are hashed as if they followed each other") {
    const TaggedHash tag("assay/example");
    Bytes data(1'000);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::uint8_t>(i * 7);
    }
    HashBatch batch(tag);
    std::vector<Hash256> expected;
    for (const std::size_t stride : {0U, 40U, 41U, 130U}) {
        for (const std::size_t rows : {0U, 1U, 7U}) {
            Bytes joined;
            for (std::size_t row = 0; row < rows; ++row) {
                append(joined, ByteView(data).subspan(5 + row * stride, 40));
            }
            batch.add_rows(ByteView(data).subspan(5), 40, stride, rows);
            expected.push_back(tag(joined));
        }
    }
    CHECK(batch.finish() == expected);
}

TEST_CASE("ENC-2: signatures agree with all nineteen vectors of BIP-340") {
    auto file = open_vectors("bip340.csv");
    std::string line;
    std::getline(file, line);
    int rows = 0;
    while (std::getline(file, line)) {
        CAPTURE(line);
        const auto cell = split(line, 7);
        CHECK(std::stoi(cell[0]) == rows++);
        const auto account = fixed_from_hex<AccountId>(cell[2]);
        const auto signature = fixed_from_hex<Signature>(cell[5]);
        REQUIRE(account.has_value());
        REQUIRE(signature.has_value());
        const Bytes message = hex_bytes(cell[4]);
        CHECK(verify_signature(*account, message, *signature) == (cell[6] == "TRUE"));
        if (cell[1].empty()) {
            continue;
        }
        const auto key = SecretKey::from_bytes(hex_bytes(cell[1]));
        REQUIRE(key.has_value());
        CHECK(key->account() == *account);
        CHECK(key->sign(message, fixed_from_hex<Hash256>(cell[3])->data) == *signature);
    }
    CHECK(rows == 19);
}

TEST_CASE("ENC-2: a secret outside the group order or of the wrong length is refused") {
    const std::string order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    const std::string below = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140";
    CHECK(SecretKey::from_bytes(hex_bytes(order)).error() == KeyError::kSecretOutOfRange);
    CHECK(SecretKey::from_bytes(Bytes(32)).error() == KeyError::kSecretOutOfRange);
    CHECK(SecretKey::from_bytes(Bytes(31, 1)).error() == KeyError::kSecretOutOfRange);
    CHECK(SecretKey::from_bytes(hex_bytes(below)).has_value());
}

TEST_CASE("generated keys differ and a signature binds key and message") {
    const SecretKey one = SecretKey::generate();
    const SecretKey two = SecretKey::generate();
    CHECK(one.bytes() != two.bytes());
    Bytes message(100, 7);
    const Signature signature = one.sign(message);
    CHECK(verify_signature(one.account(), message, signature));
    CHECK_FALSE(verify_signature(two.account(), message, signature));
    CHECK(PublicKey::of(one.account()).value().verifies(message, signature));
    CHECK_FALSE(PublicKey::of(two.account()).value().verifies(message, signature));
    CHECK_FALSE(PublicKey::of(AccountId{}).has_value());
    message.back() ^= 1U;
    CHECK_FALSE(verify_signature(one.account(), message, signature));
    std::array<std::uint8_t, 32> secret = one.bytes();
    wipe(secret);
    CHECK(secret == std::array<std::uint8_t, 32>{});
}

TEST_CASE("ENC-2: a key that is made ready to sign signs as the secret key does") {
    const SecretKey key = SecretKey::generate();
    const SigningKey ready(key);
    for (const std::size_t size : {0U, 32U, 100U}) {
        const Bytes message(size, 7);
        CHECK(ready.sign(message) == key.sign(message));
        CHECK(verify_signature(key.account(), message, ready.sign(message)));
    }
}

constexpr KeystoreCost kCheap{1024, 8, 1};

TEST_CASE("a keystore opens under its password alone") {
    const SecretKey key = SecretKey::generate();
    const SealedKey sealed = seal_key(key, "correct horse", kCheap);
    CHECK(sealed.account == key.account());
    CHECK(open_key(sealed, "correct horse")->bytes() == key.bytes());
    CHECK(open_key(sealed, "correct house").error() == KeystoreError::kWrongPassword);
    CHECK(open_key(sealed, "").error() == KeystoreError::kWrongPassword);
    SealedKey altered = sealed;
    altered.ciphertext[0] ^= 1U;
    CHECK(open_key(altered, "correct horse").error() == KeystoreError::kWrongPassword);
    altered = sealed;
    altered.account.data[0] ^= 1U;
    CHECK(open_key(altered, "correct horse").error() == KeystoreError::kWrongPassword);
    altered = sealed;
    altered.ciphertext.pop_back();
    CHECK(open_key(altered, "correct horse").error() == KeystoreError::kMalformed);
    const SealedKey again = seal_key(key, "correct horse", kCheap);
    CHECK(again.salt != sealed.salt);
    CHECK(again.nonce != sealed.nonce);
}

TEST_CASE("a keystore that another implementation sealed opens") {
    const auto vector = json_vectors("keystore.json");
    SealedKey sealed;
    sealed.account = *fixed_from_hex<AccountId>(vector.at("account").get<std::string>());
    sealed.cost = {
        vector.at("n").get<std::uint64_t>(), vector.at("r").get<std::uint32_t>(), vector.at("p").get<std::uint32_t>()};
    const Bytes salt = hex_bytes(vector.at("salt").get<std::string>());
    const Bytes nonce = hex_bytes(vector.at("nonce").get<std::string>());
    REQUIRE(salt.size() == sealed.salt.size());
    REQUIRE(nonce.size() == sealed.nonce.size());
    std::copy(salt.begin(), salt.end(), sealed.salt.begin());
    std::copy(nonce.begin(), nonce.end(), sealed.nonce.begin());
    sealed.ciphertext = hex_bytes(vector.at("ciphertext").get<std::string>());
    const auto key = open_key(sealed, vector.at("password").get<std::string>());
    REQUIRE(key.has_value());
    CHECK(to_hex(key->bytes()) == vector.at("secret").get<std::string>());
}

TEST_CASE("scrypt costs that would exhaust memory or make no sense are refused") {
    SealedKey sealed = seal_key(SecretKey::generate(), "x", kCheap);
    struct Row {
        KeystoreCost cost;
        KeystoreError error;
    };
    for (const Row& row : {
             Row{{std::uint64_t{1} << 21U, 8, 1}, KeystoreError::kCostTooHigh},
             Row{{std::uint64_t{1} << 63U, 8, 1}, KeystoreError::kCostTooHigh},
             Row{{std::uint64_t{1} << 20U, 16, 1}, KeystoreError::kCostTooHigh},
             Row{{1024, 65, 1}, KeystoreError::kCostTooHigh},
             Row{{1024, 8, 9}, KeystoreError::kCostTooHigh},
             Row{{1024, 0x80000000U, 2}, KeystoreError::kCostTooHigh},
             Row{{1000, 8, 1}, KeystoreError::kMalformed},
             Row{{1, 8, 1}, KeystoreError::kMalformed},
             Row{{0, 8, 1}, KeystoreError::kMalformed},
             Row{{1024, 0, 1}, KeystoreError::kMalformed},
             Row{{1024, 8, 0}, KeystoreError::kMalformed},
         }) {
        sealed.cost = row.cost;
        CHECK(open_key(sealed, "x").error() == row.error);
    }
}

}  // namespace
}  // namespace assay::crypto
