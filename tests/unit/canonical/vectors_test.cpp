// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/canonical/golden.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <core/crypto/hash.hpp>

#include <tests/unit/canonical/samples.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

std::string path() { return folders::source() + "/tests/vectors/canonical.json"; }

}  // namespace

TEST_CASE("NUM-1: every primitive and every profile gives the published bits") {
    std::map<std::string, crypto::Sha256> hashes;
    test::write_golden([&](const std::string& name, ByteView bytes) { hashes[name].update(bytes); });
    std::map<std::string, std::string> digests;
    for (auto& [name, hash] : hashes) {
        digests[name] = to_hex(hash.finish().view());
    }
    // The four profiles, the chains and the partials.
    CHECK(digests.size() == test::all_ops().size() + 6);
    if (std::getenv("ASSAY_WRITE_VECTORS") != nullptr) {
        std::ofstream(path()) << nlohmann::json(digests).dump(2) << '\n';
    }
    std::ifstream file(path());
    REQUIRE(file.good());
    const auto expected = nlohmann::json::parse(file).get<std::map<std::string, std::string>>();
    for (const auto& [primitive, digest] : digests) {
        const std::string& name = primitive;  // clang 14 captures no structured binding
        CAPTURE(name);
        REQUIRE(expected.count(name) == 1);
        CHECK(expected.at(name) == digest);
    }
    CHECK(expected.size() == digests.size());
}
