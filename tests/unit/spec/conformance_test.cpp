// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <tests/unit/core/vectors.hpp>
#include <tools/spec/files.hpp>
#include <tools/spec/random_value.hpp>

using namespace assay;

TEST_CASE("COD-2: random values of every type encode to the published bytes and decode to themselves") {
    const spec::Schema schema = spec::make_schema();
    const auto expected = json_vectors("conformance.json");
    const spec::Json found = spec::conformance_json(schema, spec::kCaseCounts[1]);
    CHECK(expected.size() == found.size());
    for (const auto& [codec, digests] : found.items()) {
        const std::string& name = codec;  // clang 14 captures no structured binding
        CAPTURE(name);
        REQUIRE(expected.contains(name));
        for (const char* key : {"first", "64", "1024"}) {
            CHECK(expected[name][key] == nlohmann::json(digests[key]));
        }
        CHECK(expected[name]["65536"].get<std::string>().size() == 64);
    }
}

TEST_CASE("spec: the words of the random values are SplitMix64's") {
    // The generator's first outputs from state 1234567, as its author publishes them.
    spec::Words words(1234567);
    CHECK(words.next() == 6457827717110365317U);
    CHECK(words.next() == 3203168211198807973U);
    CHECK(words.next() == 9817491932198370423U);
}
