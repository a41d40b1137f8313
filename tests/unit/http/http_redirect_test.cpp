// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <client/http/http_client.hpp>
#include <tests/unit/folders.hpp>
#include <tests/unit/http/listener.hpp>

using namespace assay::http;
using assay::http::test::Listener;

namespace {

const std::string kEnd = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere";

std::string redirect_to(const std::string& url, const std::string& status = "302 Found") {
    return "HTTP/1.1 " + status + "\r\nLocation: " + url + "\r\nContent-Length: 4\r\n\r\naway";
}

/// Sets a variable of the environment for as long as it lives.
class Variable {
  public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Variable() { ::unsetenv(name_.c_str()); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    std::string name_;
};

/// tls_server.py for as long as it lives.
class TlsServer {
  public:
    TlsServer() {
        REQUIRE(::pipe(input_.data()) == 0);
        const std::string command = "exec python3 " + assay::folders::source() + "/tests/unit/http/tls_server.py " +
                                    certificate() + " " + assay::folders::source() +
                                    "/tests/vectors/tls/loopback.key <&" + std::to_string(input_[0]) + " " +
                                    std::to_string(input_[1]) + ">&-";
        output_ = ::popen(command.c_str(), "r");
        REQUIRE(output_ != nullptr);
        std::array<char, 16> line{};
        REQUIRE(std::fgets(line.data(), static_cast<int>(line.size()), output_) != nullptr);
        port_ = std::stoi(line.data());
    }
    ~TlsServer() {
        ::close(input_[1]);
        ::close(input_[0]);
        ::pclose(output_);
    }
    TlsServer(const TlsServer&) = delete;
    TlsServer& operator=(const TlsServer&) = delete;
    static std::string certificate() { return assay::folders::source() + "/tests/vectors/tls/loopback.crt"; }
    std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/"; }

  private:
    std::array<int, 2> input_{};
    std::FILE* output_ = nullptr;
    int port_ = 0;
};

std::string error_of(const std::string& url, const HttpLimits& limits = {}) {
    try {
        http_get(url, limits);
    } catch (const NetError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a redirect is followed to what is there") {
    Listener there(kEnd);
    const Listener on(redirect_to(there.url() + "path"));
    const Listener start(redirect_to(on.url(), "308 Permanent Redirect"));
    CHECK(http_get(start.url()).body == "here");
    CHECK(there.request().starts_with("GET /path HTTP/1.1\r\n"));
}

TEST_CASE("a POST is sent again only where the answer demands the same method") {
    Listener there(kEnd);
    const Listener start(redirect_to(there.url(), "307 Temporary Redirect"));
    CHECK(http_post(start.url(), "{}").body == "here");
    CHECK(there.request().starts_with("POST / HTTP/1.1\r\n"));
    const Listener other(redirect_to(start.url()));
    CHECK(http_post(other.url(), "{}").status == 302);
}

TEST_CASE("redirects end") {
    const Listener there(kEnd);
    std::vector<std::unique_ptr<Listener>> chain;
    std::string url = there.url();
    for (int i = 0; i < 6; ++i) {
        chain.push_back(std::make_unique<Listener>(redirect_to(url)));
        url = chain.back()->url();
    }
    CHECK(error_of(url).find("more than 5 redirects") != std::string::npos);
    for (const char* nowhere : {"ftp://127.0.0.1/", "file:///etc/passwd", "http://user@127.0.0.1/"}) {
        CAPTURE(nowhere);
        const Listener start(redirect_to(nowhere));
        CHECK(error_of(start.url()).find("URL") != std::string::npos);
    }
}

TEST_CASE("a redirect does not lead to an address that may not be connected to") {
    // 127.0.0.1 plays the internet and 127.0.0.2 the private network.
    const AddressRule rule = [](const SocketAddress& address) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address.storage, sizeof(v4));
        return address.family() == AF_INET && v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    };
    const HttpLimits limits{.timeout = std::chrono::seconds(20)};
    {
        Listener there(kEnd);
        const Listener start(redirect_to(there.url()));
        CHECK(http_get_where(rule, start.url(), limits).body == "here");
    }
    HttpServer inside({.address = "0.0.0.0"}, [](const HttpRequest&) { return HttpResponse{.body = "secret"}; });
    const std::string url = "http://127.0.0.2:" + std::to_string(inside.port()) + "/";
    CHECK(http_get(url).body == "secret");
    const Listener start(redirect_to(url));
    CHECK_THROWS_AS(http_get_where(rule, start.url(), limits), NetForbidden);
}

TEST_CASE("a proxy of the environment is used, but not for this machine and not for public addresses only") {
    Listener proxy(kEnd);
    const Variable variable("http_proxy", proxy.url());
    const Listener here("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect");
    CHECK(http_get(here.url()).body == "direct");
    const HttpLimits careful{.timeout = std::chrono::seconds(5), .public_only = true};
    CHECK_THROWS_AS(http_get("http://host.invalid/", careful), NetError);
    CHECK(http_get("http://host.invalid/x").body == "here");
    CHECK(proxy.request().starts_with("GET http://host.invalid/x HTTP/1.1\r\n"));
}

TEST_CASE("headers without end are an error") {
    std::string answer = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 1'500; ++i) {
        answer += "X-" + std::to_string(i) + ": " + std::string(50, 'x') + "\r\n";
    }
    const Listener listener(answer + "\r\n");
    CHECK(error_of(listener.url()).find("larger than") != std::string::npos);
}

TEST_CASE("https is verified by the authorities that the environment names, and does not redirect to http") {
    const TlsServer server;
    CHECK(error_of(server.url()).find("certificate") != std::string::npos);
    const Variable variable("SSL_CERT_FILE", TlsServer::certificate());
    CHECK(http_get(server.url()).body == "secret");
    CHECK(error_of(server.url() + "away").find("redirected from https to http://") != std::string::npos);
    const HttpLimits careful{.timeout = std::chrono::seconds(5), .public_only = true};
    CHECK_THROWS_AS(http_get(server.url(), careful), NetForbidden);
}
