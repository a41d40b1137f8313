// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/stores/fake_ipfs.hpp>
#include <verifier/stores/block_index.hpp>
#include <verifier/stores/cid.hpp>
#include <verifier/stores/store.hpp>

namespace assay::stores {
namespace {

using test::FakeIpfs;

struct IpfsBench {
    FakeIpfs node;
    test::TemporaryDirectory home;
    Hash256 name = crypto::sha256(as_bytes("name"));
    std::string bytes = std::string(kBlockBytes, 'a') + std::string(kBlockBytes, 'b') + "end";

    std::unique_ptr<Store> open(const std::string& text) const { return open_store(*decode_location(text)); }
    /// Puts the artifact and its hashes; returns the location for others.
    std::string put() const {
        std::filesystem::create_directories(home.path());
        std::ofstream(home.path() / "file", std::ios::binary) << bytes;
        std::ofstream(home.path() / "leaves", std::ios::binary) << "leaves";
        const auto store = open("ipfs://?gateway=" + node.url() + "&api=" + node.url());
        store->put({name, true}, home.path() / "leaves", {});
        store->put({name, false}, home.path() / "file", {});
        return store->finish();
    }
    ReadEnd read(const std::string& location, std::string& out, std::uint64_t first, std::optional<std::uint64_t> last)
        const {
        const auto keep = [&](std::uint64_t offset, ByteView piece) {
            CHECK(offset == first + out.size());
            out.append(as_text(piece));
            return true;
        };
        return open(location)->read({name, false}, first, last, keep, {});
    }
};

TEST_CASE("ART-22: an artifact is written as raw blocks and read by its CIDs through a gateway") {
    const IpfsBench bench;
    const std::string location = bench.put();
    CHECK(location.starts_with("ipfs://bafkrei"));
    CHECK(location.find("api=") == std::string::npos);
    CHECK(bench.node.blocks().size() == 3 + 1 + 2 + 1);  // three of bytes and their list, of hashes likewise, the index
    CHECK(bench.node.pins().size() == bench.node.blocks().size());
    std::string whole;
    CHECK(bench.read(location, whole, 0, std::nullopt) == ReadEnd::kDone);
    CHECK(whole == bench.bytes);
    std::string middle;
    CHECK(bench.read(location, middle, kBlockBytes - 1, 2 * kBlockBytes) == ReadEnd::kDone);
    CHECK(middle == bench.bytes.substr(kBlockBytes - 1, kBlockBytes + 2));
    CHECK(bench.open(location)->size_of({bench.name, true}, {}) == 6);
    CHECK(!bench.open(location)->size_of({Hash256{}, false}, {}));
}

TEST_CASE("ART-22: no block is used that has another hash, and one that is missing is not made up") {
    IpfsBench bench;
    const std::string location = bench.put();
    const std::string cid = encode_cid(crypto::sha256(as_bytes(std::string(kBlockBytes, 'b'))));
    bench.node.set_block(cid, std::string(kBlockBytes, 'c'));
    std::string got;
    CHECK(bench.read(location, got, 0, std::nullopt) == ReadEnd::kWrong);
    CHECK(got == std::string(kBlockBytes, 'a'));
    bench.node.set_block(cid, std::string(2 * kBlockBytes, 'c'));  // more than a block may have
    got.clear();
    CHECK(bench.read(location, got, kBlockBytes, std::nullopt) == ReadEnd::kWrong);
    CHECK(got.empty());
    const std::string unknown = "ipfs://" + encode_cid(Hash256{}) + "?gateway=" + bench.node.url();
    CHECK(bench.read(unknown, got, 0, std::nullopt) == ReadEnd::kMissing);
    CHECK(bench.read("ipfs://?gateway=" + bench.node.url(), got, 0, std::nullopt) == ReadEnd::kMissing);
}

TEST_CASE("ART-22: artifacts are listed, unpinned and pinned again, and a location takes more of them") {
    const IpfsBench bench;
    const std::string location = bench.put() + "&api=" + bench.node.url();
    const auto store = bench.open(location);
    REQUIRE(store->list().size() == 1);
    CHECK(store->list().front().size_bytes == bench.bytes.size());
    CHECK(store->list().front().is_pinned);
    store->remove(bench.name);
    CHECK(!store->list().front().is_pinned);
    CHECK(bench.node.pins().size() == 1);  // the index
    store->set_pinned(bench.name, true);
    CHECK(bench.node.pins().size() == bench.node.blocks().size());
    CHECK_THROWS_AS(store->set_pinned(Hash256{}, true), StoreRefused);
    store->put({Hash256{}, false}, bench.home.path() / "leaves", {});
    const std::string more = store->finish();
    CHECK(more != location);
    CHECK(bench.open(more)->size_of({Hash256{}, false}, {}) == 6);
    CHECK(bench.open(more)->size_of({bench.name, false}, {}) == bench.bytes.size());
}

}  // namespace
}  // namespace assay::stores
