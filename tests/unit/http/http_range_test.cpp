// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include <client/http/http.hpp>
#include <client/http/http_range.hpp>
#include <tests/unit/http/listener.hpp>
#include <tests/unit/http/raw_client.hpp>

namespace assay::http {
namespace {

using std::chrono::milliseconds;
using test::Listener;
using test::RawClient;

/// A server with one file of 1,000 bytes, and what is received of it.
class FileServer {
  public:
    FileServer() {
        for (int i = 0; i < 1'000; ++i) {
            content_ += static_cast<char>('a' + i % 26);
        }
        std::ofstream(path_, std::ios::binary) << content_;
    }
    ~FileServer() { std::filesystem::remove(path_); }
    FileServer(const FileServer&) = delete;
    FileServer& operator=(const FileServer&) = delete;

    const std::string& content() const { return content_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()) + "/"; }
    /// The head of the answer to a GET with more header lines.
    std::string head_of(const std::string& lines) const {
        RawClient client(server_.port());
        client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + lines + "\r\n");
        const std::string answer = client.read_all();
        return answer.substr(0, answer.find("\r\n\r\n"));
    }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("assay-range-" + std::to_string(::getpid()));
    std::string content_;
    HttpServer server_{{}, [this](const HttpRequest&) {
                           HttpResponse response;
                           response.content_type = "application/octet-stream";
                           response.file = path_;
                           return response;
                       }};
};

/// Collects the pieces of a file, which have to follow each other.
struct Collected {
    std::optional<std::uint64_t> first{};
    std::string bytes;
    BodySink sink(std::size_t most = 1U << 20U) {
        return [this, most](std::uint64_t offset, ByteView piece) {
            first = first.value_or(offset);
            CHECK(offset == *first + bytes.size());
            bytes += as_text(piece);
            return bytes.size() < most;
        };
    }
};

std::string canned(const std::string& head, const std::string& body) {
    return "HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_CASE("a Range field is one range of bytes, or it is ignored") {
    const auto range = [](const char* field) { return decide_range(field, 100).range; };
    CHECK(range("bytes=0-0") == FileRange{0, 0});
    CHECK(range("bytes=10-19") == FileRange{10, 19});
    CHECK(range("bytes=10-") == FileRange{10, 99});
    CHECK(range("bytes=10-1000") == FileRange{10, 99});
    CHECK(range("bytes=-10") == FileRange{90, 99});
    CHECK(range("bytes=-1000") == FileRange{0, 99});
    CHECK(range("Bytes=99-") == FileRange{99, 99});
    for (const char* ignored :
         {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes= 1-2", "bytes=2-1", "bytes=0-1,3-4",
          "bytes=+1-2", "lines=0-1", "bytes=18446744073709551616-", "bytes 0-1"}) {
        CAPTURE(ignored);
        CHECK(decide_range(ignored, 100).is_satisfiable);
        CHECK(!range(ignored));
    }
    for (const char* beyond : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=18446744073709551615-"}) {
        CAPTURE(beyond);
        CHECK(!decide_range(beyond, 100).is_satisfiable);
    }
    CHECK(!decide_range("bytes=0-", 0).is_satisfiable);
    CHECK(!decide_range("bytes=-1", 0).is_satisfiable);
}

