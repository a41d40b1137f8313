// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <tests/unit/artifacts/chunk_server.hpp>
#include <tests/unit/artifacts/file_of_chunks.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/artifacts/odd_server.hpp>
#include <verifier/artifacts/dataset.hpp>
#include <verifier/artifacts/fetch_chunks.hpp>
#include <verifier/artifacts/fetcher.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::artifacts {
namespace {

using test::ChunkServer;
using test::Oddity;
using test::OddServer;
using test::Trick;

constexpr const char* kDead = "http://127.0.0.1:1";

/// A dataset of two MiB, whose last chunk is short, and four steps of eight rows of it.
struct Wanted {
    test::TemporaryDirectory home;
    ContentStore store{home.path() / "store"};
    canonical::DatasetShape shape{.rows = 32'001, .width = 65, .storage = canonical::Storage::kU8};
    Bytes file;
    Hash256 hash;
    Bytes leaves;
    ChunkRequest request;
    contracts::TaskId task{{7}};

    explicit Wanted(std::uint64_t rows = 32'001) {
        shape.rows = rows;
        file.resize(canonical::byte_count(shape));
        std::uint32_t word = 1;
        for (std::uint8_t& byte : file) {
            word = word * 1'664'525U + 1'013'904'223U;
            byte = static_cast<std::uint8_t>(word >> 24U);
        }
        hash = crypto::sha256(file);
        const merkle::Tree tree = dispute::dataset_tree(*Dataset::make(shape, file));
        leaves = encode_chunk_leaves(tree);
        request.dataset = {.shape = shape, .root = tree.root()};
        request.chunks = chunks_read(shape, {.seed = 3, .first = 8, .count = 4}, std::vector<std::uint32_t>{8}).value();
    }
    Reference at(const std::string& url) const { return {.name = hash, .size_bytes = file.size(), .location = url}; }
    static FetchLimits limits(const std::vector<std::string>& mirrors = {}) {
        return {
            .timeout = std::chrono::milliseconds(1'000),
            .idle_timeout = std::chrono::milliseconds(300),
            .mirrors = mirrors};
    }
    Result<PartialDataset, FetchError> get(const std::string& url, const std::vector<std::string>& mirrors = {}) const {
        return fetch_chunks(at(url), request, store, limits(mirrors));
    }
    bool is_right(const PartialDataset& dataset) const {
        const Dataset whole = *Dataset::make(shape, file);
        return std::all_of(request.chunks.begin(), request.chunks.end(), [&](std::uint64_t chunk) {
            return dataset.chunk(chunk) == whole.chunk(chunk);
        });
    }
};

TEST_CASE("ART-18: a server answers a list of chunks with them, whatever artifact it is") {
    const Wanted wanted;
    wanted.store.put(wanted.file);
    wanted.store.put_leaves(wanted.hash, wanted.leaves);
    const ArtifactServer server({}, wanted.store);
    const std::string url = server.url() + "/artifact/" + to_hex(wanted.hash.view());
    const auto get = [&](const std::string& list) { return http::http_get(url + "/chunks/" + list); };
    const Dataset whole = *Dataset::make(wanted.shape, wanted.file);
    const std::uint64_t last = canonical::chunk_count(wanted.shape) - 1;
    CHECK(get("0").body == string_of(whole.chunk(0)));
    CHECK(
        get("2,7," + std::to_string(last)).body ==
        string_of(whole.chunk(2)) + string_of(whole.chunk(7)) + string_of(whole.chunk(last))
    );
    CHECK(get(std::to_string(last + 1)).status == 416);
    CHECK(get("18446744073709551615").status == 416);
    CHECK(get("2,1").status == 400);
    CHECK(get("").status == 400);
    CHECK(http::http_get(server.url() + "/artifact/" + std::string(64, '0') + "/chunks/0").status == 404);
    CHECK(http::http_get(server.url() + "/artifact/0/chunks/0").status == 400);
    const test::TemporaryDirectory elsewhere;
    const ContentStore other(elsewhere.path());
    const auto found = fetch_chunks(wanted.at(server.url()), wanted.request, other);
    REQUIRE(found.has_value());
    CHECK(wanted.is_right(*found));
}

TEST_CASE("ART-19: a verifier of one segment fetches less than two hundredths of 64 MiB") {
    const Wanted wanted(1'040'000);
    REQUIRE(wanted.file.size() > 64U << 20U);
    const ChunkServer server(wanted.file, wanted.leaves);
    const auto found = wanted.get(server.url());
    REQUIRE(found.has_value());
    CHECK(wanted.is_right(*found));
    CHECK(server.bytes_sent() <= size_bytes_of(wanted.request));
    CHECK(server.bytes_sent() < wanted.file.size() / 50);
    MESSAGE(
        server.bytes_sent(), " of ", wanted.file.size(), " bytes, of which ", wanted.leaves.size(), " of hashes, in ",
        server.requests(), " requests"
    );
    std::uint64_t on_disk = 0;
    for (const ContentStore::Entry& partial : wanted.store.partials()) {
        on_disk += partial.size_bytes;
    }
    CHECK(on_disk < wanted.file.size() / 50);  // the other chunks take no room
}

TEST_CASE("ART-18: what is there is not fetched again, and a damaged chunk is") {
    Wanted wanted;
    const ChunkServer server(wanted.file, wanted.leaves);
    REQUIRE(wanted.get(server.url()).has_value());
    const std::uint64_t first = server.bytes_sent();
    const auto again = wanted.get(kDead);
    REQUIRE(again.has_value());
    CHECK(wanted.is_right(*again));
    const auto path = test::file_of_chunks(wanted.store);
    Bytes damaged = test::file_bytes(path);
    damaged[wanted.request.chunks.front() * canonical::kChunkBytes] ^= 1U;
    test::write_file(path, damaged);
    const auto repaired = wanted.get(server.url());
    REQUIRE(repaired.has_value());
    CHECK(wanted.is_right(*repaired));
    CHECK(server.bytes_sent() == first + canonical::kChunkBytes);
}

TEST_CASE("ART-18: a process that is killed between two requests leaves what the next one goes on with") {
    Wanted wanted(160'000);
    wanted.request.chunks.clear();
    for (std::uint64_t chunk = 0; chunk < 1'024; ++chunk) {
        wanted.request.chunks.push_back(chunk);
    }
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    // Forked while the process has one thread: a lock that another one held would be held in the child for ever.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(60);
        std::string url(256, '\0');
        url.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe[0], url.data(), url.size()))));
        ChunkRequest some = wanted.request;
        some.chunks.resize(512);
        const bool done = fetch_chunks(wanted.at(url), some, wanted.store).has_value();
        ::kill(::getpid(), done ? SIGKILL : SIGTERM);
    }
    const ChunkServer server(wanted.file, wanted.leaves);
    REQUIRE(::write(pipe[1], server.url().data(), server.url().size()) > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::close(pipe[0]);
    ::close(pipe[1]);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    const std::uint64_t before = server.bytes_sent();
    const auto found = wanted.get(server.url());
    REQUIRE(found.has_value());
    CHECK(wanted.is_right(*found));
    CHECK(server.bytes_sent() - before == std::uint64_t{512} * canonical::kChunkBytes);
}

