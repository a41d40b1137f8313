// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/stores/location.hpp>
#include <verifier/worker/publisher.hpp>
#include <verifier/worker/relays.hpp>

namespace assay::worker {
namespace {

std::string await(Publisher& publisher, const Hash256& artifact, Patience patience = Patience::kCopies) {
    for (int i = 0; i < 3'000; ++i) {
        if (const auto where = publisher.publish(artifact, patience)) {
            return *where;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("nothing was published within half a minute");
    return "";
}

/// A store with one checkpoint, and two directories that it is published to.
struct PublishingBench {
    PublishingBench() { store.put_leaves(artifact, as_bytes("leaves")); }

    std::string location(const char* name) const { return "dir:" + (home.path() / name).string(); }
    /// Until the directory is released nothing can be written there, not even by root.
    void block(const char* name) const { test::write_file(home.path() / name, as_bytes("a file")); }
    void release(const char* name) const { std::filesystem::remove(home.path() / name); }
    PublisherOptions options(std::uint32_t copies) const {
        return {
            .locations = {location("first"), location("second")},
            .copies = copies,
            .retry_after = std::chrono::milliseconds(20)};
    }
    void check_copy(const char* name) const {
        const artifacts::ContentStore copy(home.path() / name);
        CHECK(copy.get(artifact)->size_bytes() == 10);
        CHECK(copy.leaves(artifact)->size_bytes() == 6);
    }

    test::TemporaryDirectory home;
    artifacts::ContentStore store{home.path() / "store"};
    Hash256 artifact = store.put(as_bytes("checkpoint"));
    Reporter reporter{true};
};

TEST_CASE(
    "ART-20: a checkpoint is published with its hashes, and where one copy is enough a store that fails is left out"
) {
    PublishingBench bench;
    bench.block("first");
    Publisher publisher(bench.store, bench.reporter, bench.options(1));
    CHECK(!publisher.publish(bench.artifact));  // nobody is kept waiting
    CHECK(await(publisher, bench.artifact) == bench.location("second"));
    CHECK(publisher.copies(bench.artifact) == 1);
    bench.check_copy("second");
}

TEST_CASE("ART-20: a checkpoint waits for a store that is away until it is back") {
    PublishingBench bench;
    bench.block("first");
    Publisher publisher(bench.store, bench.reporter, bench.options(2));
    for (int i = 0; i < 20; ++i) {
        CHECK(!publisher.publish(bench.artifact));  // one of two has it
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    bench.release("first");
    CHECK(await(publisher, bench.artifact) == bench.location("first") + " " + bench.location("second"));
    CHECK(publisher.copies(bench.artifact) == 2);
    bench.check_copy("first");
    bench.check_copy("second");
}

TEST_CASE("ART-20: without patience a checkpoint is posted with the copies that there are, and not published for ever"
) {
    PublishingBench bench;
    bench.block("first");
    bench.block("second");
    Publisher publisher(bench.store, bench.reporter, bench.options(2));
    CHECK(publisher.publish(bench.artifact, Patience::kNone) == "");
    CHECK(await(publisher, bench.artifact, Patience::kOnePass).empty());
    // It goes on with the next.
    const Hash256 other = bench.store.put(as_bytes("another"));
    CHECK(await(publisher, other, Patience::kOnePass).empty());
    CHECK(await(publisher, Hash256{}, Patience::kOnePass).empty());  // it is not in the store
}

TEST_CASE("a checkpoint waits for its copies only while its deadline leaves time") {
    // 160 blocks before the deadline at 1,000: the last 40 wait for one pass, the last 10 for nothing.
    CHECK(patience_at(800, 1'000, 160, 0) == Patience::kCopies);
    CHECK(patience_at(959, 1'000, 160, 0) == Patience::kCopies);
    CHECK(patience_at(960, 1'000, 160, 0) == Patience::kOnePass);
    CHECK(patience_at(989, 1'000, 160, 0) == Patience::kOnePass);
    CHECK(patience_at(990, 1'000, 160, 0) == Patience::kNone);
    CHECK(patience_at(2'000, 1'000, 160, 0) == Patience::kNone);
    // Five more checkpoints take ten blocks.
    CHECK(patience_at(949, 1'000, 160, 5) == Patience::kCopies);
    CHECK(patience_at(950, 1'000, 160, 5) == Patience::kOnePass);
    CHECK(patience_at(0, 8, 160, 5) == Patience::kNone);
}

TEST_CASE("ART-20: locations that a record does not take are found out before any work") {
    const std::string server = "http://127.0.0.1:4000";
    CHECK(Publisher::fits(server, {}));
    CHECK(Publisher::fits(server, {"s3://bucket", "dir:/store", "ipfs://?gateway=http://g:8080&api=http://a:5001"}));
    CHECK(!Publisher::fits(server, {"dir:/" + std::string(300, 'a')}));
    CHECK(!Publisher::fits(server, std::vector<std::string>(8, "dir:/a")));
    // A CID of 59 characters comes into it.
    CHECK(Publisher::fits(server, {"ipfs://?gateway=http://" + std::string(152, 'g')}));
    CHECK(!Publisher::fits(server, {"ipfs://?gateway=http://" + std::string(153, 'g')}));
}

TEST_CASE("ART-23: a worker behind relays names them, and its server where others can connect to it") {
    const AccountId account{{3}};
    const std::string server = "http://127.0.0.1:4000";
    WorkerOptions options;
    options.mode = Mode::kSolve;
    CHECK(Relays::locations(options, account, server) == server);
    options.relays = {"a.example:4010", "b.example:4010"};
    const std::string both = Relays::locations(options, account, server);
    const auto names = stores::split_locations(both);
    REQUIRE(names.size() == 2);
    CHECK(names[0].starts_with("relay://a.example:4010/assay1"));
    CHECK(names[1].ends_with("/solve"));
    CHECK(Publisher::fits(both, {}));
    CHECK(Publisher::fits(both, {"dir:/store"}));
    CHECK(!Publisher::fits(both, {"dir:/" + std::string(100, 'a')}));
    options.listen_address = "203.0.113.7";
    CHECK(Relays::locations(options, account, "http://203.0.113.7:4000") == both + " http://203.0.113.7:4000");
    options.mode = Mode::kVerify;
    CHECK(Relays::locations(options, account, server).find("/verify ") != std::string::npos);
}

}  // namespace
}  // namespace assay::worker
