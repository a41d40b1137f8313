// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <tests/unit/folders.hpp>
#include <verifier/sandbox/order.hpp>
#include <verifier/sandbox/sandbox.hpp>

namespace assay::sandbox {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Result<MappedFile, Refusal> call(const std::string& parser, Limits limits = {}) {
    return run(folders::build() + "/tests/hostile_parsers", Call{.parser = parser, .limits = limits});
}

/// How a parser that misbehaves ends. What it has written is worth nothing.
RefusalKind end_of(const std::string& parser, Limits limits = {}) {
    const auto answer = call(parser, limits);
    REQUIRE_FALSE(answer);
    CHECK_FALSE(answer.error().message.empty());
    return answer.error().kind;
}

Descriptor file_of(std::string_view text) { return make_memory_file(as_bytes(text)); }

}  // namespace

TEST_CASE("a parser reads its configuration and its files, and its answer arrives") {
    const Descriptor one = file_of("one");
    const Descriptor two = file_of("two, of which it sees less");
    const Descriptor none = file_of("");
    const auto answer =
        run(folders::build() + "/tests/hostile_parsers",
            Call{
                .parser = "echo",
                .config = to_bytes("how "),
                .files = {{one.number(), 3}, {none.number(), 0}, {two.number(), 3}}});
    REQUIRE(answer);
    CHECK(as_text(answer->bytes()) == "how onetwo");
}

TEST_CASE("an answer of many megabytes arrives whole") {
    const Bytes large(48 * kMiB, 7);
    const Descriptor file = make_memory_file(large);
    const auto answer =
        run(folders::build() + "/tests/hostile_parsers",
            Call{.parser = "echo", .files = {{file.number(), large.size()}}});
    REQUIRE(answer);
    CHECK(Bytes(answer->bytes().begin(), answer->bytes().end()) == large);
}

TEST_CASE("a parser that crashes is refused as one that crashed") {
    CHECK(end_of("crash") == RefusalKind::kCrashed);
    CHECK(end_of("abort") == RefusalKind::kCrashed);
    CHECK(end_of("throw") == RefusalKind::kCrashed);
}

TEST_CASE("a parser that loops or waits for ever is refused as too slow") {
    CHECK(end_of("spin", {.deadline = std::chrono::milliseconds(100)}) == RefusalKind::kTooSlow);
    CHECK(end_of("wait", {.deadline = std::chrono::milliseconds(100)}) == RefusalKind::kTooSlow);
}

TEST_CASE("a parser that uses up its CPU time is refused as too slow" * doctest::test_suite("full")) {
    CHECK(end_of("spin", {.cpu_s = 1}) == RefusalKind::kTooSlow);
}

TEST_CASE("a parser that allocates without end is refused for its memory") {
    CHECK(end_of("eat", {.memory_bytes = 64 * kMiB}) == RefusalKind::kMemory);
}

TEST_CASE("a parser that opens a file or a socket is refused by what it opened") {
    CHECK(end_of("open_file") == RefusalKind::kOpenedFile);
    CHECK(end_of("open_socket") == RefusalKind::kOpenedSocket);
}

TEST_CASE("a parser that starts a process or signals one is refused") {
    CHECK(end_of("fork") == RefusalKind::kForbidden);
    CHECK(end_of("signal") == RefusalKind::kForbidden);
}

TEST_CASE("a parser that writes more than it may is refused for it") {
    CHECK(end_of("flood", {.output_bytes = kMiB}) == RefusalKind::kOutputTooLong);
}

TEST_CASE("a parser executes no code that it has written, unless its patterns are compiled") {
    CHECK(call("code").value().bytes()[0] == 0);
    CHECK(call("generated_code").value().bytes()[0] == 1);
}

TEST_CASE("a parser has no descriptor that it was not given") {
    const Descriptor secret(::open("/etc/passwd", O_RDONLY));  // no O_CLOEXEC, as a library may open files
    REQUIRE(secret.is_open());
    const Bytes open = [] {
        const auto answer = call("descriptors");
        return Bytes(answer.value().bytes().begin(), answer.value().bytes().end());
    }();
    CHECK(open == Bytes{0, 1, 2, kOrderDescriptor, kOutputDescriptor});
}

TEST_CASE("what is missing is our trouble and may pass later") {
    const auto answer = run("/nonexistent/assay-parser", Call{.parser = "echo"});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == RefusalKind::kNotStarted);
    CHECK(answer.error().message.find("/nonexistent/assay-parser") != std::string::npos);
    CHECK(may_pass_later(answer.error()));
    const auto unknown = call("no such parser");
    CHECK(unknown.error().kind == RefusalKind::kNotStarted);
    CHECK(unknown.error().message.find("another version") != std::string::npos);
    CHECK_FALSE(may_pass_later(make_refusal(RefusalKind::kCrashed)));
    CHECK_FALSE(may_pass_later(make_refusal(RefusalKind::kForbidden)));
}

TEST_CASE("several threads parse at once, beside parsers that end badly") {
    std::vector<std::thread> threads;
    std::vector<int> right(6, 0);
    for (std::size_t i = 0; i < right.size(); ++i) {
        threads.emplace_back([i, &right] {
            const std::string text = "thread " + std::to_string(i);
            const Descriptor file = file_of(text);
            const Call good{.parser = "echo", .files = {{file.number(), text.size()}}};
            const auto answer = run(folders::build() + "/tests/hostile_parsers", good);
            const auto bad = call(i % 2 == 0 ? "crash" : "open_file");
            right[i] = answer && as_text(answer->bytes()) == text && !bad ? 1 : 0;
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(right == std::vector<int>(right.size(), 1));
}

TEST_CASE("limits grow with what is read") {
    const Limits small = limits_for(0, 8);
    const Limits large = limits_for(100 * kMiB, 8);
    CHECK(large.memory_bytes == small.memory_bytes + 800 * kMiB);
    CHECK(large.cpu_s == small.cpu_s + 100);
    CHECK(large.deadline > small.deadline);
    set_limits_factor(3);
    CHECK(limits_for(0, 8).memory_bytes == 3 * small.memory_bytes);
    CHECK(limits_for(0, 8).cpu_s == 3 * small.cpu_s);
    set_limits_factor(1);
    CHECK(limits_for(UINT64_MAX, 64).cpu_s >= small.cpu_s);  // nothing overflows
}

}  // namespace assay::sandbox
