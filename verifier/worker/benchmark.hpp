// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <contracts/state/params.hpp>
#include <nlohmann/json.hpp>
#include <verifier/engine/engine.hpp>

namespace assay::worker {

/// What a machine reaches in canonical training steps, in work units per second; a unit is 10^6 multiply-adds of
/// products, counted in the graph.
struct Benchmark {
    double small_step = 0;  ///< a step of a small perceptron, most of whose time goes elsewhere
    double products = 0;    ///< a step that is nearly all products of matrices of 1,024 by 1,024
    std::uint64_t score = 0;  ///< what HW-2 means: `products`, rounded down
    std::string engine;       ///< Engine::description()
};

/// Runs both, each for about `seconds` after warming up. Throws std::runtime_error when the device fails.
Benchmark run_benchmark(const engine::EngineOptions& options, double seconds);

/// The number of the class with the greatest least score that `score` reaches; 0 when it reaches none.
std::uint32_t class_reached(const contracts::Params& params, std::uint64_t score) noexcept;

/// {"score", "class", "class_name", "small_step", "products", "engine"}
nlohmann::ordered_json to_json(const Benchmark& benchmark, const contracts::Params& params);
std::string to_text(const Benchmark& benchmark, const contracts::Params& params);

}  // namespace assay::worker
