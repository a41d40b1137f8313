// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <verifier/ui/sensors.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {

/// Whether a minute of the day is within the hours in which new work is taken.
bool is_within_hours(const Settings& settings, std::uint32_t minute) noexcept;
/// Minutes since midnight as "07:05".
std::string clock_text(std::uint32_t minute);

/// Decides by the owner's settings whether new work is taken. A machine that was too hot rests for kRest, and until it
/// is kCooler degrees below its limit: a verifier tells the chain each time, for a fee.
class LimitWatch {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::minutes kRest{10};
    static constexpr double kCooler = 5;

    /// Returns why no new work is taken, in words; nullopt if it is. `minute` is that of the local day.
    std::optional<std::string> judge(
        const Settings& settings, std::uint32_t minute, const std::vector<Reading>& readings, Time now
    );

  private:
    std::optional<Time> hot_at_{};  ///< when it was too hot last
};

}  // namespace assay::ui
