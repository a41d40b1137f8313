// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tools/economics/random.hpp>
#include <tools/economics/setting.hpp>

/// Tasks played through with whole grains: who is drawn, who looks, who is slashed, who is paid.
namespace assay::economics {

enum class Role : std::uint8_t { kSubmitter = 1, kSolver = 2, kVerifier = 3, kWatcher = 4, kSybil = 5 };

enum class Strategy : std::uint8_t {
    kHonest = 1,
    kSkipping = 2,    ///< solver: skips a fifth of the segments
    kFaking = 3,      ///< solver: trains nothing
    kLazy = 4,        ///< verifier: accepts and invents a probe root
    kCopying = 5,     ///< verifier: publishes what it did not commit to
    kRejecting = 6,   ///< verifier: rejects everything
    kIdle = 7,        ///< watcher: does not look
    kBlind = 8,       ///< watcher: challenges without looking
    kFollowing = 9,   ///< watcher: challenges when another does
    kCoalition = 10,  ///< of one owner: its solver skips, its verifiers accept that, its watchers know what is forced
    kFlooding = 11,   ///< Sybil: disputes honest work
};
const char* to_string(Role role) noexcept;
const char* to_string(Strategy strategy) noexcept;

struct Agent {
    Role role = Role::kSubmitter;
    Strategy strategy = Strategy::kHonest;
    Grains start = 0;
    Grains balance = 0;
};

/// All money there is. What is paid for computing leaves the chain, but is counted.
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
    Grains total() const;
};

/// Nobody in a seat: whoever is drawn.
inline constexpr std::uint32_t kAnybody = 0xffff'ffffU;

/// What a solver does with its task, in grains.
struct SolverWork {
    std::uint32_t wrong = 0;
    bool wrong_initialisation = false;
    Grains cost = 0;
    double detection = 1.0;
    bool withheld = false;
    std::uint32_t contributors = 0;  ///< accomplices in the beacon, who choose a draw that does not tell
    bool self_slashing = false;  ///< disputes itself at once
    bool stalling = false;       ///< disputes are lost by missed clocks alone: every move comes in the last block
};

/// One task. Seats bind an account to a place that draws would fill by chance.
struct Round {
    std::uint32_t submitter = kAnybody;
    std::uint32_t solver = kAnybody;
    std::uint32_t verifier = kAnybody;    ///< of the first assignment, whose segment then is no initialisation
    std::uint32_t watcher = kAnybody;     ///< one of those of the first assignment
    std::optional<SolverWork> work = {};  ///< instead of what the solver's strategy says
    bool self_challenge = false;          ///< the solver's and the seat's owner is first to dispute what is found
    std::uint32_t tipped_sybils = 0;      ///< accounts of the seat's verifier that challenge when it is forced
    std::uint32_t contributors = 0;       ///< accomplices of the seat's verifier in the beacon
    std::uint32_t floods = 0;             ///< disputes of honest segments by the last Sybil
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
    std::uint32_t disputes_lost = 0;  ///< by challengers who were wrong
};

/// Plays one task. Who cannot afford a bond is not drawn; a task that finds nobody is skipped.
Outcome play(Ledger& ledger, const Setting& setting, const Costs& costs, const Round& round, Random& random);

}  // namespace assay::economics
