// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <tools/bench/bench.hpp>

namespace assay::bench {

/// Trains replicas that exchange in several ways, from the same parameters for each seed, and judges the parameters
/// that they share after every `turn_steps` steps by held-out rows. Throws std::runtime_error for options that do not
/// fit together.
nlohmann::json run_replica_curves(const CurveOptions& options);

}  // namespace assay::bench
