// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/limits.hpp>

#include <algorithm>
#include <cmath>

namespace assay::ui {
namespace {

std::string degrees(double celsius) { return std::to_string(std::lround(celsius)) + " °C"; }

/// A GPU that trains is what its limit is about; else every sensor.
std::optional<Reading> hottest(const Settings& settings, const std::vector<Reading>& readings) {
    const bool is_on_gpu = settings.device != "cpu" &&
                           std::any_of(readings.begin(), readings.end(), [](const Reading& r) { return r.is_gpu; });
    std::optional<Reading> out;
    for (const Reading& reading : readings) {
        if ((!is_on_gpu || reading.is_gpu) && (!out || reading.celsius > out->celsius)) {
            out = reading;
        }
    }
    return out;
}

}  // namespace

bool is_within_hours(const Settings& settings, std::uint32_t minute) noexcept {
    const std::uint32_t from = settings.from_minute;
    const std::uint32_t to = settings.to_minute;
    if (from == to) {
        return true;
    }
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

std::string clock_text(std::uint32_t minute) {
    const auto two = [](std::uint32_t value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    return two(minute / 60) + ":" + two(minute % 60);
}

std::optional<std::string> LimitWatch::judge(
    const Settings& settings, std::uint32_t minute, const std::vector<Reading>& readings, Time now
) {
    if (settings.celsius_max == 0) {
        hot_at_.reset();
    }
    if (settings.is_paused) {
        return "you have paused it";
    }
    if (!is_within_hours(settings, minute)) {
        return "it is " + clock_text(minute) + ", and new work is taken from " + clock_text(settings.from_minute) +
               " to " + clock_text(settings.to_minute);
    }
    if (settings.celsius_max == 0) {
        return std::nullopt;
    }
    const auto hot = hottest(settings, readings);
    if (!hot) {
        return "there is a limit of temperature, and this machine has no sensor that can be read: set the limit to 0 "
               "to "
               "work without one";
    }
    if (hot->celsius > settings.celsius_max) {
        hot_at_ = now;
        return hot->name + " is at " + degrees(hot->celsius) + ", above the limit of " + degrees(settings.celsius_max);
    }
    const bool is_cool = hot->celsius <= settings.celsius_max - kCooler;
    if (hot_at_ && (now - *hot_at_ < kRest || !is_cool)) {
        return hot->name + " was above the limit of " + degrees(settings.celsius_max) + " and is at " +
               degrees(hot->celsius) + ": it rests for " + std::to_string(kRest.count()) + " minutes and until " +
               degrees(settings.celsius_max - kCooler);
    }
    hot_at_.reset();
    return std::nullopt;
}

}  // namespace assay::ui
