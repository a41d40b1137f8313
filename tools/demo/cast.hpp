// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <contracts/state/params.hpp>
#include <tools/demo/demo.hpp>

/// Who plays in a demo, and how it is meant to end.
namespace assay::demo {

struct Cast {
    Fraud fraud = Fraud::kNone;
    const char* name = "";
    const char* solver = nullptr;         ///< its --dishonest; nullptr for an honest one
    const char* verifier = nullptr;       ///< the first verifier's; in a collusion every one's
    const char* whistleblower = nullptr;  ///< every one's; where jackpots are hunted, every one's but the first
    bool convicts = false;                ///< the task ends convicted; else settled
    bool needs_tolerance = false;
    bool needs_exact = false;
    bool has_evaluation = false;          ///< the task is scored on a tenth of the text, which it is not trained on
    bool hunts_jackpots = false;          ///< forced errors are what it is about; the treasury is full
};

/// One row for each fraud, in the order of the enumeration.
const std::vector<Cast>& casts();
const Cast& cast_of(Fraud fraud);

/// Clocks short enough for a person to watch, long enough for two busy cores.
contracts::Params demo_params(Fraud fraud, bool tolerance);

struct Player {
    std::string name;
    contracts::Role role;
    std::vector<std::string> arguments;  ///< of assay-worker
    Amount stake{50'000'000'000};
    bool is_dishonest = false;
    std::string informant{};  ///< of an insider: the verifier of its owner
};
/// Verifiers and whistleblowers; the solvers are hired task by task.
std::vector<Player> judges_of(Fraud fraud, bool tolerance);

}  // namespace assay::demo
