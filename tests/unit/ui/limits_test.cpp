// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/limits.hpp>

#include <chrono>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <tests/unit/cli/temporary.hpp>
#include <tests/unit/folders.hpp>

namespace assay::ui {
namespace {

using cli_test::TemporaryDirectory;
using cli_test::write_text;
using std::chrono::minutes;

constexpr std::uint32_t kNoon = 720;

std::vector<Reading> at(double celsius) { return {{.name = "cpu", .celsius = celsius}}; }

}  // namespace

TEST_CASE("ui: hours may reach over midnight, and equal ones are the whole day") {
    Settings night{.from_minute = 1'320, .to_minute = 360};
    CHECK(is_within_hours(night, 1'320));
    CHECK(is_within_hours(night, 1'439));
    CHECK(is_within_hours(night, 0));
    CHECK(is_within_hours(night, 359));
    CHECK_FALSE(is_within_hours(night, 360));
    CHECK_FALSE(is_within_hours(night, kNoon));
    Settings day{.from_minute = 540, .to_minute = 1'020};
    CHECK(is_within_hours(day, 540));
    CHECK_FALSE(is_within_hours(day, 1'020));
    CHECK_FALSE(is_within_hours(day, 539));
    CHECK(is_within_hours(Settings{}, kNoon));
    LimitWatch watch;
    CHECK(watch.judge(night, kNoon, {}, {})->find("22:00 to 06:00") != std::string::npos);
}

TEST_CASE("ui: a pause closes, whatever else is so") {
    LimitWatch watch;
    CHECK_FALSE(watch.judge({}, kNoon, {}, {}).has_value());
    CHECK(watch.judge({.is_paused = true}, kNoon, {}, {}).has_value());
}

TEST_CASE("ui: a machine that was too hot rests, and until it is cooler") {
    LimitWatch watch;
    const Settings settings{.celsius_max = 80};
    LimitWatch::Time now{};
    CHECK_FALSE(watch.judge(settings, kNoon, at(80), now).has_value());
    CHECK(watch.judge(settings, kNoon, at(81), now).has_value());
    now += minutes(1);
    CHECK(watch.judge(settings, kNoon, at(40), now).has_value());  // a verifier would tell the chain each time
    now += LimitWatch::kRest;
    CHECK(watch.judge(settings, kNoon, at(78), now).has_value());
    CHECK_FALSE(watch.judge(settings, kNoon, at(75), now).has_value());
    CHECK_FALSE(watch.judge(settings, kNoon, at(78), now).has_value());
}

TEST_CASE("ui: a limit of temperature without a sensor closes, and says so") {
    LimitWatch watch;
    CHECK(watch.judge({.celsius_max = 80}, kNoon, {}, {})->find("no sensor") != std::string::npos);
}

TEST_CASE("ui: the limit is about the GPU where the worker computes on one") {
    LimitWatch watch;
    const std::vector<Reading> readings{{.name = "cpu", .celsius = 90}, {.name = "gpu", .celsius = 60, .is_gpu = true}};
    CHECK(watch.judge({.celsius_max = 80}, kNoon, readings, {}).has_value());
    LimitWatch other;
    CHECK_FALSE(other.judge({.device = "cuda:0", .celsius_max = 80}, kNoon, readings, {}).has_value());
}

TEST_CASE("ui: hwmon's sensors are read, and what is no temperature is left out") {
    const TemporaryDirectory home;
    const auto chip = home.path() / "hwmon0";
    const auto gpu = home.path() / "hwmon1";
    std::filesystem::create_directories(chip);
    std::filesystem::create_directories(gpu);
    write_text(chip / "name", "coretemp\n");
    write_text(chip / "temp1_input", "48500\n");
    write_text(chip / "temp1_label", "Package id 0\n");
    write_text(chip / "temp2_input", "nothing\n");
    write_text(chip / "temp3_input", "-128000\n");
    write_text(chip / "fan1_input", "900\n");
    write_text(gpu / "name", "amdgpu\n");
    write_text(gpu / "temp1_input", "61000\n");
    const auto readings = read_hwmon(home.path());
    REQUIRE(readings.size() == 2);
    CHECK(readings[0].name == "coretemp Package id 0");
    CHECK(readings[0].celsius == doctest::Approx(48.5));
    CHECK_FALSE(readings[0].is_gpu);
    CHECK(readings[1].name == "amdgpu temp1");
    CHECK(readings[1].is_gpu);
    CHECK(read_hwmon(home.path() / "none").empty());
}

TEST_CASE("ui: NVML's GPUs are listed, and a machine without it has none") {
    const Nvml nvml((folders::build() + "/tests/unit/ui/libassay_test_nvml.so").c_str());
    const auto gpus = nvml.gpus();
    REQUIRE(gpus.size() == 2);
    CHECK(gpus[0].name == "First");
    CHECK(gpus[0].celsius == 71.0);
    CHECK(gpus[0].memory_bytes == std::uint64_t{80} << 30U);
    CHECK(gpus[1].name == "Second");
    CHECK_FALSE(gpus[1].celsius.has_value());
    CHECK(Nvml("no-such-library.so").gpus().empty());
    CHECK(Nvml("libdl.so.2").gpus().empty());  // a library without its functions
}

}  // namespace assay::ui
