// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tools/economics/setting.hpp>

namespace assay::economics {

/// One attack: what it gains compared with honest play of the same seat, by formula and by simulation.
struct AttackResult {
    std::string name = {};
    std::string role = {};
    std::string what = {};
    std::uint32_t runs = 0;
    double gain = 0.0;        ///< ASY, mean over the runs
    double gain_error = 0.0;  ///< standard error of that mean
    double model_gain = 0.0;
    std::optional<double> detection = {};  ///< nullopt if the attack does nothing that is forbidden
    double detection_error = 0.0;
    std::optional<double> model_detection = {};

    bool deterred() const { return model_gain <= 0.0 && gain <= 3.0 * gain_error; }
};

struct AttackOptions {
    std::uint32_t runs = 2'000;
    std::uint64_t seed = 1;
    std::function<void(const std::string&)> progress;  ///< called with each attack's name; may be empty
};

/// Runs every known attack on a task with `setting`. Throws std::out_of_range if a detection rate of tolerance mode is
/// missing.
std::vector<AttackResult> run_attacks(const Setting& setting, const Costs& costs, const AttackOptions& options);

/// Returns the names of the attacks whose detection is a measured rate in tolerance mode.
std::vector<std::string> rated_attacks();

}  // namespace assay::economics
