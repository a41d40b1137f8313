// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <core/crypto/hash.hpp>
#include <tests/unit/artifacts/files.hpp>
#include <tests/unit/artifacts/odd_server.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/partial_file.hpp>
#include <verifier/artifacts/server.hpp>

namespace assay::artifacts {
namespace {

using std::chrono::milliseconds;
using test::OddServer;

constexpr std::uint64_t kPart = UncheckedParts::kPartBytes;

Bytes bytes_of(std::uint64_t size) {
    Bytes out(size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<std::uint8_t>((i * 2654435761U) >> 13U);
    }
    return out;
}

/// An artifact of nearly nine parts, and where it is downloaded to.
struct Target {
    test::TemporaryDirectory home;
    ContentStore store{home.path()};
    Bytes file = bytes_of(8 * kPart + 1'000);
    Hash256 hash = crypto::sha256(file);

    Reference ref(const std::string& url) const { return {.name = hash, .size_bytes = file.size(), .location = url}; }
    Result<StoredFile, FetchError> get(const std::string& url, FetchLimits limits = {}) const {
        limits.idle_timeout = milliseconds(300);
        return download(ref(url), store, limits);
    }
    bool has_first_part() const {
        const auto partial = File::open(store.partial_path(hash, file.size()));
        std::uint8_t mark = 0;
        if (partial && partial->size_bytes() > file.size()) {
            partial->read_at(file.size(), {&mark, 1});
        }
        return mark != 0;
    }
    bool is_stored() const {
        const auto stored = store.get(hash);
        return stored && Bytes(stored->view().begin(), stored->view().end()) == file && store.partials().empty();
    }
};

TEST_CASE("ART-13: a download goes on where connections break, and transfers hardly anything twice") {
    const Target target;
    const OddServer server(target.file, {.cut_after = kPart + kPart / 2});
    REQUIRE(target.get(server.url()).has_value());
    CHECK(target.is_stored());
    CHECK(server.connections() == 8);
    CHECK(server.bytes_sent() < target.file.size() * 3 / 2);
}

TEST_CASE("ART-13: what a download has left is not transferred again, also by a server without ranges") {
    for (const bool knows_ranges : {true, false}) {
        CAPTURE(knows_ranges);
        const Target target;
        {
            const OddServer server(target.file, {.stall_after = 3 * kPart + 5, .knows_ranges = false});
            CHECK(target.get(server.url()).error() == FetchError::kUnreachable);
            CHECK(server.connections() == 2);  // the second one brings nothing new
        }
        CHECK(!target.store.has(target.hash));
        REQUIRE(target.store.partials().size() == 1);
        CHECK(target.store.partials().front().hash == target.hash);
        const OddServer server(target.file, {.knows_ranges = knows_ranges});
        REQUIRE(target.get(server.url()).has_value());
        CHECK(target.is_stored());
        CHECK(server.bytes_sent() == target.file.size() - (knows_ranges ? 3 * kPart : 0));
    }
}

TEST_CASE("a transfer that is slower than the least rate gets on by further connections") {
    const Target target;
    const OddServer server(target.file, {.pause = milliseconds(5)});
    // Nine parts take 0.7 s at least.
    const FetchLimits limits{.timeout = milliseconds(500), .bytes_per_s = std::uint64_t{1} << 40U};
    REQUIRE(target.get(server.url(), limits).has_value());
    CHECK(target.is_stored());
    CHECK(server.connections() > 1);
}

TEST_CASE("a transfer that stands still is given up, however much has arrived") {
    const Target target;
    const OddServer mute(target.file, {.stall_after = 0});
    const FetchLimits patient{.timeout = std::chrono::hours(1)};
    CHECK(target.get(mute.url(), patient).error() == FetchError::kUnreachable);
    const OddServer lame(target.file, {.stall_after = 5 * kPart});
    REQUIRE(target.get(lame.url(), patient).has_value());
    CHECK(lame.connections() == 2);
}

TEST_CASE("ART-7: wrong bytes in the middle are dropped, those of an earlier download too") {
    const Target target;
    const OddServer liar(target.file, {.lie_at = 4 * kPart + 7});
    CHECK(target.get(liar.url()).error() == FetchError::kMismatch);
    CHECK(!target.store.has(target.hash));
    {
        const OddServer lame_liar(target.file, {.stall_after = 5 * kPart, .lie_at = kPart, .knows_ranges = false});
        CHECK(target.get(lame_liar.url()).error() == FetchError::kUnreachable);
    }
    const OddServer honest(target.file);
    REQUIRE(target.get(honest.url()).has_value());
    CHECK(target.is_stored());
    CHECK(honest.bytes_sent() == 2 * target.file.size() - 5 * kPart);
}

TEST_CASE("ART-14: several sources share the work, and one that is away is not waited for") {
    const Target target;
    const OddServer one(target.file, {.pause = milliseconds(3)});
    const OddServer other(target.file, {.pause = milliseconds(3)});
    REQUIRE(target.get(one.url(), {.mirrors = {other.url()}}).has_value());
    CHECK(target.is_stored());
    CHECK(one.bytes_sent() >= kPart);
    CHECK(other.bytes_sent() >= kPart);
    target.store.remove(target.hash);
    const OddServer mute(target.file, {.stall_after = 0});
    for (const std::string& away : {std::string("http://127.0.0.1:1"), mute.url()}) {
        // Mirrors are the operator's choice, so they may be in a private network.
        REQUIRE(target.get(away, {.public_only = true, .mirrors = {other.url()}}).has_value());
        CHECK(target.is_stored());
        target.store.remove(target.hash);
    }
    CHECK(target.get("http://127.0.0.1:1", {.mirrors = {mute.url()}}).error() == FetchError::kUnreachable);
}

TEST_CASE("ART-14: a source that lies costs time and keeps nobody from an honest one") {
    for (const std::uint64_t cut_after : {test::Oddity::kNever, 5 * kPart}) {
        const Target target;
        // Whether the liar brings its wrong byte depends on which half it is asked for.
        const OddServer liar(target.file, {.cut_after = cut_after, .lie_at = 0});
        const OddServer honest(target.file, {.pause = milliseconds(2)});
        REQUIRE(target.get(liar.url(), {.mirrors = {honest.url()}}).has_value());
        CHECK(target.is_stored());
        target.store.remove(target.hash);
        REQUIRE(target.get(honest.url(), {.mirrors = {liar.url()}}).has_value());
        CHECK(target.is_stored());
    }
    const Target target;
    const OddServer liar(target.file, {.lie_at = 0});
    const OddServer other(target.file, {.lie_at = 1});
    CHECK(target.get(liar.url(), {.mirrors = {other.url()}}).error() == FetchError::kMismatch);
}

TEST_CASE("an artifact of more than a GiB is downloaded and mapped" * doctest::test_suite("full")) {
    // Zeros that take no room on the disk; only the last part is transferred.
    const test::TemporaryDirectory home;
    const ContentStore remote(home.path() / "remote");
    const ContentStore local(home.path() / "local");
    constexpr std::uint64_t kSize = (std::uint64_t{1} << 30U) + 100;
    Hash256 hash;
    {
        const File sparse(home.path() / "sparse", O_RDWR | O_CREAT);
        sparse.resize(kSize);
        hash = sha256_of(sparse);
        remote.adopt(home.path() / "sparse", hash);
        const File partial(local.partial_path(hash, kSize), O_RDWR | O_CREAT);
        partial.resize(kSize);
        partial.write_at(kSize, Bytes(kSize / kPart, 1));  // marks of all parts but the last
        partial.resize(kSize + kSize / kPart + 1);
    }
    const ArtifactServer server({}, remote);
    const auto got = fetch({.name = hash, .size_bytes = kSize, .location = server.url()}, kSize, local);
    REQUIRE(got.has_value());
    CHECK(got->size_bytes() == kSize);
    CHECK(got->view().back() == 0);
    CHECK(local.has(hash));
}

TEST_CASE("ART-13: a process that is killed in mid-download leaves what the next one goes on with") {
    const Target target;
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    // Forked while the process has one thread.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::string url(256, '\0');
        url.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe[0], url.data(), url.size()))));
        static_cast<void>(target.get(url));
        ::_exit(0);
    }
    const OddServer slow(target.file, {.pause = milliseconds(10)});
    REQUIRE(::write(pipe[1], slow.url().data(), slow.url().size()) > 0);
    while (!target.has_first_part()) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    ::close(pipe[0]);
    ::close(pipe[1]);
    const ContentStore again(target.home.path());
    CHECK(again.partials().size() == 1);
    const OddServer fast(target.file);
    REQUIRE(target.get(fast.url()).has_value());
    CHECK(target.is_stored());
    CHECK(fast.bytes_sent() < target.file.size());
}

