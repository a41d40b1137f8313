// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <contracts/state/params.hpp>
#include <nlohmann/json.hpp>
#include <verifier/engine/engine.hpp>

namespace assay::worker {

/// A machine's speed in canonical training steps, in work units per second. A unit is 10^6 multiply-adds of the graph's
/// matrix products.
struct Benchmark {
    double small_step = 0;    ///< a small perceptron, which spends most time outside of products
    double products = 0;      ///< nearly only products of 1,024 x 1,024 matrices
    std::uint64_t score = 0;  ///< the score of HW-2: `products`, rounded down
    std::string engine;       ///< Engine::description()
};

/// Runs both measurements, each for about `seconds` after a warm-up. Throws std::runtime_error if the device fails.
Benchmark run_benchmark(const engine::EngineOptions& options, double seconds);

/// Returns the number of the hardware class with the highest minimum score that `score` reaches; 0 if it reaches none.
std::uint32_t class_reached(const contracts::Params& params, std::uint64_t score) noexcept;

/// Returns {"score", "class", "class_name", "small_step", "products", "engine"}.
nlohmann::ordered_json to_json(const Benchmark& benchmark, const contracts::Params& params);
std::string to_text(const Benchmark& benchmark, const contracts::Params& params);

}  // namespace assay::worker
