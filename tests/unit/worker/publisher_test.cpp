// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/worker/publisher.hpp>

namespace assay::worker {
namespace {

std::string await(Publisher& publisher, const Hash256& artifact) {
    for (int i = 0; i < 3'000; ++i) {
        if (const auto where = publisher.publish(artifact)) {
            return *where;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL("nothing was published within half a minute");
    return "";
}

TEST_CASE("ART-20: a checkpoint is published with its hashes, and a store that fails is left out") {
    const test::TemporaryDirectory home;
    const artifacts::ContentStore store(home.path() / "store");
    const Hash256 artifact = store.put(as_bytes("checkpoint"));
    store.put_leaves(artifact, as_bytes("leaves"));
    const std::string there = "dir:" + (home.path() / "there").string();
    const std::string full = "dir:/proc/nowhere";  // nothing can be written there
    Reporter reporter(true);
    Publisher publisher(store, reporter, {full, there}, std::nullopt);
    CHECK(!publisher.publish(artifact));  // nobody is kept waiting
    CHECK(await(publisher, artifact) == there);
    const artifacts::ContentStore copy(home.path() / "there");
    CHECK(copy.get(artifact)->size_bytes() == 10);
    CHECK(copy.leaves(artifact)->size_bytes() == 6);
    CHECK(await(publisher, Hash256{}).empty());  // it is not in the store
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

}  // namespace
}  // namespace assay::worker
