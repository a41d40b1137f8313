// SPDX-License-Identifier: Apache-2.0
#include <core/keys/mnemonic.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <core/keys/mnemonic_words.hpp>
#include <tests/unit/core/vectors.hpp>

namespace assay::crypto {
namespace {

/// The bytes of an extended private key in Base58Check, without a look at its check: version, depth, fingerprint,
/// index, chain code, zero, key, check.
Bytes base58(std::string_view text) {
    constexpr std::string_view kDigits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    Bytes out(82, 0);
    for (const char c : text) {
        auto carry = static_cast<unsigned>(kDigits.find(c));
        REQUIRE(carry < 58);
        for (auto byte = out.rbegin(); byte != out.rend(); ++byte) {
            carry += 58U * *byte;
            *byte = static_cast<std::uint8_t>(carry);
            carry >>= 8U;
        }
        REQUIRE(carry == 0);
    }
    return out;
}

void check_node(const ExtendedKey& node, const std::string& xprv) {
    const Bytes bytes = base58(xprv);
    CHECK(std::equal(node.chain_code.begin(), node.chain_code.end(), bytes.begin() + 13));
    CHECK(std::equal(node.key.bytes().begin(), node.key.bytes().end(), bytes.begin() + 46));
}

std::vector<std::uint32_t> indices(const std::string& path) {
    std::vector<std::uint32_t> out;
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        const std::string step = path.substr(at + 1, path.find('/', at + 1) - at - 1);
        out.push_back(static_cast<std::uint32_t>(std::stoul(step)) | (step.back() == '\'' ? kHardened : 0U));
    }
    return out;
}

PhraseProblem problem_of(std::string_view phrase) {
    const auto normal = normal_phrase(phrase);
    REQUIRE_FALSE(normal.has_value());
    return normal.error();
}

constexpr std::string_view kAbandon =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

}  // namespace

TEST_CASE("phrases: the word list is BIP-39's English one") {
    std::string lines(mnemonic_words());
    std::replace(lines.begin(), lines.end(), ' ', '\n');
    lines += '\n';
    CHECK(to_hex(sha256(as_bytes(lines)).view()) == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda");
}

TEST_CASE("phrases: the published vectors of BIP-39 come out") {
    const auto vectors = json_vectors("phrases.json").at("bip39");
    CHECK(vectors.size() == 24);
    for (const auto& each : vectors) {
        const auto phrase = each.at("phrase").get<std::string>();
        CAPTURE(phrase);
        CHECK(to_phrase(hex_bytes(each.at("entropy").get<std::string>())).view() == phrase);
        const auto seed = seed_of_phrase(phrase, "TREZOR");
        REQUIRE(seed.has_value());
        CHECK(to_hex(seed->bytes) == each.at("seed").get<std::string>());
        const auto root = master_key(seed->bytes);
        REQUIRE(root.has_value());
        check_node(*root, each.at("root").get<std::string>());
    }
}

TEST_CASE("phrases: the published vectors of BIP-32 come out") {
    const auto vectors = json_vectors("phrases.json").at("bip32");
    CHECK(vectors.size() == 17);
    for (const auto& each : vectors) {
        const auto path = each.at("path").get<std::string>();
        CAPTURE(path);
        auto node = master_key(hex_bytes(each.at("seed").get<std::string>()));
        for (const std::uint32_t index : indices(path)) {
            REQUIRE(node.has_value());
            node = child_key(*node, index);
        }
        REQUIRE(node.has_value());
        check_node(*node, each.at("xprv").get<std::string>());
    }
}

TEST_CASE("phrases: a phrase restores the key at the path that the documents name") {
    const auto key = key_of_phrase(kAbandon);
    REQUIRE(key.has_value());
    auto node = master_key(seed_of_phrase(kAbandon)->bytes);
    for (const std::uint32_t index : indices(kPhrasePath)) {
        node = child_key(*node, index);
    }
    CHECK(key->account() == node->key.account());
    CHECK(key_of_phrase(kAbandon, "more")->account() != key->account());
}

TEST_CASE("phrases: case and spaces do not matter") {
    std::string typed = "  ABANDON\tabandon\n";
    typed += kAbandon.substr(16);
    typed += "\r\n";
    CHECK(normal_phrase(typed)->view() == kAbandon);
    CHECK(key_of_phrase(typed)->account() == key_of_phrase(kAbandon)->account());
}

TEST_CASE("phrases: what is no phrase is refused, and the message has no word of it") {
    CHECK(problem_of("").error == PhraseError::kWordCount);
    CHECK(problem_of("abandon about").error == PhraseError::kWordCount);
    std::string other(kAbandon);
    other.replace(8, 7, "abandonn");
    CHECK(problem_of(other).error == PhraseError::kUnknownWord);
    CHECK(problem_of(other).place == 2);
    CHECK(describe(problem_of(other)).find("abandon") == std::string::npos);
    std::string wrong(kAbandon);
    wrong.replace(wrong.rfind(' ') + 1, 5, "zoo");
    CHECK(problem_of(wrong).error == PhraseError::kChecksum);
    const auto seed = seed_of_phrase(kAbandon, "caf\xC3\xA9");
    REQUIRE_FALSE(seed.has_value());
    CHECK(seed.error().error == PhraseError::kNotAscii);
}

TEST_CASE("phrases: new ones have 24 words and differ") {
    const SecretText one = new_phrase();
    const SecretText other = new_phrase();
    CHECK(one.view() != other.view());
    const std::string_view words = one.view();
    CHECK(std::count(words.begin(), words.end(), ' ') == 23);
    CHECK(normal_phrase(words)->view() == words);
}

}  // namespace assay::crypto
