// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tests/simulation/events.hpp>
#include <tests/simulation/worker.hpp>

/// What fails in a simulated network: messages, links, replicas and workers.
namespace assay::simulation {

/// Returns how long the world is bad, in milliseconds; then it is calm. In one of five networks it is calm from the
/// start. Both lists have to live as long as the events.
std::uint64_t plan_faults(
    Events& events, std::vector<std::unique_ptr<Replica>>& replicas, std::vector<std::unique_ptr<Worker>>& workers
);

}  // namespace assay::simulation
