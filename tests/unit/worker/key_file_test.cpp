// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <core/crypto/address.hpp>
#include <core/crypto/keystore.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/worker/key_file.hpp>

namespace assay::worker {
namespace {

TEST_CASE("a key is read from hex and from a keystore") {
    const test::TemporaryDirectory home;
    const auto hex = home.path() / "key.hex";
    const std::string secret = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef";
    test::write_file(hex, as_bytes(secret + "\n"));
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
    test::write_file(file, as_bytes(json.dump()));
    CHECK(read_keystore(file, "pa\u00dfwort").account() == key.account());
    CHECK_THROWS_AS(read_keystore(file, "password"), KeyFileError);
    CHECK_THROWS_AS(read_keystore(hex, ""), KeyFileError);
    json["format"] = 2;
    test::write_file(file, as_bytes(json.dump()));
    CHECK_THROWS_AS(read_keystore(file, "pa\u00dfwort"), KeyFileError);
}

TEST_CASE("what is no key says so and is not echoed") {
    const test::TemporaryDirectory home;
    const auto file = home.path() / "key";
    for (const std::string& text : {std::string(), std::string("12"), std::string(64, '0'), std::string(64, 'x')}) {
        CAPTURE(text);
        test::write_file(file, as_bytes(text));
        CHECK_THROWS_AS(read_hex_key(file), KeyFileError);
    }
    test::write_file(file, as_bytes("deadbeef"));
    try {
        read_hex_key(file);
    } catch (const KeyFileError& error) {
        CHECK(std::string(error.what()).find("deadbeef") == std::string::npos);
    }
    CHECK_THROWS_AS(read_hex_key(home.path() / "nothing"), KeyFileError);
    test::write_file(file, as_bytes("first\r\nsecond"));
    CHECK(read_password(file) == "first");
}

}  // namespace
}  // namespace assay::worker
