// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <core/crypto/address.hpp>
#include <core/keys/keystore.hpp>
#include <core/keys/password.hpp>
#include <core/keys/key_file.hpp>
#include <tests/unit/artifacts/files.hpp>

namespace assay::crypto {
namespace {

/// What only its owner can read.
void write_private(const std::filesystem::path& file, ByteView bytes) {
    test::write_file(file, bytes);
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_CASE("a key is read from hex and from a keystore") {
    const test::TemporaryDirectory home;
    const auto hex = home.path() / "key.hex";
    const std::string secret = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
    write_private(hex, as_bytes(secret + "\n"));
    const auto key = read_hex_key(hex);
    CHECK(to_hex(key.bytes()) == secret);
    const auto sealed = crypto::seal_key(key, "pa\u00dfwort", {.n = 1024, .r = 8, .p = 1});
    nlohmann::json json = {
        {"format", 1},
        {"account", crypto::to_address(sealed.account)},
        {"kdf", {{"name", "scrypt"}, {"n", 1024}, {"r", 8}, {"p", 1}, {"salt", to_hex(sealed.salt)}}},
        {"cipher",
         {{"name", "chacha20-poly1305"}, {"nonce", to_hex(sealed.nonce)}, {"ciphertext", to_hex(sealed.ciphertext)}}}};
    const auto file = home.path() / "key.json";
    write_private(file, as_bytes(json.dump()));
    CHECK(read_sealed_key(file, "pa\u00dfwort").account() == key.account());
    CHECK_THROWS_AS(read_sealed_key(file, "password"), KeyFileError);
    CHECK_THROWS_AS(read_sealed_key(hex, ""), KeyFileError);
    json["format"] = 2;
    write_private(file, as_bytes(json.dump()));
    CHECK_THROWS_AS(read_sealed_key(file, "pa\u00dfwort"), KeyFileError);
}

TEST_CASE("what is no key says so and is not echoed") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "key";
    for (const std::string& text : {std::string(), std::string("12"), std::string(64, '0'), std::string(64, 'x')}) {
        CAPTURE(text);
        write_private(file, as_bytes(text));
        CHECK_THROWS_AS(read_hex_key(file), KeyFileError);
    }
    write_private(file, as_bytes("deadbeef"));
    try {
        read_hex_key(file);
    } catch (const KeyFileError& error) {
        CHECK(std::string(error.what()).find("deadbeef") == std::string::npos);
    }
    CHECK_THROWS_AS(read_hex_key(home.path() / "nothing"), KeyFileError);
    write_private(file, as_bytes("first\r\nsecond"));
    CHECK(read_password({.file = file.string(), .variable = "", .prompt = "", .twice = false}).view() == "first");
}

TEST_CASE("keys and passwords that others can read are refused") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "key.hex";
    write_private(file, as_bytes(std::string(64, '1')));
    CHECK_NOTHROW(read_hex_key(file));
    for (const auto others : {std::filesystem::perms::group_read, std::filesystem::perms::others_read}) {
        std::filesystem::permissions(file, others, std::filesystem::perm_options::add);
        CHECK_THROWS_WITH_AS(read_hex_key(file), doctest::Contains("can be read by others"), KeyFileError);
        CHECK_THROWS_AS(read_sealed_key(file, ""), KeyFileError);
        CHECK_THROWS_AS(read_secret(file), KeyFileError);
        std::filesystem::permissions(file, others, std::filesystem::perm_options::remove);
    }
    CHECK_NOTHROW(read_secret(file));
}

}  // namespace
}  // namespace assay::crypto