TEST_CASE("ART-17, ART-18: a source that sends something else is refused for what it did, and nothing of it is kept") {
    for (const Trick trick :
         {Trick::kNoLeaves, Trick::kNoChunks, Trick::kWrongLeaves, Trick::kOtherLeaves, Trick::kWrongChunk,
          Trick::kOtherChunks, Trick::kShort, Trick::kLong, Trick::kWholeForChunks}) {
        CAPTURE(static_cast<int>(trick));
        const Wanted wanted;
        const ChunkServer server(wanted.file, wanted.leaves, trick);
        const auto found = wanted.get(server.url());
        REQUIRE_FALSE(found.has_value());
        const bool is_missing = trick == Trick::kNoLeaves || trick == Trick::kNoChunks;
        CHECK(found.error() == (is_missing ? FetchError::kMissing : FetchError::kMismatch));
        // Its other chunks may be kept, for each was checked; what is there is right.
        const auto some = PartialDataset::open(wanted.store, wanted.hash, wanted.request.dataset);
        CHECK_FALSE((some && some->has_all(wanted.request.chunks)));
    }
}

TEST_CASE("ART-18: an honest source among liars brings what they do not, and a liar is not asked twice") {
    for (const Trick trick :
         {Trick::kNoLeaves, Trick::kNoChunks, Trick::kWrongLeaves, Trick::kOtherLeaves, Trick::kWrongChunk,
          Trick::kOtherChunks, Trick::kShort, Trick::kLong, Trick::kWholeForChunks}) {
        CAPTURE(static_cast<int>(trick));
        const Wanted wanted;
        const ChunkServer liar(wanted.file, wanted.leaves, trick);
        const ChunkServer honest(wanted.file, wanted.leaves, Trick::kOnlyChunks);
        for (const bool is_mirror : {false, true}) {
            const test::TemporaryDirectory home;
            const ContentStore store(home.path());
            const std::uint64_t asked = liar.requests();
            const auto found = fetch_chunks(
                wanted.at((is_mirror ? honest : liar).url()), wanted.request, store,
                Wanted::limits({(is_mirror ? liar : honest).url()})
            );
            REQUIRE(found.has_value());
            CHECK(wanted.is_right(*found));
            // For the hashes and for chunks. Who lies about the hashes alone has the chunks.
            const bool has_chunks = trick == Trick::kWrongLeaves || trick == Trick::kOtherLeaves;
            CHECK((has_chunks || liar.requests() - asked <= 2));
        }
    }
}

