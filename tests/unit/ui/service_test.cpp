// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/service.hpp>

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <tests/unit/cli/temporary.hpp>

namespace assay::ui {
namespace {

using cli_test::read_text;
using cli_test::TemporaryDirectory;

class NoMachine final : public Machine {
  public:
    void check(const Settings& /*settings*/) const override {}
    nlohmann::ordered_json measure(const Settings& /*settings*/) override { return {{"score", 1}}; }
    void start(const Settings& /*settings*/, const crypto::SecretKey& /*key*/, bool /*resets_breaker*/) override {}
    void stop() override {}
    bool is_running() const override { return false; }
    nlohmann::ordered_json failures() const override { return nlohmann::ordered_json::object(); }
};

struct Served {
    explicit Served(const std::filesystem::path& home)
        : office(home, {.node = {.url = "http://127.0.0.1:1"}, .chain_id = {}, .genesis_hash = {}}, machine, activity),
          service(home, 0, office, activity, quit) {}
    NoMachine machine;
    Activity activity;
    Office office;
    std::atomic<bool> quit{false};
    Service service;
};

unsigned mode_of(const std::filesystem::path& file) {
    struct ::stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    return info.st_mode & 0777U;
}

}  // namespace

TEST_CASE("ui: the page is served on loopback only") {
    CHECK(loopback_port("127.0.0.1:0") == 0);
    CHECK(loopback_port("127.0.0.1:65535") == 65'535);
    for (const char* listen :
         {"0.0.0.0:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:80x", "10.0.0.1:80", "[::]:80", ":80",
          "127.0.0.10:80"}) {
        CAPTURE(listen);
        CHECK_THROWS_AS(loopback_port(listen), InputError);
    }
}

TEST_CASE("ui: the token is in files of their owner, works over HTTP, and is gone at the end") {
    const TemporaryDirectory home;
    std::string old_token;
    {
        Served served(home.path());
        const std::string link = read_text(home.path() / "ui_url");
        const std::string mark = "#token=";
        const std::string url = link.substr(0, link.find(mark));
        CHECK(url == served.service.url());
        old_token = link.substr(link.find(mark) + mark.size(), 64);
        CHECK(mode_of(home.path() / "ui_url") == 0600);
        CHECK(mode_of(home.path() / "ui.html") == 0600);
        CHECK(read_text(home.path() / "ui.html").find("url=" + url + mark + old_token) != std::string::npos);
        CHECK(http::http_get(url).status == 200);
        CHECK(http::http_get(url + "api/state").status == 401);
        CHECK(http::http_get(url + "api/state?token=" + old_token).status == 401);
        CHECK(http::http_get(url + "api/state", {}, {.bearer = old_token}).status == 200);
        CHECK(http::http_post(url + "api/quit", "{}").status == 401);
        CHECK_FALSE(served.quit);
    }
    CHECK_FALSE(std::filesystem::exists(home.path() / "ui_url"));
    CHECK_FALSE(std::filesystem::exists(home.path() / "ui.html"));
    const Served again(home.path());
    CHECK(http::http_get(again.service.url() + "api/state", {}, {.bearer = old_token}).status == 401);
}

TEST_CASE("ui: the stream of events needs the token too, and tells what the workers do") {
    const TemporaryDirectory home;
    Served served(home.path());
    const std::string link = read_text(home.path() / "ui_url");
    const std::string token = link.substr(link.find('=') + 1, 64);
    CHECK(http::http_get(served.service.url() + "api/events").status == 401);
    std::string seen;
    std::thread reader([&] {
        http::HttpLimits limits;
        limits.stop = [&] { return seen.find("event: worker") != std::string::npos; };
        limits.timeout = std::chrono::seconds(20);
        try {
            http::HttpAccess access{.bearer = token};
            const auto answer = http::http_get(served.service.url() + "api/events", limits, access);
            seen = answer.body;
        } catch (const http::NetError&) {
        }
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (served.activity.streams() == 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(served.activity.streams() == 1);
    served.activity.note("solve", {{"event", "train"}, {"task", "a"}, {"step", 1}, {"loss", 0.5}});
    served.activity.end_streams();
    reader.join();
    CHECK(seen.find("event: worker\ndata: {\"role\":\"solve\"") != std::string::npos);
    CHECK(seen.find("\"loss\":0.5") != std::string::npos);
}

}  // namespace assay::ui
