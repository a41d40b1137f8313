// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/stores/fake_s3.hpp>
#include <verifier/stores/store.hpp>

namespace assay::stores {
namespace {

using test::FakeS3;

/// A file, and a store that it is put into.
struct S3Bench {
    FakeS3 server;
    test::TemporaryDirectory home;
    Hash256 name = crypto::sha256(as_bytes("name"));
    std::string hex = to_hex(name.view());

    std::unique_ptr<Store> open(const std::string& prefix = "") const {
        const auto at = decode_location("s3://bucket" + prefix + "?endpoint=" + server.endpoint());
        return open_store(*at, Credentials{.key_id = "ID", .secret = "SECRET"});
    }
    std::filesystem::path file(const std::string& bytes) const {
        std::filesystem::create_directories(home.path());
        const auto path = home.path() / "file";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
};

RefusalKind refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const StoreRefused& refused) {
        return refused.kind;
    }
    FAIL("nothing was refused");
    return RefusalKind::kRefused;
}

TEST_CASE("ART-21: an artifact is one object of a bucket, its hashes another, each signed") {
    const S3Bench bench;
    const auto store = bench.open("/tasks");
    store->put({bench.name, true}, bench.file("leaves"), {});
    std::uint64_t written = 0;
    store->put({bench.name, false}, bench.file("bytes"), [&](std::uint64_t bytes) { written += bytes; });
    CHECK(written == 5);
    CHECK(
        bench.server.objects() ==
        std::map<std::string, std::string>{{"tasks/" + bench.hex, "bytes"}, {"tasks/leaves/" + bench.hex, "leaves"}}
    );
    for (const http::HttpRequest& request : bench.server.requests()) {
        CHECK(request.authorization.starts_with("AWS4-HMAC-SHA256 Credential=ID/"));
        CHECK(request.authorization.find("/us-east-1/s3/aws4_request") != std::string::npos);
        CHECK(request.authorization.find("SECRET") == std::string::npos);
    }
    CHECK(store->finish() == "s3://bucket/tasks?endpoint=" + bench.server.endpoint());
}

TEST_CASE("ART-21: virtual style names the bucket before the endpoint's host") {
    const FakeS3 server("");
    const auto at = decode_location(
        "s3://localhost?style=virtual&endpoint=http://" + std::string("localhost") +
        server.endpoint().substr(server.endpoint().rfind(':'))
    );
    REQUIRE(at);
    const auto store = open_store(*at);  // localhost.localhost is this machine by RFC 6761
    try {
        static_cast<void>(store->size_of({Hash256{}, false}, {}));
    } catch (const http::NetError& unknown) {
        // Where names below localhost are not resolved, the error has the URL.
        CHECK(std::string(unknown.what()).find("http://localhost.localhost:") != std::string::npos);
        return;
    }
    CHECK(server.requests().at(0).host.starts_with("localhost.localhost:"));
    CHECK(server.requests().at(0).target == "/" + to_hex(Hash256{}.view()));
}

/// Three parts, all different.
std::string large_bytes() {
    std::string large((std::size_t{33} << 20U) + 5, 'x');
    for (std::size_t i = 0; i < large.size(); i += 4'096) {
        large[i] = static_cast<char>('a' + (i >> 20U) % 26);
    }
    return large;
}

/// How many parts were sent since `from` requests.
std::size_t parts_sent(const FakeS3& server, std::size_t from) {
    const auto requests = server.requests();
    return static_cast<std::size_t>(std::count_if(
        requests.begin() + static_cast<std::ptrdiff_t>(from), requests.end(),
        [](const http::HttpRequest& request) { return request.target.find("partNumber=") != std::string::npos; }
    ));
}

TEST_CASE("ART-21: a large artifact is sent in parts, and its upload ended when one is refused") {
    S3Bench bench;
    const auto store = bench.open();
    const std::string large = large_bytes();
    std::uint64_t told = 0;
    store->put({bench.name, false}, bench.file(large), [&](std::uint64_t bytes) { told += bytes; });
    CHECK(told == large.size());
    CHECK(bench.server.objects().at(bench.hex) == large);
    CHECK(bench.server.requests().size() == 6);  // look for an open one, begin, three parts, end
    bench.server.fail_parts_from(2, 400);
    const Hash256 other = crypto::sha256(as_bytes("other"));
    CHECK(refusal_of([&] { store->put({other, false}, bench.file(large), {}); }) == RefusalKind::kRefused);
    CHECK(!bench.server.objects().contains(to_hex(other.view())));
    CHECK(bench.server.open_uploads().empty());
}

TEST_CASE("ART-21: an upload that was interrupted goes on with the parts that the service has") {
    S3Bench bench;
    const std::string large = large_bytes();
    const auto interrupt = [&](const auto& meanwhile) {
        bench.server.fail_parts_from(3);
        CHECK(refusal_of([&] {
                  bench.open("/p")->put({bench.name, false}, bench.file(large), {});
              }) == RefusalKind::kRefused);
        REQUIRE(bench.server.open_uploads().size() == 1);
        CHECK(bench.server.open_uploads().at("id/1").size() == 2);
        bench.server.fail_parts_from(0);
        meanwhile();
        const std::size_t before = bench.server.requests().size();
        std::uint64_t told = 0;
        bench.open("/p")->put({bench.name, false}, bench.file(large), [&](std::uint64_t bytes) { told += bytes; });
        CHECK(told == large.size());
        CHECK(bench.server.objects().at("p/" + bench.hex) == large);
        CHECK(bench.server.open_uploads().empty());
        return parts_sent(bench.server, before);
    };
    CHECK(interrupt([] {}) == 1);
    // What is there counts only if it is what has to be there, as far as can be known.
    CHECK(interrupt([&] { bench.server.replace_part(1, "something else"); }) == 2);
    bench.server.have_other_tags(true);
    CHECK(interrupt([] {}) == 3);
    bench.server.have_other_tags(false);
    bench.server.refuse_listings(true);
    CHECK(interrupt([] {}) == 3);
}

TEST_CASE("ART-21: a service that fails once is asked again, and one that refuses is named with what to do") {
    S3Bench bench;
    const auto store = bench.open();
    bench.server.fail_next(1);
    store->put({bench.name, false}, bench.file("bytes"), {});
    CHECK(bench.server.objects().at(bench.hex) == "bytes");
    const auto nowhere = open_store(*decode_location("s3://other?endpoint=" + bench.server.endpoint()));
    CHECK(refusal_of([&] { static_cast<void>(nowhere->list()); }) == RefusalKind::kMissing);
}

TEST_CASE("ART-21: a bucket is listed in pages, with pins, and artifacts are deleted with their hashes") {
    const S3Bench bench;
    const auto store = bench.open("/p");
    const Hash256 second = crypto::sha256(as_bytes("second"));
    for (const Hash256& name : {bench.name, second}) {
        store->put({name, false}, bench.file("bytes"), {});
        store->put({name, true}, bench.file("leaves"), {});
    }
    store->set_pinned(second, true);
    const auto entries = store->list();
    REQUIRE(entries.size() == 2);
    for (const StoredEntry& entry : entries) {
        CHECK(entry.size_bytes == 5);
        CHECK(entry.is_pinned == (entry.artifact == second));
        CHECK(entry.written_s.has_value());
    }
    store->remove(bench.name);
    store->set_pinned(second, false);
    CHECK(store->list().size() == 1);
    CHECK(!store->list().front().is_pinned);
    CHECK(bench.server.objects().size() == 2);
}

TEST_CASE("ART-21: a directory keeps what the same requests put into it") {
    const S3Bench bench;
    const auto root = bench.home.path() / "store";
    const auto store = open_store(DirectoryLocation{root.string()});
    store->put({bench.name, true}, bench.file("leaves"), {});
    store->put({bench.name, false}, bench.file("bytes"), {});
    store->set_pinned(bench.name, true);
    REQUIRE(store->list().size() == 1);
    CHECK(store->list().front().is_pinned);
    std::string read;
    const auto keep = [&](std::uint64_t, ByteView piece) {
        read.append(as_text(piece));
        return true;
    };
    CHECK(store->read({bench.name, false}, 1, 3, keep, {}) == ReadEnd::kDone);
    CHECK(read == "yte");
    CHECK(store->size_of({bench.name, true}, {}) == 6);
    store->remove(bench.name);
    CHECK(store->read({bench.name, false}, 0, std::nullopt, keep, {}) == ReadEnd::kMissing);
    std::filesystem::create_directories(root / bench.hex);  // no regular file
    CHECK(store->read({bench.name, false}, 0, std::nullopt, keep, {}) == ReadEnd::kMissing);
    CHECK(refusal_of([&] {
              static_cast<void>(open_store(DirectoryLocation{"/"}, std::nullopt, true));
          }) == RefusalKind::kUnable);
}

TEST_CASE("ART-20: a worker's server is only read from") {
    const S3Bench bench;
    const auto store = open_store(ServerLocation{bench.server.endpoint()});
    CHECK(refusal_of([&] { store->put({bench.name, false}, bench.file("x"), {}); }) == RefusalKind::kUnable);
    CHECK(refusal_of([&] { static_cast<void>(store->list()); }) == RefusalKind::kUnable);
}

}  // namespace
}  // namespace assay::stores
