// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <core/system/metrics/process.hpp>
#include <core/system/metrics/registry.hpp>

using namespace assay::metrics;

namespace {

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("metrics: a scrape has help, type and samples of every family") {
    Registry registry;
    Counter& calls = registry.counter({"assay_calls_total", "Calls by method.", {"method", "outcome"}});
    Gauge& height = registry.gauge({"assay_height", "Height of the last block."});
    registry.counter({"assay_silent_total", "What nothing has counted."});
    calls.add({"get", "ok"}, 3);
    calls.add({"get", "ok"});
    calls.add({"get", "not_found"});
    height.set(12);
    CHECK(
        registry.render() ==
        "# HELP assay_calls_total Calls by method.\n"
        "# TYPE assay_calls_total counter\n"
        "assay_calls_total{method=\"get\",outcome=\"not_found\"} 1\n"
        "assay_calls_total{method=\"get\",outcome=\"ok\"} 4\n"
        "# HELP assay_height Height of the last block.\n"
        "# TYPE assay_height gauge\n"
        "assay_height 12\n"
        "# HELP assay_silent_total What nothing has counted.\n"
        "# TYPE assay_silent_total counter\n"
    );
    height.clear();
    CHECK(registry.render().find("assay_height 12") == std::string::npos);
}

TEST_CASE("metrics: counters are exact where a double is not") {
    Registry registry;
    Counter& grains = registry.counter({"assay_grains_total", "Grains."});
    grains.add({}, (std::uint64_t{1} << 53U) + 1);
    CHECK(has_line(registry.render(), "assay_grains_total 9007199254740993"));
    CHECK(grains.value() == 9'007'199'254'740'993U);
    grains.set_total({}, 5);
    CHECK(grains.value() == 5);
}

TEST_CASE("metrics: gauges have the shortest decimals and the names of what is not finite") {
    Registry registry;
    Gauge& gauge = registry.gauge({"assay_value", "A value.", {"kind"}});
    gauge.set({"tenth"}, 0.1);
    gauge.set({"inf"}, std::numeric_limits<double>::infinity());
    gauge.set({"nan"}, std::numeric_limits<double>::quiet_NaN());
    gauge.set({"negative"}, -2.5);
    const std::string text = registry.render();
    CHECK(has_line(text, "assay_value{kind=\"tenth\"} 0.1"));
    CHECK(has_line(text, "assay_value{kind=\"inf\"} +Inf"));
    CHECK(has_line(text, "assay_value{kind=\"nan\"} NaN"));
    CHECK(has_line(text, "assay_value{kind=\"negative\"} -2.5"));
}

TEST_CASE("metrics: buckets of a histogram are cumulative and a bound belongs to its bucket") {
    Registry registry;
    Histogram& time = registry.histogram({"assay_time_seconds", "Time.", {"method"}}, {0.1, 1});
    for (const double seconds : {0.05, 0.1, 0.5, 7.0}) {
        time.observe({"get"}, seconds);
    }
    CHECK(
        registry.render() ==
        "# HELP assay_time_seconds Time.\n"
        "# TYPE assay_time_seconds histogram\n"
        "assay_time_seconds_bucket{method=\"get\",le=\"0.1\"} 2\n"
        "assay_time_seconds_bucket{method=\"get\",le=\"1\"} 3\n"
        "assay_time_seconds_bucket{method=\"get\",le=\"+Inf\"} 4\n"
        "assay_time_seconds_sum{method=\"get\"} 7.65\n"
        "assay_time_seconds_count{method=\"get\"} 4\n"
    );
    CHECK(time.count({"get"}) == 4);
    CHECK(time.count({"put"}) == 0);
}

TEST_CASE("metrics: hostile label values cannot end their line or break the text") {
    Registry registry;
    Gauge& gauge = registry.gauge({"assay_value", "A value.", {"name"}});
    gauge.set({"x\"} 1\nassay_forged 2\\"}, 1);
    const std::string text = registry.render();
    CHECK(has_line(text, "assay_value{name=\"x\\\"} 1\\nassay_forged 2\\\\\"} 1"));
    CHECK(text.find("\nassay_forged") == std::string::npos);

    const std::string replaced = "\xEF\xBF\xBD";
    CHECK(to_label("\xFFz") == replaced + "z");
    CHECK(to_label("a\xC3") == "a" + replaced);                                        // cut off
    CHECK(to_label("\xC0\x80") == replaced + replaced);                                // overlong
    CHECK(to_label("\xED\xA0\x80") == replaced + replaced + replaced);                 // a surrogate
    CHECK(to_label("\xF4\x90\x80\x80") == replaced + replaced + replaced + replaced);  // beyond U+10FFFF
    CHECK(to_label("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    CHECK(to_label(std::string(1'000, 'a')).size() == kLabelBytesMax);
    const std::string cut = to_label(std::string(kLabelBytesMax - 1, 'a') + "\xC3\xA9");
    CHECK(cut == std::string(kLabelBytesMax - 1, 'a'));  // no half of a character
}

TEST_CASE("metrics: a family does not grow beyond its limit of series") {
    Registry registry;
    Counter& calls = registry.counter({"assay_calls_total", "Calls.", {"method"}});
    for (std::size_t i = 0; i < kSeriesMax + 500; ++i) {
        calls.add({"method" + std::to_string(i)});
    }
    CHECK(calls.value({"method0"}) == 1);
    CHECK(calls.value({"method" + std::to_string(kSeriesMax + 1)}) == 0);
    CHECK(calls.value({"other"}) == 500);
    calls.add({"method7"});
    CHECK(calls.value({"method7"}) == 2);
}

TEST_CASE("metrics: threads count together while others scrape") {
    Registry registry;
    Counter& calls = registry.counter({"assay_calls_total", "Calls.", {"thread"}});
    Histogram& time = registry.histogram({"assay_time_seconds", "Time."}, second_bounds());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; i < 2'000; ++i) {
                calls.add({std::to_string(thread % 2)});
                time.observe(0.001);
            }
        });
    }
    for (int i = 0; i < 50; ++i) {
        CHECK(registry.render().starts_with("# HELP assay_calls_total"));
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(calls.value({"0"}) == 4'000);
    CHECK(calls.value({"1"}) == 4'000);
    CHECK(time.count() == 8'000);
}

TEST_CASE("metrics: a process knows its descriptors, its memory and its start") {
    Registry registry;
    ProcessMetrics process(registry);
    process.update();
    const std::string text = registry.render();
    for (const char* name :
         {"process_open_fds", "process_max_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes",
          "process_start_time_seconds", "process_cpu_seconds_total", "process_threads"}) {
        CAPTURE(name);
        const std::size_t at = text.find("\n" + std::string(name) + " ");
        REQUIRE(at != std::string::npos);
        const double value = std::stod(text.substr(at + std::string(name).size() + 2));
        CHECK((value > 0 || std::string(name) == "process_cpu_seconds_total"));
    }
    const auto seconds = std::stod(text.substr(text.find("\nprocess_start_time_seconds ") + 28));
    CHECK(seconds > 1.6e9);
}
