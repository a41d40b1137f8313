// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/settings.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <core/crypto/address.hpp>
#include <tests/unit/cli/temporary.hpp>

namespace assay::ui {
namespace {

using cli_test::TemporaryDirectory;
using cli_test::write_text;
using nlohmann::json;

}  // namespace

TEST_CASE("ui: settings are what was written, in a file of their owner") {
    const TemporaryDirectory home;
    CHECK(read_settings(home.path()) == Settings{});
    Settings settings;
    settings.node = "unix:///run/node.sock";
    settings.verify = true;
    settings.from_minute = 60;
    settings.memory_bytes = std::uint64_t{1} << 40U;
    settings.celsius_max = 75;
    settings.is_paused = true;
    settings.publish = "s3://bucket/key";
    settings.owner = crypto::to_address(AccountId{{7}});
    settings.image = "sha256:" + std::string(64, 'a');
    settings.labels = "cuda=12.4 os=debian";
    settings.relay = "r.example:4010";
    write_settings(home.path(), settings);
    CHECK(read_settings(home.path()) == settings);
    struct ::stat info {};
    REQUIRE(::stat((home.path() / "settings.json").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600);
    write_settings(home.path(), Settings{});
    CHECK(read_settings(home.path()) == Settings{});
}

TEST_CASE("ui: a file that a death has left beside the settings changes nothing") {
    const TemporaryDirectory home;
    write_settings(home.path(), {.threads = 3});
    write_text(home.path() / "settings.json.new", "{\"threads\":");
    CHECK(read_settings(home.path()).threads == 3);
    write_settings(home.path(), {.threads = 4});
    CHECK(read_settings(home.path()).threads == 4);
}

TEST_CASE("ui: settings that are none are refused with what to enter") {
    const Settings now;
    CHECK(changed(now, json::parse(R"({"threads": 2})")).threads == 2);
    for (const json& change :
         {json::array(), json{{"threads", 0}}, json{{"threads", -1}}, json{{"threads", "2"}}, json{{"threads", 1e9}},
          json{{"from_minute", 1'440}}, json{{"celsius_max", 20}}, json{{"celsius_max", 121}}, json{{"solve", 1}},
          json{{"node", "ftp://x"}}, json{{"node", 1}}, json{{"device", "rm -rf"}}, json{{"memory_bytes", 1.5}},
          json{{"password", "x"}}, json{{"owner", "assay1x"}}, json{{"labels", 5}},
          json{{"relay", std::string(513, 'r')}}, json{{"node", std::string(600, 'x')}}}) {
        CAPTURE(change.dump());
        CHECK_THROWS_AS(changed(now, json::parse(change.dump())), InputError);
    }
}

TEST_CASE("ui: a damaged file of settings is named") {
    const TemporaryDirectory home;
    write_text(home.path() / "settings.json", "{");
    CHECK_THROWS_WITH_AS(
        read_settings(home.path()),
        ((home.path() / "settings.json").string() + " is not JSON: delete it to begin with the defaults").c_str(),
        InputError
    );
}

}  // namespace assay::ui
