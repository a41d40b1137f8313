// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// The performance of the chain: throughput compared with CometBFT's own kvstore and with signature verification alone,
/// and the cost of a transaction as the state grows.
namespace assay::bench {

struct ChainOptions {
    std::vector<std::string> parts{"solo", "growth", "cometbft"};
    std::vector<std::uint32_t> intervals_ms{100, 500};  ///< block intervals of the solo part
    int pairs = 7;                                      ///< number of pairs; the two sides run in turns
    int threads = 0;                   ///< threads that submit and threads that verify; 0: one per core
    std::uint64_t transfers = 60'000;  ///< per side of a pair
    std::vector<std::uint64_t> accounts{100'000, 1'000'000, 10'000'000};
    std::uint64_t block_transfers = 1'000;  ///< transfers in a block of the growth part
    std::string assayd;                     ///< empty: the one in this program's directory
    std::string cometbft;                   ///< empty: found the way assayd finds it
    std::filesystem::path scratch;          ///< databases are created and deleted here; empty: the temporary directory
    bool quick = false;                     ///< small sizes: tests that the benchmark runs, not the performance
};

nlohmann::json run_chain_bench(ChainOptions options);

/// Measures transfers through the solo engine, from submission to the commit on disk, relative to verifying their
/// signatures alone. One result per block interval.
nlohmann::json run_solo_bench(const ChainOptions& options);
/// Measures tree nodes, bytes, hashes and time of a block of transfers on states of each size.
nlohmann::json run_growth_bench(const ChainOptions& options);
/// Compares assayd behind CometBFT with CometBFT's own kvstore: one validator each, under the same load, in turns.
nlohmann::json run_comet_bench(const ChainOptions& options);

}  // namespace assay::bench
