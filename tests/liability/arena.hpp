// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <tests/model/workshop.hpp>

/// A network of honest workers with realistic latency and somebody who sends whatever could hurt them.
namespace assay::liability {

/// What a run came to. Money is in grains.
struct Report {
    std::string broken;  ///< the law that does not hold, and where; empty when all do
    std::uint64_t blocks = 0;
    std::uint64_t attacks = 0;   ///< messages of the attacker that reached a block
    std::uint64_t effective = 0; ///< those that were executed
    std::int64_t paid = 0;       ///< what all of the attacker's accounts have less than at the start
    std::int64_t harm = 0;       ///< what honest accounts lost to slashes, and earned and did not get
    std::map<std::string, std::uint64_t> executed;  ///< the attacker's actions that had an effect, by name
    std::map<std::string, std::uint64_t> outcomes;  ///< ends of tasks, and slashes, by who and why
};

struct Options {
    bool trace = false;          ///< prints every block
    bool attacks = true;         ///< false: the same network, and the attacker keeps silent
    std::uint64_t active_blocks = 150;  ///< so long the attacker sends
};

/// `home` is an empty directory. The same seed and options make the same run.
Report play(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options);

}  // namespace assay::liability
