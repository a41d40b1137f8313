// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <core/crypto/hash.hpp>

#include <tests/unit/canonical/samples.hpp>

using namespace assay;
using namespace assay::canonical;

namespace {

constexpr const char* kPath = ASSAY_SOURCE_DIR "/tests/vectors/canonical.json";

// The outputs of 24 random nodes of `op`, plain and hostile in turn, hashed together.
std::string digest_of(Op op) {
    crypto::Sha256 hash;
    test::Random random(static_cast<std::uint64_t>(op) + 5000);
    for (int round = 0; round < 24; ++round) {
        const test::Sample s =
            test::random_sample(op, random, round % 2 == 0 ? test::Kind::kPlain : test::Kind::kHostile);
        const test::CountingRows rows(s.context.dataset);
        hash.update(execute_node(s.node, s.context, rows, s.pointers()).data);
    }
    return to_hex(hash.finish().view());
}

}  // namespace

TEST_CASE("NUM-1: every primitive gives the published bits") {
    nlohmann::json digests;
    for (const Op op : test::all_ops()) {
        digests[to_string(op)] = digest_of(op);
    }
    if (std::getenv("ASSAY_WRITE_VECTORS") != nullptr) {
        std::ofstream(kPath) << digests.dump(2) << '\n';
    }
    std::ifstream file(kPath);
    REQUIRE(file.good());
    const nlohmann::json expected = nlohmann::json::parse(file);
    CHECK(expected.size() == test::all_ops().size());
    for (const Op op : test::all_ops()) {
        CAPTURE(std::string(to_string(op)));
        CHECK(expected.at(to_string(op)).get<std::string>() == digests.at(to_string(op)).get<std::string>());
    }
}
