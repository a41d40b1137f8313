// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/address.hpp>

#include <algorithm>
#include <cctype>

#include <doctest/doctest.h>

#include <tests/unit/core/vectors.hpp>

namespace assay::crypto {
namespace {

TEST_CASE("bech32m accepts and writes the valid strings of BIP-350") {
    const auto vectors = json_vectors("bech32m.json");
    CHECK(vectors.at("valid").size() == 7);
    for (const auto& entry : vectors.at("valid")) {
        auto text = entry.get<std::string>();
        const auto decoded = decode_bech32m(text);
        REQUIRE(decoded.has_value());
        std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        CHECK(encode_bech32m(decoded->prefix, decoded->data) == text);
    }
}

TEST_CASE("bech32m refuses the invalid strings of BIP-350") {
    const auto vectors = json_vectors("bech32m.json");
    CHECK(vectors.at("invalid").size() == 14);
    for (const auto& entry : vectors.at("invalid")) {
        const Bytes bytes = hex_bytes(entry.at("hex").get<std::string>());
        CAPTURE(entry.dump());
        CHECK_FALSE(decode_bech32m(std::string(bytes.begin(), bytes.end())).has_value());
    }
}

TEST_CASE("ENC-3: an address gives its account back and every mistyped character is noticed") {
    AccountId account;
    for (std::size_t i = 0; i < account.data.size(); ++i) {
        account.data[i] = static_cast<std::uint8_t>(i * 37 + 11);
    }
    const std::string address = to_address(account);
    CHECK(address.starts_with("assay1"));
    CHECK(address.size() == 64);
    CHECK(*decode_address(address) == account);
    for (std::size_t at = 0; at < address.size(); ++at) {
        std::string typo = address;
        typo[at] = typo[at] == 'q' ? 'p' : 'q';
        CHECK_FALSE(decode_address(typo).has_value());
    }
}

TEST_CASE("ENC-3: the example of encoding.md holds") {
    const auto account = fixed_from_hex<AccountId>("f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9");
    CHECK(to_address(*account) == "assay1lycg5qvjtrp3qjf5f7zl382j9x6nrjz9sdhenvyxq8c3808qxmusgatks7");
}

TEST_CASE("ENC-3: an address says what is wrong with it") {
    const std::string address = to_address(AccountId{});
    std::string text = address;
    text[10] = 'b';
    CHECK(decode_address(text).error() == AddressError::kBadCharacter);
    text = address;
    text[10] = 'p';
    CHECK(decode_address(text).error() == AddressError::kBadChecksum);
    text = address;
    text[0] = 'A';
    CHECK(decode_address(text).error() == AddressError::kMixedCase);
    CHECK(decode_address(encode_bech32m("assay", Bytes(51))).error() == AddressError::kBadLength);
    CHECK(decode_address(encode_bech32m("assay", Bytes(53))).error() == AddressError::kBadLength);
    CHECK(decode_address(encode_bech32m("essay", Bytes(52))).error() == AddressError::kWrongPrefix);
    CHECK(decode_address("").error() == AddressError::kWrongPrefix);
    CHECK(decode_address(std::string(91, 'q')).error() == AddressError::kBadLength);
    Bytes padded(52);
    padded.back() = 1;
    CHECK(decode_address(encode_bech32m("assay", padded)).error() == AddressError::kBadCharacter);
}

}  // namespace
}  // namespace assay::crypto
