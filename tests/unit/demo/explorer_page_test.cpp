// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <tests/unit/cli/temporary.hpp>
#include <core/system/browser.hpp>
#include <tools/demo/explorer_page.hpp>

namespace assay::demo {
namespace {

/// A variable of the environment as long as this lives; nullptr: unset.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        const char* const before = std::getenv(name);
        was_set_ = before != nullptr;
        before_ = was_set_ ? before : "";
        value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    }
    ~Variable() { was_set_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    bool was_set_ = false;
    std::string before_;
};

}  // namespace

TEST_CASE("the demo opens a browser only where a person at a display reads its story") {
    const Variable wayland("WAYLAND_DISPLAY", nullptr);
    {
        const Variable x11("DISPLAY", nullptr);
        CHECK_FALSE(wants_browser({}, true));
        const Variable other("WAYLAND_DISPLAY", "wayland-0");
        CHECK(wants_browser({}, true));
    }
    const Variable x11("DISPLAY", ":1");
    CHECK(wants_browser({}, true));
    CHECK_FALSE(wants_browser({}, false));
    DemoOptions closed;
    closed.open = false;
    CHECK_FALSE(wants_browser(closed, true));
    DemoOptions json;
    json.json = true;
    CHECK_FALSE(wants_browser(json, true));
}

TEST_CASE("the explorer is opened by xdg-open and its address is printed without it") {
    const cli_test::TemporaryDirectory directory;
    const std::filesystem::path told = directory.path() / "told";
    const Variable path("PATH", directory.path().c_str());
    CHECK_FALSE(system::open_in_browser("http://127.0.0.1:1/"));
    const std::filesystem::path program = directory.path() / "xdg-open";
    std::ofstream(program) << "#!/bin/sh\necho \"$1\" > '" << told.string() << ".part'; /bin/mv '" << told.string()
                           << ".part' '" << told.string() << "'\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    REQUIRE(system::open_in_browser("http://127.0.0.1:1/"));
    for (int i = 0; i < 1'000 && !std::filesystem::exists(told); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::string url;
    std::ifstream(told) >> url;
    CHECK(url == "http://127.0.0.1:1/");
    CHECK(announce_explorer({}, "http://127.0.0.1:1").find("  watch it in a browser: http://127.0.0.1:1") == 0);
}

TEST_CASE("the end of a demo says how to look at its chain again") {
    DemoOptions kept;
    kept.home = "/tmp/net";
    CHECK(how_to_look_again(kept, "/tmp/net").find("assayd inspect --home /tmp/net/node,") != std::string::npos);
    kept.validators = 4;
    CHECK(how_to_look_again(kept, "/tmp/net").find("inspect") == std::string::npos);
    CHECK(how_to_look_again({}, "/tmp/x").find("--keep-running") != std::string::npos);
}

}  // namespace assay::demo
