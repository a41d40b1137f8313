// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <verifier/schedule/choose.hpp>

/// A step with round numbers: 1,000 multiply-adds, 100 bytes of parameters, 200 of slots, 100 of gradients and 80 of
/// activations, over a batch of 8 rows.
namespace assay::schedule {

inline StepProfile hand_made() {
    StepProfile out;
    out.work = 1'000.0;
    out.parameter_bytes = 100.0;
    out.slot_bytes = 200.0;
    out.gradient_bytes = 100.0;
    out.activation_bytes = 80.0;
    out.batch_rows = 8;
    out.data = {{{100.0, 10.0, 0.1}, {150.0, 12.0, 0.0}, {100.0, 12.0, 0.0}, {150.0, 20.0, 0.0}}};
    out.tensor = {400.0, 6.0, 0.2};
    out.stages = {60.0, 2.0, 0.0};
    return out;
}

inline std::vector<Machine> alike(std::uint32_t count, double speed, double memory_bytes) {
    std::vector<Machine> out;
    for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back({"m" + std::to_string(i), speed, memory_bytes});
    }
    return out;
}

inline std::vector<std::vector<std::uint32_t>> single_groups(std::uint32_t count) {
    std::vector<std::vector<std::uint32_t>> out;
    for (std::uint32_t i = 0; i < count; ++i) {
        out.push_back({i});
    }
    return out;
}

}  // namespace assay::schedule
