// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <string>

#include <client/referee/sha256.hpp>
#include <core/crypto/hash.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;
using referee::PlainSha256;

namespace {

Hash256 digest(ByteView bytes) { return PlainSha256().update(bytes).finish(); }

}  // namespace

TEST_CASE("the referee's SHA-256 gives the digests of NIST's short messages") {
    std::ifstream file(folders::source() + "/tests/vectors/sha256_short.rsp");
    REQUIRE(file.good());
    std::string line;
    std::size_t bits = 0;
    Bytes message;
    std::size_t seen = 0;
    while (std::getline(file, line)) {
        while (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        if (line.starts_with("Len = ")) {
            bits = std::stoul(line.substr(6));
        } else if (line.starts_with("Msg = ")) {
            message = from_hex(line.substr(6)).value();
            message.resize(bits / 8);
        } else if (line.starts_with("MD = ")) {
            ++seen;
            CHECK(to_hex(digest(message).view()) == line.substr(5));
        }
    }
    CHECK(seen == 65);
}

TEST_CASE("the referee's SHA-256 gives FIPS 180's digest of a million letters") {
    const Bytes letters(1'000'000, std::uint8_t{'a'});
    CHECK(to_hex(digest(letters).view()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the referee's SHA-256 agrees with the node's for every length and in any parts") {
    std::mt19937 random(4);
    Bytes bytes;
    PlainSha256 stream;
    for (std::size_t size = 0; size <= 400; ++size) {
        CAPTURE(size);
        REQUIRE(digest(bytes) == crypto::sha256(bytes));
        ByteView rest = bytes;
        while (!rest.empty()) {
            const std::size_t part = 1 + random() % rest.size();
            stream.update(rest.first(part));
            rest = rest.subspan(part);
        }
        REQUIRE(stream.finish() == crypto::sha256(bytes));
        bytes.push_back(static_cast<std::uint8_t>(random()));
    }
}
