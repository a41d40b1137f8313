// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <core/keys/key_directory.hpp>

#include <tests/unit/cli/temporary.hpp>

namespace assay::crypto {
namespace {

using cli_test::TemporaryDirectory;

SecretKey make_key(std::uint8_t number) {
    Bytes bytes(32, 0);
    bytes.back() = number;
    return SecretKey::from_bytes(bytes).value();
}

constexpr crypto::KeystoreCost kCheap{.n = 2, .r = 1, .p = 1};

crypto::SealedKey seal(std::uint8_t number, std::string_view password = "pw") {
    return crypto::seal_key(make_key(number), password, kCheap);
}

unsigned mode_of(const std::filesystem::path& file) {
    struct ::stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    return info.st_mode & 0777U;
}

TEST_CASE("a key file opens with its password and with no other") {
    const TemporaryDirectory home;
    const KeyDirectory keys(home.path());
    keys.add("alice", seal(3));
    const crypto::SealedKey read = keys.read("alice");
    CHECK(read.account == make_key(3).account());
    CHECK(crypto::open_key(read, "pw").value().bytes() == make_key(3).bytes());
    CHECK(crypto::open_key(read, "other").error() == crypto::KeystoreError::kWrongPassword);
}

TEST_CASE("key files are their owner's alone") {
    const TemporaryDirectory home;
    const KeyDirectory keys(home.path());
    keys.add("alice", seal(3));
    const auto file = home.path() / "keys" / "alice.json";
    CHECK(mode_of(file) == 0600U);
    CHECK(mode_of(home.path() / "keys") == 0700U);
    REQUIRE(::chmod(file.c_str(), 0640) == 0);
    CHECK_THROWS_AS(static_cast<void>(keys.read("alice")), KeyFileError);
}

TEST_CASE("the secret is not in the key file") {
    const std::string text = to_key_json(seal(3));
    CHECK(text.find(to_hex(make_key(3).bytes())) == std::string::npos);
}

TEST_CASE("a taken name is kept and a replaced key stays readable") {
    const TemporaryDirectory home;
    const KeyDirectory keys(home.path());
    keys.add("alice", seal(3));
    CHECK_THROWS_AS(keys.add("alice", seal(4)), KeyFileError);
    CHECK(keys.read("alice").account == make_key(3).account());
    keys.replace("alice", seal(3, "new"));
    CHECK(crypto::open_key(keys.read("alice"), "new").has_value());
    CHECK(mode_of(home.path() / "keys" / "alice.json") == 0600U);
}

TEST_CASE("names are listed in order and removed for good") {
    const TemporaryDirectory home;
    const KeyDirectory keys(home.path());
    CHECK(keys.list().empty());
    keys.add("zoe", seal(3));
    keys.add("alice", seal(4));
    cli_test::write_text(home.path() / "keys" / "README", "not a key");
    CHECK(keys.list() == std::vector<std::string>{"alice", "zoe"});
    keys.remove("zoe");
    CHECK(keys.list() == std::vector<std::string>{"alice"});
    CHECK_FALSE(keys.has("zoe"));
    CHECK_THROWS_AS(keys.remove("zoe"), KeyFileError);
}

TEST_CASE("a name cannot lead out of the directory") {
    const TemporaryDirectory home;
    const KeyDirectory keys(home.path());
    for (const char* name : {"", "..", "../x", "a/b", "a.b", ".hidden", "with space"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(keys.add(name, seal(3)), KeyFileError);
        CHECK_FALSE(keys.has(name));
    }
}

TEST_CASE("what is not a key file is refused with the file's name") {
    const std::string good = to_key_json(seal(3));
    CHECK(decode_key_json(good, "f").account == make_key(3).account());
    const auto refuse = [](std::string text, const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(decode_key_json(text, "f")), KeyFileError);
    };
    refuse(good, "\"format\": 1", "\"format\": 2");
    refuse(good, "\"format\": 1", "\"version\": 1");
    refuse(good, "scrypt", "argon2");
    refuse(good, "\"n\": 2", "\"n\": -2");
    refuse(good, "\"n\": 2", "\"n\": \"2\"");
    refuse(good, "assay1", "assay2");
    refuse(good, "\"salt\": \"", "\"salt\": \"00");
    refuse(good, "\"ciphertext\": \"", "\"ciphertext\": \"x");
    refuse(good, "}", "");
    CHECK_THROWS_WITH_AS(
        static_cast<void>(decode_key_json("", "/x/y.json")), doctest::Contains("/x/y.json"), KeyFileError
    );
}

}  // namespace
}  // namespace assay::crypto