TEST_CASE("a Content-Range field is read as it is written") {
    CHECK(decode_content_range(content_range({5, 9}, 10)) == FileRange{5, 9});
    CHECK(decode_content_range("bytes 5-9/*") == FileRange{5, 9});
    for (const char* wrong :
         {"", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes */10", "bytes 5/10-9", "5-9/10"}) {
        CAPTURE(wrong);
        CHECK(!decode_content_range(wrong));
    }
}

TEST_CASE("a file is served in part with 206, as a whole with 200, and beyond its end with 416") {
    const FileServer server;
    const std::string part = server.head_of("Range: bytes=10-19\r\n");
    CHECK(part.starts_with("HTTP/1.1 206 Partial Content\r\n"));
    CHECK(part.find("Content-Range: bytes 10-19/1000") != std::string::npos);
    CHECK(part.find("Content-Length: 10") != std::string::npos);
    const std::string whole = server.head_of("");
    CHECK(whole.starts_with("HTTP/1.1 200 "));
    CHECK(whole.find("Accept-Ranges: bytes") != std::string::npos);
    CHECK(whole.find("Content-Length: 1000") != std::string::npos);
    const std::string beyond = server.head_of("Range: bytes=1000-\r\n");
    CHECK(beyond.starts_with("HTTP/1.1 416 "));
    CHECK(beyond.find("Content-Range: bytes */1000") != std::string::npos);
    CHECK(server.head_of("Range: bytes=10-19\r\nIf-Range: \"tag\"\r\n").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("parts of a file arrive at their offsets, and the connection serves the next request") {
    const FileServer server;
    Collected middle;
    CHECK(http_get_file(server.url(), 300, 599, middle.sink()).status == 206);
    CHECK(middle.first == 300);
    CHECK(middle.bytes == server.content().substr(300, 300));
    Collected end;
    CHECK(http_get_file(server.url(), 900, std::nullopt, end.sink()).status == 206);
    CHECK(end.bytes == server.content().substr(900));
    Collected whole;
    CHECK(http_get_file(server.url(), 0, std::nullopt, whole.sink()).status == 200);
    CHECK(whole.bytes == server.content());
    Collected none;
    CHECK(http_get_file(server.url(), 1'000, std::nullopt, none.sink()).status == 416);
    CHECK(none.bytes.empty());
}

TEST_CASE("a client that leaves in the middle of a file ends its connection and not the server's process") {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("assay-left-" + std::to_string(::getpid()));
    std::ofstream(path).close();
    std::filesystem::resize_file(path, 64U << 20U);
    const HttpServer server({}, [&](const HttpRequest&) {
        HttpResponse response;
        response.file = path;
        return response;
    });
    for (int i = 0; i < 20; ++i) {
        RawClient client(server.port());
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    Collected some;
    CHECK(http_get_file("http://127.0.0.1:" + std::to_string(server.port()) + "/", 0, 9, some.sink()).status == 206);
    CHECK(some.bytes.size() == 10);
    std::filesystem::remove(path);
}

TEST_CASE("a sink ends a transfer without an error, and what it throws is passed on") {
    const Listener endless("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + std::string(100'000, 'x'));
    Collected some;
    CHECK(http_get_file(endless.url(), 0, std::nullopt, some.sink(10)).status == 200);
    CHECK(some.bytes.size() >= 10);
    const FileServer server;
    const auto failing = [](std::uint64_t, ByteView) -> bool { throw std::logic_error("no room"); };
    CHECK_THROWS_AS(http_get_file(server.url(), 0, std::nullopt, failing), std::logic_error);
}

TEST_CASE("a server that does not know ranges begins at 0, and one that answers with another range is an error") {
    const Listener old(canned("200 OK", "0123456789"));
    Collected all;
    CHECK(http_get_file(old.url(), 4, 6, all.sink()).status == 200);
    CHECK(all.first == 0);
    CHECK(all.bytes == "0123456789");
    for (const char* field : {"\r\nContent-Range: bytes 3-6/10", "\r\nContent-Range: bytes 4-7/10", ""}) {
        CAPTURE(field);
        const Listener other(canned("206 Partial Content" + std::string(field), "3456"));
        Collected nothing;
        CHECK_THROWS_AS(http_get_file(other.url(), 4, 6, nothing.sink()), NetError);
        CHECK(nothing.bytes.empty());
    }
    const Listener sparing(canned("206 Partial Content\r\nContent-Range: bytes 4-5/10", "45"));
    Collected less;
    CHECK(http_get_file(sparing.url(), 4, 6, less.sink()).status == 206);
    CHECK(less.bytes == "45");
    const Listener sorry(canned("503 Service Unavailable", "busy"));
    Collected none;
    CHECK(http_get_file(sorry.url(), 4, 6, none.sink()).status == 503);
    CHECK(none.bytes.empty());
}

TEST_CASE("a transfer may be slow as long as it moves, and one that stands still is given up") {
    // A byte every 20 ms takes longer in all than the idle time, and never as long in between.
    const HttpLimits limits{.timeout = std::chrono::hours(1), .idle_timeout = milliseconds(1'000)};
    const std::string text = "an answer that is slow, yet never at rest";
    const std::string answer = canned("200 OK", text);
    const Listener slow(answer, 1);
    Collected all;
    CHECK(http_get_file(slow.url(), 0, std::nullopt, all.sink(), limits).status == 200);
    CHECK(all.bytes == text);
    const Listener mute;
    Collected nothing;
    CHECK_THROWS_AS(http_get_file(mute.url(), 0, std::nullopt, nothing.sink(), limits), NetTimeout);
}

}  // namespace
}  // namespace assay::http
