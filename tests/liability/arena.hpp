// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <tests/liability/endgame.hpp>
#include <tests/liability/ledger.hpp>
#include <tests/liability/plan.hpp>
#include <tests/model/workshop.hpp>

/// A network of honest workers with realistic latency, and attackers who send whatever could hurt them.
namespace assay::liability {

/// At which blocks the honest replies are played on copies of the state.
enum class Forks : std::uint8_t {
    kNone,
    kFew,    ///< at the first blocks that the seed picks of those in which something honest accounts owe is new
    kNew,    ///< at each of these
    kEvery,  ///< at every block in which anything is owed
};

struct Options {
    bool trace = false;  ///< prints every block
    Forks forks = Forks::kFew;
    /// Plays this continuation from this block on, in the place of the run.
    std::optional<std::pair<std::uint64_t, Continuation>> fork_at;
    bool attacks = true;                 ///< false: the same network, and all attackers keep silent
    std::uint64_t active_blocks = 150;   ///< so long the attacker who knows nothing sends
    std::uint64_t planned_blocks = 400;  ///< and so long those who have a plan
    std::optional<PlanKind> plan;        ///< instead of the one that the seed has
};

/// What a run came to. Money is in grains.
struct Report {
    std::string broken;  ///< the law that does not hold, and where; empty when all do
    std::uint64_t blocks = 0;
    std::uint64_t attacks = 0;      ///< messages of the attackers that reached a block
    std::uint64_t effective = 0;    ///< those that were executed
    std::uint64_t forks = 0;        ///< continuations that were played
    std::uint64_t fork_blocks = 0;  ///< in these
    std::uint64_t unfinished = 0;   ///< of these, those in which something was still owed at the end
    Balance balance;
    std::int64_t difference = 0;                    ///< harm as the difference of two runs (compare)
    std::map<std::string, std::uint64_t> executed;  ///< the attackers' actions that had an effect, by name
    std::map<std::string, std::uint64_t> outcomes;  ///< ends of tasks, and slashes, by who and why
};

/// One run in every second one of consecutive seeds has a plan; each has its turn, with the attacker who knows nothing
/// and without.
PlanKind plan_of(std::uint64_t seed) noexcept;

/// `home` is an empty directory. The same seed and options make the same run.
Report play(model::Workshop& shop, std::uint64_t seed, const std::filesystem::path& home, const Options& options);

}  // namespace assay::liability