TEST_CASE("a crash before a complete download gets its name costs only the check of its hash") {
    const Target target;
    test::write_file(target.store.partial_path(target.hash, target.file.size()), target.file);
    REQUIRE(target.get("http://127.0.0.1:1").has_value());
    CHECK(target.is_stored());
}

TEST_CASE("one artifact is downloaded into a store by one at a time, and an empty one by nobody") {
    const Target target;
    {
        const PartialFile other(target.store, target.hash, std::make_shared<UncheckedParts>(target.file.size()));
        CHECK_THROWS_AS(static_cast<void>(target.get("http://127.0.0.1:1")), StoreError);
    }
    const Reference empty{.name = crypto::sha256({}), .size_bytes = 0, .location = "none"};
    CHECK(download(empty, target.store).value().view().empty());
}

TEST_CASE("claims cover what is missing once, and then what others still wait for") {
    const Target target;
    PartialFile file(target.store, target.hash, std::make_shared<UncheckedParts>(target.file.size()));
    const auto first = file.claim(3 * kPart).value();
    CHECK(first.first == 0);
    CHECK(first.end == 3 * kPart);
    const auto second = file.claim(1'000 * kPart).value();
    CHECK(second.first == 3 * kPart);
    CHECK(second.end == target.file.size());
    const auto half = file.claim(1'000 * kPart).value();
    CHECK(half.first == 4 * kPart);
    const ByteView all = target.file;
    CHECK(file.write(0, all.first(kPart)) == PartialFile::Written::kTaken);
    // What is there is not overwritten, however late somebody else sends something else.
    const Bytes wrong(2 * kPart, 0x5A);
    CHECK(file.write(0, wrong) == PartialFile::Written::kNotNeeded);
    file.release(first);
    CHECK(file.claim(1)->first == kPart);
    CHECK(file.parts_done() == 1);
    CHECK(file.write(kPart, all.subspan(kPart)) == PartialFile::Written::kTaken);
    CHECK(file.is_complete());
    CHECK(!file.claim(1));
    CHECK(file.finish());
    CHECK(target.is_stored());
}

}  // namespace
}  // namespace assay::artifacts
