// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include <client/http/http.hpp>
#include <client/http/tls_files.hpp>
#include <tests/unit/folders.hpp>

using namespace assay;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

const std::filesystem::path kVectors = folders::source() + "/tests/vectors/tls";

/// A certificate and a key in a directory of their own.
class Files {
  public:
    Files() {
        std::string name = (std::filesystem::temp_directory_path() / "assay-renewal-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
        put("loopback");
    }
    ~Files() { std::filesystem::remove_all(path_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    std::filesystem::path certificate() const { return path_ / "node.crt"; }
    std::filesystem::path key() const { return path_ / "node.key"; }
    /// As a renewal does: one file after the other, each whole.
    void put(const std::string& name) const {
        put_file(kVectors / (name + ".crt"), certificate());
        put_file(kVectors / (name + ".key"), key());
    }
    void break_key() const { std::ofstream(key()) << "-----BEGIN PRIVATE KEY-----\nMIGH"; }

  private:
    static void put_file(const std::filesystem::path& from, const std::filesystem::path& to) {
        const std::filesystem::path next = to.string() + ".next";
        std::filesystem::copy_file(from, next, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::rename(next, to);
    }
    std::filesystem::path path_;
};

/// A connection that trusts one certificate.
class Connection {
  public:
    Connection(std::uint16_t port, const std::string& trusted) {
        tls_.load_verify_file((kVectors / (trusted + ".crt")).string());
        stream_.set_verify_mode(asio::ssl::verify_peer);  // the stream has copied the mode of its context
        stream_.next_layer().connect({asio::ip::address_v4::loopback(), port});
        stream_.handshake(asio::ssl::stream_base::client);
    }
    /// The status line of an answer.
    std::string ask() {
        asio::write(stream_, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")));
        asio::streambuf answer;
        const std::size_t size = asio::read_until(stream_, answer, "\r\n\r\nhere");
        const std::string text(
            asio::buffers_begin(answer.data()), asio::buffers_begin(answer.data()) + static_cast<std::ptrdiff_t>(size)
        );
        return text.substr(0, text.find("\r\n"));
    }

  private:
    asio::io_context context_;
    asio::ssl::context tls_{asio::ssl::context::tls_client};
    asio::ssl::stream<asio::ip::tcp::socket> stream_{context_, tls_};
};

/// What a server tells of its files.
class News {
  public:
    void add(const std::string& text) {
        const std::lock_guard lock(mutex_);
        texts_.push_back(text);
        changed_.notify_all();
    }
    /// Waits for a text that is empty, or for one that is not.
    std::string wait_for(bool is_empty) {
        std::unique_lock lock(mutex_);
        std::string out;
        const bool is_there = changed_.wait_for(lock, 60s, [&] {
            for (; next_ < texts_.size(); ++next_) {
                if (texts_[next_].empty() == is_empty) {
                    out = texts_[next_++];
                    return true;
                }
            }
            return false;
        });
        REQUIRE(is_there);
        return out;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> texts_;
    std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("a renewed certificate is used for new connections, and a broken one is not") {
    const Files files;
    News news;
    http::HttpServerOptions options;
    options.tls_certificate = files.certificate();
    options.tls_key = files.key();
    options.on_tls_files = [&news](const std::string& trouble) { news.add(trouble); };
    const http::HttpServer server(options, [](const http::HttpRequest&) {
        return http::HttpResponse{.status = 200, .content_type = "text/plain", .body = "here"};
    });
    const std::string ok_answer = "HTTP/1.1 200 OK";
    Connection early(server.port(), "loopback");
    CHECK(early.ask() == ok_answer);

    files.break_key();
    CHECK(news.wait_for(false).find("node.key") != std::string::npos);
    CHECK(Connection(server.port(), "loopback").ask() == ok_answer);

    files.put("renewed");
    CHECK(news.wait_for(true).empty());
    CHECK(Connection(server.port(), "renewed").ask() == ok_answer);
    CHECK_THROWS_AS(Connection(server.port(), "loopback"), boost::system::system_error);
    CHECK(early.ask() == ok_answer);  // the connection from before goes on
}

TEST_CASE("files of TLS are read once for each change, when it is over") {
    const Files files;
    http::TlsFiles tls(files.certificate(), files.key());
    const auto first = tls.context();
    CHECK_FALSE(tls.look().has_value());
    files.put("renewed");
    CHECK_FALSE(tls.look().has_value());  // it may still be going on
    CHECK(tls.look() == std::string());
    CHECK_FALSE(tls.look().has_value());
    CHECK(tls.context() != first);
    const auto second = tls.context();
    std::filesystem::remove(files.certificate());
    CHECK_FALSE(tls.look().has_value());
    CHECK(tls.look().value_or("").find("node.crt") != std::string::npos);
    CHECK_FALSE(tls.look().has_value());  // said once
    CHECK(tls.context() == second);
    CHECK_THROWS_AS(http::TlsFiles(files.certificate(), files.key()), http::NetError);
}
