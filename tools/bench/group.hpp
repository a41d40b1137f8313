// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::bench {

struct GroupOptions {
    std::string model = "gpt";
    std::string profile = "XG-21";
    std::uint64_t steps = 2;
    /// Layouts, each with its number of ranks.
    std::vector<std::string> layouts{"dp/2",        "dp/4",       "dp:5,3/2",    "zero1/2",        "zero1/4",
                                     "zero2/4",     "zero3/2",    "zero3/4",     "tp/2",           "pp/2",
                                     "pp/4",        "dp2tp2/4",   "dp2pp2/4",    "zero1+dp2tp2/4", "pp+1f1b4/2",
                                     "pp+gpipe4/2", "pp+1f1b8/4", "pp+gpipe8/4", "dp2pp2+1f1b4/4"};
};
/// Trains a model in cells of threads, in several layouts: whether the root is that of one process, the bytes that each
/// rank sends in a step beside those of the plan and of a ring in fp32, the state that each rank has beside ZeRO's
/// formula, and the slots in which stages wait for micro-batches beside GPipe's.
nlohmann::json run_group_bench(const GroupOptions& options);

}  // namespace assay::bench
