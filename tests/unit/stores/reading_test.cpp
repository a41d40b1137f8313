// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/artifacts/odd_server.hpp>
#include <tests/unit/stores/fake_ipfs.hpp>
#include <tests/unit/stores/fake_s3.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/stores/store.hpp>

namespace assay::artifacts {
namespace {

using std::chrono::milliseconds;
using test::Oddity;
using test::OddServer;

/// An artifact of nine MiB, and where it is downloaded to.
struct Target {
    test::TemporaryDirectory home;
    ContentStore store{home.path() / "fetched"};
    Bytes file = bytes();
    Hash256 hash = crypto::sha256(file);

    static Bytes bytes() {
        Bytes out((9U << 20U) + 77);  // large enough to be hashed while it arrives
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = static_cast<std::uint8_t>((i * 2'654'435'761U) >> 13U);
        }
        return out;
    }
    std::filesystem::path on_disk() const {
        const auto path = home.path() / "source";
        std::ofstream(path, std::ios::binary) << string_of(file);
        return path;
    }
    Result<StoredFile, FetchError> get(const std::string& location, FetchLimits limits = {}) const {
        limits.idle_timeout = milliseconds(300);
        return download({.name = hash, .size_bytes = file.size(), .location = location}, store, limits);
    }
    bool is_stored() const {
        const auto stored = store.get(hash);
        return stored && Bytes(stored->view().begin(), stored->view().end()) == file && store.partials().empty();
    }
};

/// A store of each kind that has the artifact.
struct Stores {
    test::FakeS3 s3;
    test::FakeIpfs ipfs;
    std::vector<std::string> locations;

    explicit Stores(const Target& target) {
        for (const std::string& to :
             {"s3://bucket/p?endpoint=" + s3.endpoint(), "dir:" + (target.home.path() / "shared").string(),
              "ipfs://?gateway=" + ipfs.url() + "&api=" + ipfs.url()}) {
            const auto store = stores::open_store(*stores::decode_location(to));
            store->put({target.hash, false}, target.on_disk(), {});
            locations.push_back(store->finish());
        }
    }
};

TEST_CASE("ART-20: an artifact is fetched from a store of each kind") {
    const Target there;
    const Stores stores(there);
    for (const std::string& location : stores.locations) {
        CAPTURE(location);
        const Target target;
        REQUIRE(target.get(location).has_value());
        CHECK(target.is_stored());
    }
}

TEST_CASE("ART-20: locations that fail in any way leave it to the others, and nothing wrong is used") {
    const Target there;
    const Stores stores(there);
    const std::vector<Oddity> oddities{
        {.cut_after = 1'000}, {.stall_after = 1'000}, {.stall_after = 0}, {.lie_at = 70'000}};
    std::size_t next = 0;
    for (const Oddity& oddity : oddities) {
        const OddServer odd(there.file, oddity);
        // As a server of a worker, and as an S3 service.
        for (const std::string& bad : {odd.url(), "s3://bucket?endpoint=" + odd.url()}) {
            const std::string& good = stores.locations[next++ % stores.locations.size()];
            CAPTURE(bad);
            CAPTURE(good);
            const Target target;
            REQUIRE(target.get(bad + " " + good).has_value());
            CHECK(target.is_stored());
        }
    }
    const Target target;
    test::FakeS3 failing;
    failing.fail_next(1'000);
    const std::string all = "s3://bucket?endpoint=" + failing.endpoint() + " http://127.0.0.1:1 nonsense " +
                            "ipfs://?gateway=" + failing.endpoint() + " dir:/nowhere " + stores.locations.front();
    REQUIRE(target.get(all).has_value());
    CHECK(target.is_stored());
}

TEST_CASE("ART-20: where no location has the artifact, nothing is stored and the first one's error is told") {
    const Target target;
    test::FakeS3 empty;
    const std::string s3 = "s3://bucket?endpoint=" + empty.endpoint();
    CHECK(target.get(s3 + " http://127.0.0.1:1").error() == FetchError::kMissing);
    CHECK(target.get("nonsense " + s3).error() == FetchError::kUnreachable);
    CHECK(target.get("").error() == FetchError::kUnreachable);
    const OddServer liar(target.file, {.lie_at = 5});
    CHECK(target.get("s3://bucket?endpoint=" + liar.url()).error() == FetchError::kMismatch);
    CHECK(!target.store.has(target.hash));
}

TEST_CASE("ART-20: a stranger's location gets no credentials, no private address and no directory") {
    const Target there;
    const Stores stores(there);
    FetchLimits limits;
    limits.credentials = stores::Credentials{.key_id = "ID", .secret = "SECRET"};
    {
        const std::uint64_t before = stores.s3.requests().size();
        const Target target;
        REQUIRE(target.get(stores.locations[0], limits).has_value());
        CHECK(stores.s3.requests().at(before).authorization.empty());
    }
    {
        const Target target;
        limits.mirrors = {stores.locations[0]};
        const std::uint64_t before = stores.s3.requests().size();
        REQUIRE(target.get(stores.locations[0], limits).has_value());
        CHECK(stores.s3.requests().at(before).authorization.starts_with("AWS4-HMAC-SHA256 Credential=ID/"));
        limits.mirrors.clear();
    }
    limits.public_only = true;
    for (const std::string& location : stores.locations) {
        CAPTURE(location);
        const Target target;
        CHECK(target.get(location, limits).error() == FetchError::kForbidden);
    }
}

}  // namespace
}  // namespace assay::artifacts
