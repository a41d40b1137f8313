// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <core/base/bytes.hpp>
#include <tests/model/workshop.hpp>

/// A whole network under one seed: replicas that crash and lose their disks' last writes, messages that are lost, late,
/// doubled and overtaken, a network that falls in two, workers that stop, artifacts that come late, a cheat or two.
namespace assay::simulation {

struct Report {
    std::string broken;  ///< the property that does not hold; empty when all do
    std::uint64_t blocks = 0;
    std::uint64_t deaths = 0;
    std::uint64_t replayed = 0;  ///< blocks, from logs after deaths
    std::uint64_t lost = 0;      ///< messages
    std::uint64_t refused = 0;   ///< blocks that a lying replica damaged
    Hash256 app_hash;
    /// What came of tasks and bonds, by name; "held: ..." where an honest party was cut off for longer than it had.
    std::map<std::string, std::uint64_t> outcomes;
};

/// `home` is an empty directory for the replicas' disks. `trace`: every block on standard output.
Report simulate(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, bool trace);

}  // namespace assay::simulation
