// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tools/cli/store/store_text.hpp>

namespace assay::cli {
namespace {

Hash256 hash_of(const char* text) { return crypto::sha256(as_bytes(text)); }

TEST_CASE("a collection deletes what is old and not pinned, and where no times are known what is named") {
    const stores::StoredEntry old{.artifact = hash_of("old"), .size_bytes = 1, .written_s = 100};
    const stores::StoredEntry pinned{.artifact = hash_of("pin"), .size_bytes = 1, .is_pinned = true, .written_s = 100};
    const stores::StoredEntry fresh{.artifact = hash_of("new"), .size_bytes = 1, .written_s = 5'000};
    const stores::StoredEntry timeless{.artifact = hash_of("ipfs"), .size_bytes = 1, .is_pinned = true};
    const std::vector<stores::StoredEntry> all{old, pinned, fresh, timeless};
    const auto names = [&](std::uint64_t age_s, const std::vector<Hash256>& only) {
        std::vector<Hash256> out;
        for (const stores::StoredEntry& entry : garbage_among(all, 6'000, age_s, only)) {
            out.push_back(entry.artifact);
        }
        return out;
    };
    CHECK(names(3'600, {}) == std::vector{old.artifact});
    CHECK(names(0, {}) == std::vector{old.artifact, fresh.artifact});
    CHECK(names(3'600, {fresh.artifact, pinned.artifact}).empty());
    CHECK(names(3'600, {timeless.artifact, old.artifact}) == std::vector{old.artifact, timeless.artifact});
    CHECK(names(10'000, {}).empty());
}

TEST_CASE("ART-20: locations of a task are checked before anything is packed") {
    CHECK_NOTHROW(check_locations(""));
    CHECK_NOTHROW(check_locations("http://127.0.0.1:4000 s3://bucket dir:/store"));
    CHECK_THROWS_AS(check_locations("http://127.0.0.1:4000 ftp://h"), Failure);
    CHECK_THROWS_AS(check_locations("dir:/" + std::string(300, 'a')), Failure);
    try {
        static_cast<void>(location_argument("s3://bucket?secret=x"));
        FAIL("a parameter that does not exist was taken");
    } catch (const Failure& failure) {
        CHECK(failure.exit_code == kExitUsage);
        CHECK(std::string(failure.what()).find("endpoint, region and style") != std::string::npos);
    }
}

TEST_CASE("sizes are told in the unit that people read") {
    CHECK(size_text(5) == "5 B");
    CHECK(size_text(1'536) == "1.5 KiB");
    CHECK(size_text(std::uint64_t{3} << 30U) == "3.0 GiB");
}

}  // namespace
}  // namespace assay::cli
