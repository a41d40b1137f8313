// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace assay::bench {

struct SignedOptions {
    std::vector<std::string> models{"mlp", "gpt", "gpt10m"};
    std::string profile = "XG-21";
    /// Layouts, each with its number of ranks.
    std::vector<std::string> layouts{"dp/2", "zero1/2", "zero2/2", "zero3/2", "tp/2", "pp/2",
                                     "dp/4", "zero1/4", "zero2/4", "zero3/4", "tp/4", "pp/4"};
    std::uint64_t steps = 7;    ///< of each kind, that are timed
    std::uint64_t warm_up = 2;  ///< of each kind, before them
};
/// Trains models by ranks of several accounts, linked by TLS as those of a worker are, in steps whose messages are
/// signed and in steps whose messages are not, in turns: how many bytes signatures add, how much CPU time, and by how
/// much they make a step longer. All ranks are threads of this process.
nlohmann::json run_signed_bench(const SignedOptions& options);

/// One rank of the same, with one model and one layout.
struct SignedRankOptions {
    SignedOptions what;
    std::uint32_t rank = 0;
    std::string address = "127.0.0.1";  ///< at which the other ranks connect to this one
    std::string words;                  ///< a directory that all ranks share, to find each other
};
/// Rank 0 says how long steps took; links.py starts the ranks.
nlohmann::json run_signed_rank(const SignedRankOptions& options);

}  // namespace assay::bench
