// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tools/economics/random.hpp>
#include <tools/economics/setting.hpp>

/// A simulation of tasks in whole grains: who is drawn, who replays, who is slashed, who is paid.
namespace assay::economics {

enum class Role : std::uint8_t { kSubmitter = 1, kSolver = 2, kVerifier = 3, kWatcher = 4, kSybil = 5 };

enum class Strategy : std::uint8_t {
    kHonest = 1,
    kSkipping = 2,   ///< solver: skips a fifth of the segments
    kFaking = 3,     ///< solver: does not train at all
    kLazy = 4,       ///< verifier: accepts and invents a probe root
    kCopying = 5,    ///< verifier: publishes something other than it committed to
    kRejecting = 6,  ///< verifier: rejects everything
    kIdle = 7,       ///< watcher: does not replay
    kBlind = 8,      ///< watcher: challenges without a replay
    kFollowing = 9,  ///< watcher: challenges if another one does
    /// Same owner: its solver skips work, its verifiers accept that, its watchers know which verdicts are forced.
    kCoalition = 10,
    kFlooding = 11,  ///< Sybil: disputes honest work
};
const char* to_string(Role role) noexcept;
const char* to_string(Strategy strategy) noexcept;

struct Agent {
    Role role = Role::kSubmitter;
    Strategy strategy = Strategy::kHonest;
    Grains start = 0;
    Grains balance = 0;
};

/// All money. What is paid for computing leaves the chain but is still counted.
struct Ledger {
    std::vector<Agent> agents;
    Grains treasury = 0;
    Grains escrow = 0;
    Grains burned = 0;
    Grains spent = 0;
    Grains supply = 0;  ///< at the start

    void add(Role role, Strategy strategy, Grains balance);
    void add(Role role, Strategy strategy, Grains balance, std::uint32_t count);
    void endow(Grains treasury_start);
    /// Distinct accounts of a role with at least `least`, but for `except`; fewer when there are fewer.
    std::vector<std::uint32_t> pick(Random& random, Role role, Grains least, std::uint32_t count, std::uint32_t except)
        const;
    Grains total() const;
};

/// The seat is not assigned: whoever is drawn gets it.
inline constexpr std::uint32_t kAnybody = 0xffff'ffffU;

/// What a solver does with its task; costs are in grains.
struct SolverWork {
    std::uint32_t wrong = 0;
    bool wrong_initialisation = false;
    Grains cost = 0;
    double detection = 1.0;
    bool withheld = false;
    std::uint32_t contributors = 0;  ///< accomplices in the beacon, who choose a draw that does not detect it
    bool self_slashing = false;      ///< it disputes itself at once
    bool stalling =
        false;  ///< it moves in the last block each time, so honest parties lose disputes only by missed clocks
};

/// What a solver with this strategy does of its own accord.
SolverWork usual_work(Strategy strategy, const Setting& setting, const Costs& costs);

/// One task. A seat assigns an account to a place that would otherwise be drawn.
struct Round {
    std::uint32_t submitter = kAnybody;
    std::uint32_t solver = kAnybody;
    std::uint32_t verifier = kAnybody;    ///< of the first assignment, whose segment is then not the initialisation
    std::uint32_t watcher = kAnybody;     ///< one of the watchers of the first assignment
    std::optional<SolverWork> work = {};  ///< overrides the solver's strategy
    bool self_challenge = false;  ///< the owner of the solver and of the seat is the first to dispute what is found
    std::uint32_t tipped_sybils =
        0;  ///< accounts of the seated verifier's owner that challenge if its verdict is forced
    std::uint32_t contributors = 0;  ///< accomplices of the seated verifier in the beacon
    std::uint32_t floods = 0;        ///< number of disputes about honest segments by the last Sybil
};

struct Outcome {
    bool convicted = false;
    bool solver_was_wrong = false;
    bool seat_slashed = false;     ///< the first assignment's verifier lost stake
    bool seat_won = false;         ///< the seated watcher shared a jackpot
    bool seat_forced = false;      ///< the first assignment's verdict was a forced error
    bool seat_challenged = false;  ///< the seated watcher challenged
    std::uint32_t forced = 0;
    std::uint32_t jackpots = 0;
    Grains paid_in_jackpots = 0;
    std::uint32_t disputes_lost = 0;  ///< by challengers that were wrong
};

/// Plays one task. An account that cannot afford the bond is not drawn; a task that finds nobody is skipped.
Outcome play(Ledger& ledger, const Setting& setting, const Costs& costs, const Round& round, Random& random);

}  // namespace assay::economics
