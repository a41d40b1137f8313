// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <verifier/schedule/arrange.hpp>

/// The five networks of "Decentralized Training of Foundation Models in Heterogeneous Environments" (arXiv 2206.01288),
/// with the delays and bandwidths that its authors give, and the training that they schedule: GPT-3 XL on 64 GPUs.
namespace assay::schedule {

struct Scenario {
    std::string name;
    Network network;
};
/// `number` is 0 to 4.
Scenario scenario(int number);
/// Eight stages of eight replicas.
inline constexpr Grid kScenarioGrid{.stages = 8, .width = 8};
Crossing scenario_crossing();

}  // namespace assay::schedule
