// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// What the chain costs: throughput against CometBFT's own kvstore and against signature verification alone, and the
/// cost of a transaction as the state grows.
namespace assay::bench {

struct ChainOptions {
    std::vector<std::string> parts{"solo", "growth", "cometbft"};
    std::vector<std::uint32_t> intervals_ms{100, 500};  ///< between blocks of the solo part
    int pairs = 7;                    ///< interleaved
    int threads = 0;                  ///< that submit and that verify; 0: one for each core
    std::uint64_t transfers = 60'000;  ///< of each side of a pair
    std::vector<std::uint64_t> accounts{100'000, 1'000'000, 10'000'000};
    std::uint64_t block_transfers = 1'000;  ///< of a block of the growth part
    std::string assayd;                     ///< empty: the one beside this program
    std::string cometbft;                   ///< empty: where assayd looks for it
    std::filesystem::path scratch;          ///< databases are made and deleted here; empty: the temporary directory
    bool quick = false;                     ///< everything small: whether it runs, not what it costs
};

nlohmann::json run_chain_bench(ChainOptions options);

/// Transfers through the solo engine, from submission to the commit on disk, over verifying their signatures alone: one
/// result for each interval between blocks.
nlohmann::json run_solo_bench(const ChainOptions& options);
/// Nodes, bytes, hashes and time of a block of transfers on states of each size.
nlohmann::json run_growth_bench(const ChainOptions& options);
/// assayd behind CometBFT and CometBFT's own kvstore, one validator each, under the same load in turns.
nlohmann::json run_comet_bench(const ChainOptions& options);

}  // namespace assay::bench
