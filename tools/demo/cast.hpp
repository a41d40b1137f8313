// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <contracts/state/params.hpp>
#include <tools/demo/demo.hpp>

/// The participants of a demo, and how it must end.
namespace assay::demo {

struct Cast {
    Fraud fraud = Fraud::kNone;
    const char* name = "";
    const char* solver = nullptr;         ///< its --dishonest option; nullptr: it is honest
    const char* verifier = nullptr;       ///< option of the first verifier; in a collusion, of all verifiers
    const char* whistleblower = nullptr;  ///< option of all of them; in a hunt for jackpots, of all but the first
    bool convicts = false;                ///< the task must end convicted; otherwise settled
    bool needs_tolerance = false;
    bool needs_exact = false;
    bool has_evaluation = false;  ///< the task is scored on a tenth of the text, on which it is not trained
    bool hunts_jackpots = false;  ///< the demo is about forced errors; the treasury is full
};

/// One row per fraud, in the order of the enumeration.
const std::vector<Cast>& casts();
const Cast& cast_of(Fraud fraud);

/// Time limits short enough for a person to watch and long enough for two busy cores.
contracts::Params demo_params(Fraud fraud, bool tolerance);
/// Milliseconds between blocks: more where there is a spammer, so that it fills them on a slow machine, too.
constexpr std::uint32_t block_interval_ms(Fraud fraud) { return fraud == Fraud::kSpam ? 400 : 100; }

struct Player {
    std::string name;
    contracts::Role role;
    std::vector<std::string> arguments;  ///< arguments of assay-worker, or with --dishonest of assay-adversary
    Amount stake{50'000'000'000};
    bool is_dishonest = false;
    std::string informant{};  ///< for an insider: the verifier of the same owner
};
/// Returns the verifiers and whistleblowers. Solvers are started for each task.
std::vector<Player> judges_of(Fraud fraud, bool tolerance);

}  // namespace assay::demo
