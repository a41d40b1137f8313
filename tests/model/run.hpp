// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tests/model/crowd.hpp>

/// Whole runs of a chain and its model under one seed's crowd, and what is left of one that fails.
namespace assay::model {

struct Block {
    contracts::BlockContext context;
    std::vector<Sent> txs;
};

/// How often something happened, by its name: actions that succeeded, refusals, states, reasons, statuses.
using Coverage = std::map<std::string, std::uint64_t>;

struct Failure {
    std::size_t block = 0;
    std::string what;
};

struct Run {
    std::vector<Block> blocks;
    std::optional<Failure> failure;
    Coverage coverage;
    std::uint64_t txs = 0;
    Hash256 app_hash;  ///< of the last state
};

/// `active` blocks with the crowd, then blocks in which every waiting task is cancelled and nothing else happens, until
/// everything has ended. A fault is a difference from the model, an invariant that does not hold, or something that
/// never ends.
Run play(Workshop& shop, std::uint64_t seed, int active, Flaw flaw = Flaw::kNone);

/// The same run beside which models with these mistakes compute every block. Returns the mistakes that none of its
/// blocks has shown. It ends as soon as all are found.
std::vector<Flaw> find_unnoticed(Workshop& shop, std::uint64_t seed, int active, const std::vector<Flaw>& flaws);

/// The recorded blocks once more; of a run without a failure the app hash is the same.
Run replay(const Crowd& crowd, const std::vector<Block>& blocks, Flaw flaw = Flaw::kNone);

/// Which of a failing run's transactions it takes to fail, one a line. The others are replaced by transfers of nothing.
std::string shrink(Workshop& shop, std::uint64_t seed, const Run& failing, Flaw flaw = Flaw::kNone);

}  // namespace assay::model
