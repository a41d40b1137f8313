// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <tests/loopback.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/partial_file.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::artifacts {
namespace {

/// A port where connections are taken and nothing is ever said.
using Mute = assay::test::LoopbackSocket;

struct Place {
    test::TemporaryDirectory home;
    ContentStore remote{home.path() / "remote"};
    ContentStore own{home.path() / "own"};
    Cache cache{home.path() / "cache", {.reserve_bytes = 0}};
    contracts::TaskId task{{1}};

    Reference served(const std::string& text, const std::string& url) const {
        return {.name = remote.put(as_bytes(text)), .size_bytes = text.size(), .location = url};
    }
    static Reference dead(std::uint8_t number, const std::string& url) {
        return {.name = Hash256{{number}}, .size_bytes = 100, .location = url};
    }
};

/// Asks again until the first attempt is over.
constexpr std::uint64_t kSizeMax = 1U << 20U;

Result<StoredFile, FetchError> wait_for(
    Fetcher& fetcher, const Place& place, const Reference& artifact, Urgency urgency
) {
    for (;;) {
        auto got = fetcher.get(place.task, artifact, kSizeMax, urgency);
        if (got || got.error() != FetchError::kPending) {
            return got;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// What was stored can be read a moment before its attempt counts as over.
void wait_for_finished(const Fetcher& fetcher, std::uint64_t count) {
    while (fetcher.finished() < count) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(fetcher.finished() == count);
}

TEST_CASE("what is asked for arrives beside the work, and failures are counted") {
    Place place;
    const ArtifactServer server({}, place.remote);
    const auto there = place.served("weights", server.url());
    auto missing = place.dead(7, server.url());
    Fetcher fetcher(place.own, place.cache, {.backoff_first = std::chrono::milliseconds(1)});
    CHECK(fetcher.get(place.task, there, kSizeMax, Urgency::kDuty).error() == FetchError::kPending);
    CHECK(wait_for(fetcher, place, there, Urgency::kDuty).value().size_bytes() == 7);
    CHECK(place.cache.has(there.name));
    CHECK(!place.own.has(there.name));
    CHECK(wait_for(fetcher, place, missing, Urgency::kDuty).error() == FetchError::kMissing);
    while (fetcher.failures(missing) < 3) {
        CHECK(fetcher.get(place.task, missing, kSizeMax, Urgency::kDuty).error() == FetchError::kMissing);
    }
    fetcher.forget(place.task);
    missing.size_bytes = std::uint64_t{1} << 40U;
    CHECK(fetcher.get(place.task, missing, kSizeMax, Urgency::kDuty).error() == FetchError::kTooLarge);
}

TEST_CASE("twelve addresses where nobody answers keep nothing else waiting") {
    Place place;
    const ArtifactServer server({}, place.remote);
    std::vector<std::unique_ptr<Mute>> mutes;
    for (int i = 0; i < 12; ++i) {
        mutes.push_back(std::make_unique<Mute>());
    }
    // They would be silent for an hour: whatever arrives below has not waited for one of them.
    Fetcher fetcher(place.own, place.cache, {.limits = {.timeout = std::chrono::hours(1)}});
    for (std::uint8_t i = 0; i < 12; ++i) {
        CHECK(
            fetcher.get(place.task, place.dead(i, mutes[i]->url()), kSizeMax, Urgency::kOffer).error() ==
            FetchError::kPending
        );
    }
    const auto needed = place.served("the state before a disputed segment", server.url());
    CHECK(wait_for(fetcher, place, needed, Urgency::kDispute).has_value());
    wait_for_finished(fetcher, 1);
}

TEST_CASE("one host has one connection, so twelve artifacts at a silent address leave the other threads free") {
    Place place;
    const ArtifactServer server({}, place.remote);
    const Mute mute;
    Fetcher fetcher(place.own, place.cache, {.limits = {.timeout = std::chrono::hours(1)}, .threads = 2});
    for (std::uint8_t i = 0; i < 12; ++i) {
        fetcher.want(place.task, place.dead(i, mute.url()), kSizeMax, Urgency::kDuty);
    }
    CHECK(wait_for(fetcher, place, place.served("a dataset", server.url()), Urgency::kOffer).has_value());
    wait_for_finished(fetcher, 1);
}

TEST_CASE("a host that failed is asked after those that did not") {
    Place place;
    http::HttpServer good({}, [](const http::HttpRequest&) { return http::HttpResponse{.status = 404, .body = {}}; });
    const std::string url = "http://127.0.0.1:" + std::to_string(good.port());
    Fetcher fetcher(
        place.own, place.cache,
        {.threads = 1, .backoff_first = std::chrono::hours(1), .backoff_max = std::chrono::hours(1)}
    );
    // Nobody listens on port 1: after one refusal the second artifact there waits, and the good host's does not.
    CHECK(
        wait_for(fetcher, place, place.dead(1, "http://127.0.0.1:1"), Urgency::kDuty).error() ==
        FetchError::kUnreachable
    );
    fetcher.want(place.task, place.dead(2, "http://127.0.0.1:1"), kSizeMax, Urgency::kDuty);
    CHECK(wait_for(fetcher, place, place.dead(3, url), Urgency::kOffer).error() == FetchError::kMissing);
    CHECK(
        fetcher.get(place.task, place.dead(2, "http://127.0.0.1:1"), kSizeMax, Urgency::kDuty).error() ==
        FetchError::kPending
    );
    wait_for_finished(fetcher, 2);
}

TEST_CASE("addresses of private networks are refused unless they are allowed") {
    Place place;
    const ArtifactServer server({}, place.remote);
    const auto there = place.served("weights", server.url());
    Fetcher careful(place.own, place.cache, {.limits = {.public_only = true}});
    CHECK(wait_for(careful, place, there, Urgency::kDuty).error() == FetchError::kForbidden);
}

/// As a download does.
bool put(Cache& cache, const Bytes& bytes, Urgency urgency) {
    const Hash256 hash = crypto::sha256(bytes);
    const bool has_room = cache.reserve(hash, bytes.size(), urgency);
    if (has_room) {
        cache.store().put(bytes);
        cache.settle(hash);
    }
    return has_room;
}

TEST_CASE("ART-14: a mirror of the operator has what nobody serves where the chain says, in a private network too") {
    Place place;
    const ArtifactServer mirror({}, place.remote);
    auto artifact = place.served("weights", "http://127.0.0.1:1");
    Fetcher fetcher(place.own, place.cache, {.limits = {.public_only = true, .mirrors = {mirror.url()}}});
    CHECK(wait_for(fetcher, place, artifact, Urgency::kDuty).has_value());
    CHECK(fetcher.failures(artifact) == 0);
    CHECK(
        wait_for(fetcher, place, place.dead(1, "http://127.0.0.1:1"), Urgency::kDuty).error() == FetchError::kForbidden
    );
}

TEST_CASE("a task that ends takes its unfinished downloads with it, and room is made from those nobody needs") {
    const test::TemporaryDirectory home;
    Cache cache(home.path(), {.quota_bytes = 1U << 20U, .reserve_bytes = 0});
    const contracts::TaskId task{{1}};
    const auto leave = [&](const Hash256& hash) {
        PartialFile partial(cache.store(), hash, std::make_shared<UncheckedParts>(600'000));
        partial.write(0, Bytes(600'000, 1));
    };
    const Hash256 needed{{1}};
    const Hash256 other{{2}};
    cache.pin(task, needed);
    leave(needed);
    leave(other);
    // What it has left counts as a part of a download, and keeps others out while it is needed.
    CHECK(cache.reserve(needed, 600'000, Urgency::kDuty));
    CHECK(cache.store().partials().size() == 1);
    cache.settle(needed);
    CHECK(!cache.reserve(Hash256{{3}}, 600'000, Urgency::kDuty));
    cache.unpin(task);
    CHECK(cache.store().partials().empty());
    CHECK(cache.reserve(Hash256{{3}}, 600'000, Urgency::kDuty));
    // Two downloads that run at once need room for both.
    CHECK(!cache.reserve(Hash256{{4}}, 600'000, Urgency::kDuty));
}

TEST_CASE("what is fetched stays within its quota, open tasks keep theirs and a dispute is served all the same") {
    const test::TemporaryDirectory home;
    Cache cache(home.path() / "cache", {.quota_bytes = 10, .reserve_bytes = 0});
    const contracts::TaskId first{{1}};
    const contracts::TaskId second{{2}};
    const Bytes old{1, 2, 3, 4};
    const Bytes recent{5, 6, 7, 8};
    const ContentStore names(home.path() / "names");
    cache.pin(first, names.put(old));
    cache.pin(second, names.put(recent));
    CHECK(put(cache, old, Urgency::kDuty));
    CHECK(!put(cache, recent, Urgency::kOffer));  // half is left to duties
    CHECK(put(cache, recent, Urgency::kDuty));
    CHECK(!put(cache, Bytes{9, 9, 9}, Urgency::kDuty));
    CHECK(put(cache, Bytes{9, 9, 9}, Urgency::kDispute));
    cache.unpin(first);
    CHECK(put(cache, Bytes{9, 9, 9, 9}, Urgency::kDuty));  // what no task needs makes room
    CHECK(!cache.has(names.put(old)));
    CHECK(cache.has(names.put(recent)));
}

TEST_CASE("the disk's reserve is for disputes") {
    Place place;
    Cache cache(place.home.path() / "full", {.reserve_bytes = std::uint64_t{1} << 60U});
    CHECK(!cache.reserve(Hash256{}, 1, Urgency::kDuty));
    CHECK(cache.reserve(Hash256{}, 1, Urgency::kDispute));
    const ArtifactServer server({}, place.remote);
    const auto there = place.served("weights", server.url());
    Fetcher fetcher(place.own, cache);
    CHECK(wait_for(fetcher, place, there, Urgency::kDuty).error() == FetchError::kNoRoom);
    CHECK(fetcher.failures(there) == 0);  // no fault of whoever serves it
    while (!fetcher.get(place.task, there, kSizeMax, Urgency::kDispute)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace
}  // namespace assay::artifacts
