// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::artifacts {
namespace {

struct Served {
    test::TemporaryDirectory home;
    ContentStore remote{home.path() / "remote"};
    ContentStore local{home.path() / "local"};
    Hash256 hash = remote.put(as_bytes("weights"));
    Reference ref(const std::string& url) const { return {.name = hash, .size_bytes = 7, .location = url}; }
};

TEST_CASE("ART-6: an artifact is served at its name and kept by who fetched it") {
    const Served served;
    {
        const ArtifactServer server({}, served.remote);
        const auto got = fetch(served.ref(server.url()), 7, served.local);
        REQUIRE(got.has_value());
        CHECK(as_text(got->view()) == "weights");
        CHECK(served.local.has(served.hash));
        CHECK(http::http_get(server.url() + "/artifact/" + std::string(64, '0')).status == 404);
        CHECK(http::http_get(server.url() + "/artifact/AB").status == 400);
        CHECK(http::http_get(server.url() + "/artifact/../../etc/passwd").status == 400);
        CHECK(http::http_get(server.url() + "/").status == 404);
        CHECK(http::http_post(server.url() + "/artifact/" + to_hex(served.hash.view()), "").status == 405);
    }
    // From the store, now that nobody serves it.
    CHECK(fetch(served.ref("http://127.0.0.1:1"), 7, served.local).has_value());
}

TEST_CASE("ART-7: who cannot be reached, who has nothing and who serves something else are told apart") {
    const Served served;
    std::atomic<bool> open{false};
    const auto find = [&](const Hash256& hash) {
        return open ? std::optional(served.remote.path(hash)) : std::nullopt;
    };
    ArtifactServer server({}, find);
    const auto error_of = [&served](const Reference& ref, std::uint64_t size_max = 100) {
        const auto result = fetch(ref, size_max, served.local);
        REQUIRE(!result.has_value());
        return result.error();
    };
    CHECK(error_of(served.ref(server.url())) == FetchError::kMissing);
    open = true;
    auto wrong_size = served.ref(server.url());
    wrong_size.size_bytes = 8;
    CHECK(error_of(wrong_size) == FetchError::kMismatch);
    CHECK(error_of(served.ref(server.url()), 6) == FetchError::kTooLarge);
    CHECK(error_of(served.ref("no url")) == FetchError::kUnreachable);
    test::write_file(served.remote.path(served.hash), as_bytes("weightz"));
    CHECK(error_of(served.ref(server.url())) == FetchError::kMismatch);
    CHECK(!served.local.has(served.hash));
    const std::string url = server.url();
    server.stop();
    CHECK(error_of(served.ref(url)) == FetchError::kUnreachable);
}

}  // namespace
}  // namespace assay::artifacts
