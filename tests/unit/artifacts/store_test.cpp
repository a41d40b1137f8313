// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {
namespace {

namespace fs = std::filesystem;

TEST_CASE("what is put can be had by its hash, once stored twice") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path() / "store");
    const Hash256 hash = store.put(as_bytes("hello"));
    CHECK(hash == crypto::sha256(as_bytes("hello")));
    CHECK(store.put(as_bytes("hello")) == hash);
    CHECK(store.has(hash));
    CHECK(as_text(store.get(hash).value().view()) == "hello");
    CHECK(!store.get(Hash256{}).has_value());
    CHECK(!store.has(Hash256{}));
    const Hash256 empty = store.put({});
    CHECK(store.get(empty).value().view().empty());
}

TEST_CASE("a store outlives its process and sweeps what a crash left") {
    const test::TemporaryDirectory home;
    Hash256 hash;
    {
        const ContentStore store(home.path());
        hash = store.put(as_bytes("kept"));
    }
    test::write_file(home.path() / "tmp" / "half-written", as_bytes("ke"));
    const ContentStore store(home.path());
    CHECK(store.get(hash).has_value());
    CHECK(fs::is_empty(home.path() / "tmp"));
}

TEST_CASE("a store that another one opens keeps what is being written into it") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    ContentStore::Writer writer(store);
    writer.write(as_bytes("one"));
    const ContentStore again(home.path());
    ContentStore::Writer other(again);
    other.write(as_bytes("another"));
    CHECK(writer.finish().size_bytes == 3);
    CHECK(again.has(crypto::sha256(as_bytes("one"))));
    CHECK(again.has(other.finish().hash));
}

TEST_CASE("a file that does not match its name is quarantined and can be stored again") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const Hash256 hash = store.put(as_bytes("truth"));
    for (const char* lie : {"treth", "trut", ""}) {
        CAPTURE(lie);
        test::write_file(store.path(hash), as_bytes(lie));
        CHECK(!store.get(hash).has_value());
        CHECK(!store.has(hash));
        const Bytes quarantined = test::file_bytes(home.path() / "quarantine" / to_hex(hash.view()));
        CHECK(quarantined == Bytes(lie, lie + std::string(lie).size()));
        CHECK(store.put(as_bytes("truth")) == hash);
        CHECK(store.get(hash).has_value());
    }
}

TEST_CASE("a truncated file is repaired by putting the bytes again") {
    const test::TemporaryDirectory home;
    const ContentStore store(home.path());
    const Hash256 hash = store.put(as_bytes("truth"));
    test::write_file(store.path(hash), as_bytes("tr"));
    store.put(as_bytes("truth"));
    CHECK(store.get(hash).has_value());
}

TEST_CASE("a store that cannot be made says so") {
    const test::TemporaryDirectory home;
    test::write_file(home.path() / "file", as_bytes("x"));
    CHECK_THROWS_AS(ContentStore(home.path() / "file"), StoreError);
}

}  // namespace
}  // namespace assay::artifacts
