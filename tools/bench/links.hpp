// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace assay::bench {

/// One rank of a cell that trains a task's program without a chain, by the code that `assay-worker` uses for it.
struct CellRankOptions {
    std::string task;   ///< the directory with task.toml; the lead's
    std::string hosts;  ///< the machines of the cell
    std::string name;   ///< which member this is; empty: the lead
    std::string plan = "dp";
    std::uint64_t steps = 4;    ///< of the lead
    std::uint64_t warm_up = 1;  ///< steps before them that are not timed
    /// What a rank computes takes as long as on a machine of this speed: it sleeps for the rest of the time.
    double multiply_adds_per_s = 1e9;
    std::string directory = ".";  ///< for the lead's state
};
/// The lead says how long steps took, and what they took of the processor; a member works until it is sent SIGTERM.
/// Both say how long they computed, and for how long they would have on the machine whose speed they are held to.
nlohmann::json run_cell_rank(const CellRankOptions& options);

/// Links between network namespaces, of which each has a TAP device that this process reads and writes.
struct ForwardOptions {
    std::uint32_t count = 4;
    std::string prefix = "link";  ///< of the devices' names, which end with their number
    double mbit = 100.0;          ///< of what goes to one device
    double delay_ms = 20.0;
};
/// Makes the devices, says so with a line on standard output, and forwards frames until SIGTERM, each later by the
/// delay and by the time in which those before it cross.
nlohmann::json run_forward_links(const ForwardOptions& options);

}  // namespace assay::bench
