// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <tests/unit/artifacts/files.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::artifacts {
namespace {

/// A port where connections are taken and nothing is ever said.
class Mute {
  public:
    Mute() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
        REQUIRE(::listen(fd_, 8) == 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    }
    ~Mute() { ::close(fd_); }
    Mute(const Mute&) = delete;
    Mute& operator=(const Mute&) = delete;
    const std::string& url() const { return url_; }

  private:
    int fd_;
    std::string url_;
};

struct Place {
    test::TemporaryDirectory home;
    ContentStore remote{home.path() / "remote"};
    ContentStore own{home.path() / "own"};
    Cache cache{home.path() / "cache", {.reserve_bytes = 0}};
    contracts::TaskId task{{1}};

    contracts::ArtifactRef served(const std::string& text, const std::string& url) const {
        return {.sha256 = remote.put(as_bytes(text)), .size_bytes = text.size(), .location = url};
    }
    static contracts::ArtifactRef dead(std::uint8_t number, const std::string& url) {
        return {.sha256 = Hash256{{number}}, .size_bytes = 100, .location = url};
    }
};

/// Asks again until the first attempt is over.
Result<Bytes, FetchError> wait_for(
    Fetcher& fetcher, const Place& place, const contracts::ArtifactRef& artifact, Urgency urgency
) {
    for (;;) {
        auto got = fetcher.get(place.task, artifact, urgency);
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
    CHECK(fetcher.get(place.task, there, Urgency::kDuty).error() == FetchError::kPending);
    CHECK(wait_for(fetcher, place, there, Urgency::kDuty).value().size() == 7);
    CHECK(place.cache.has(there.sha256));
    CHECK(!place.own.has(there.sha256));
    CHECK(wait_for(fetcher, place, missing, Urgency::kDuty).error() == FetchError::kMissing);
    while (fetcher.failures(missing) < 3) {
        CHECK(fetcher.get(place.task, missing, Urgency::kDuty).error() == FetchError::kMissing);
    }
    fetcher.forget(place.task);
    missing.size_bytes = std::uint64_t{1} << 40U;
    CHECK(fetcher.get(place.task, missing, Urgency::kDuty).error() == FetchError::kTooLarge);
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
        CHECK(fetcher.get(place.task, place.dead(i, mutes[i]->url()), Urgency::kOffer).error() == FetchError::kPending);
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
        fetcher.want(place.task, place.dead(i, mute.url()), Urgency::kDuty);
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
    fetcher.want(place.task, place.dead(2, "http://127.0.0.1:1"), Urgency::kDuty);
    CHECK(wait_for(fetcher, place, place.dead(3, url), Urgency::kOffer).error() == FetchError::kMissing);
    CHECK(fetcher.get(place.task, place.dead(2, "http://127.0.0.1:1"), Urgency::kDuty).error() == FetchError::kPending);
    wait_for_finished(fetcher, 2);
}

TEST_CASE("addresses of private networks are refused unless they are allowed") {
    Place place;
    const ArtifactServer server({}, place.remote);
    const auto there = place.served("weights", server.url());
    Fetcher careful(place.own, place.cache, {.limits = {.public_only = true}});
    CHECK(wait_for(careful, place, there, Urgency::kDuty).error() == FetchError::kForbidden);
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
    CHECK(cache.put(old, Urgency::kDuty));
    CHECK(!cache.put(recent, Urgency::kOffer));  // half is left to duties
    CHECK(cache.put(recent, Urgency::kDuty));
    CHECK(!cache.put(Bytes{9, 9, 9}, Urgency::kDuty));
    CHECK(cache.put(Bytes{9, 9, 9}, Urgency::kDispute));
    cache.unpin(first);
    CHECK(cache.put(Bytes{9, 9, 9, 9}, Urgency::kDuty));  // what no task needs makes room
    CHECK(!cache.has(names.put(old)));
    CHECK(cache.has(names.put(recent)));
}

TEST_CASE("the disk's reserve is for disputes") {
    Place place;
    Cache cache(place.home.path() / "full", {.reserve_bytes = std::uint64_t{1} << 60U});
    CHECK(!cache.make_room(1, Urgency::kDuty));
    CHECK(cache.make_room(1, Urgency::kDispute));
    const ArtifactServer server({}, place.remote);
    const auto there = place.served("weights", server.url());
    Fetcher fetcher(place.own, cache);
    CHECK(wait_for(fetcher, place, there, Urgency::kDuty).error() == FetchError::kNoRoom);
    CHECK(fetcher.failures(there) == 0);  // no fault of whoever serves it
    while (!fetcher.get(place.task, there, Urgency::kDispute)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace
}  // namespace assay::artifacts