TEST_CASE("ART-13: a server of chunks that stalls, breaks or drips is given up, and another one brings them") {
    Oddity drips;  // half of the rate that is asked for, so that the whole takes seven seconds
    drips.pause = std::chrono::milliseconds(250);
    Oddity stalls;
    stalls.stall_after = 10;
    Oddity breaks;
    breaks.cut_after = 10;
    for (const Oddity& oddity : {drips, stalls, breaks}) {
        Wanted wanted;
        const std::vector<std::uint32_t> batches{8};
        wanted.request.chunks = chunks_read(wanted.shape, {.seed = 3, .first = 8, .count = 16}, batches).value();
        const ChunkServer honest(wanted.file, wanted.leaves);
        const OddServer slow(wanted.file, oddity, wanted.leaves);
        const auto alone = wanted.get(slow.url());
        REQUIRE_FALSE(alone.has_value());
        CHECK(alone.error() == FetchError::kUnreachable);
        CHECK(slow.bytes_sent() < wanted.request.chunks.size() * canonical::kChunkBytes);
        const auto helped = wanted.get(slow.url(), {honest.url()});
        REQUIRE(helped.has_value());
        CHECK(wanted.is_right(*helped));
    }
}

Result<DatasetFile, FetchError> wait_for(
    Fetcher& fetcher, const Wanted& wanted, const std::string& url,
    std::chrono::seconds limit = std::chrono::seconds(60)
) {
    const auto request = std::make_shared<const ChunkRequest>(wanted.request);
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        auto got = fetcher.get_chunks(wanted.task, wanted.at(url), Urgency::kDuty, request);
        if (got || std::chrono::steady_clock::now() > end) {
            return got;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

TEST_CASE("ART-19: whoever serves the whole dataset but not its chunks keeps nobody from working") {
    for (const Trick trick :
         {Trick::kNoLeaves, Trick::kNoChunks, Trick::kWrongLeaves, Trick::kOtherLeaves, Trick::kWrongChunk,
          Trick::kOtherChunks, Trick::kShort, Trick::kLong, Trick::kWholeForChunks}) {
        CAPTURE(static_cast<int>(trick));
        const Wanted wanted;
        const ChunkServer server(wanted.file, wanted.leaves, trick);
        Cache cache(wanted.home.path() / "cache");
        Fetcher fetcher(wanted.store, cache, {.limits = Wanted::limits()});
        const auto got = wait_for(fetcher, wanted, server.url());
        REQUIRE(got.has_value());
        const auto* file = std::get_if<StoredFile>(&*got);
        REQUIRE(file != nullptr);
        CHECK(file->sha256() == wanted.hash);
    }
}

TEST_CASE("ART-19: a fetcher brings the chunks of two segments one after the other, then all of the dataset") {
    Wanted wanted;
    const ChunkServer server(wanted.file, wanted.leaves);
    Cache cache(wanted.home.path() / "cache");
    Fetcher fetcher(wanted.store, cache, {.limits = Wanted::limits()});
    const auto first = wait_for(fetcher, wanted, server.url());
    REQUIRE(first.has_value());
    const auto some = std::get<std::shared_ptr<const PartialDataset>>(*first);
    CHECK(wanted.is_right(*some));
    CHECK_FALSE(cache.has(wanted.hash));
    const std::vector<std::uint64_t> of_first = wanted.request.chunks;
    wanted.request.chunks =
        chunks_read(wanted.shape, {.seed = 3, .first = 12, .count = 4}, std::vector<std::uint32_t>{8}).value();
    const std::uint64_t before = server.bytes_sent();
    const auto second = wait_for(fetcher, wanted, server.url());
    REQUIRE(second.has_value());
    const auto more = std::get<std::shared_ptr<const PartialDataset>>(*second);
    CHECK(wanted.is_right(*more));
    CHECK(more->has_all(of_first));
    CHECK(server.bytes_sent() - before <= wanted.request.chunks.size() * canonical::kChunkBytes);
    while (!fetcher.get(wanted.task, wanted.at(server.url()), wanted.file.size(), Urgency::kDuty)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const auto whole = wait_for(fetcher, wanted, kDead);
    REQUIRE(whole.has_value());
    CHECK(std::holds_alternative<StoredFile>(*whole));
    fetcher.keep_chunk_leaves(wanted.hash, some->tree());
    CHECK(cache.store().leaves(wanted.hash)->size_bytes() == wanted.leaves.size());
    CHECK(wanted.is_right(*some));  // what was opened stays readable
}

TEST_CASE("a part of a dataset counts as what it takes of the cache, and is dropped when no task needs it") {
    const Wanted wanted;
    const ChunkServer server(wanted.file, wanted.leaves, Trick::kOnlyChunks);
    Cache cache(wanted.home.path() / "cache", {.quota_bytes = wanted.file.size() / 2, .reserve_bytes = 0});
    Fetcher fetcher(wanted.store, cache, {.limits = Wanted::limits()});
    const auto got = wait_for(fetcher, wanted, server.url());
    REQUIRE(got.has_value());
    CHECK(!cache.reserve(Hash256{{1}}, wanted.file.size() / 2, Urgency::kDuty));
    fetcher.forget(wanted.task);
    CHECK(cache.reserve(Hash256{{1}}, wanted.file.size() / 2, Urgency::kDuty));
    CHECK(cache.store().partials().empty());
    CHECK(wanted.is_right(*std::get<std::shared_ptr<const PartialDataset>>(*got)));
}

}  // namespace
}  // namespace assay::artifacts
