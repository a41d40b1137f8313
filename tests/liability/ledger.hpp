// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <contracts/chain/chain.hpp>
#include <tests/model/records.hpp>
#include <tests/model/workshop.hpp>

/// Who lost what in a run, by what is true and not by what the chain ruled. Money is in grains.
namespace assay::liability {

__extension__ using Wide = __int128;

/// What locked stake and delayed money cost: so many millionths of a millionth of the sum for each block, which is five
/// per cent in a year of blocks of a second.
inline constexpr std::int64_t kCapitalRate = 1'585;
inline constexpr std::int64_t kCapitalUnit = 1'000'000'000'000;

struct Slash {
    contracts::TaskId task;
    std::uint64_t height = 0;
    AccountId from;
    std::uint64_t amount = 0;
    contracts::Reason reason = contracts::Reason::kMoot;
    bool is_sent = false;  ///< a transaction did it, and no deadline
};

/// A run's sums, when everything has ended.
struct Balance {
    std::int64_t harm = 0;  ///< by the records of what happened
    std::int64_t paid = 0;  ///< what the attackers have less, but for what they gave away and for what they bought
    std::int64_t chance =
        0;  ///< what the honest lost by what no rule can attribute: availability.md states how probable it is
    std::int64_t unpaid = 0;    ///< rewards that the honest earned and did not get; a part of `harm`
    std::int64_t standing = 0;  ///< what the honest have, with what they spent of their own choice: to be compared
    Wide capital = 0;           ///< grains of the honest times the blocks for which they were locked
};

class Ledger {
  public:
    std::set<AccountId> honest;
    std::set<AccountId> away;  ///< of these, who had an outage of its own making

    void note_block(const contracts::BlockOutcome& outcome, const std::vector<Bytes>& txs, const model::World& world);
    /// The slashes of the last block.
    const std::vector<Slash>& fresh() const { return fresh_; }
    /// AVL-8: whether it is one of two equal losses of a verifier and a solver, of which nobody can say whose fault
    /// they are; TASK-15: or half of a draw that was declined, of which the submitter has lost the other half.
    bool is_shared(const Slash& slash) const;
    /// Whether it was the loser's own doing, or that of attackers who were drawn for half of the seats of a committee.
    bool is_excused(const Slash& slash) const { return away.contains(slash.from) || is_outvoted(slash); }

    Balance balance(const contracts::Genesis& genesis, const model::World& world, model::Workshop& shop) const;

  private:
    struct Payment {
        contracts::TaskId task;
        AccountId to;
        std::uint64_t amount = 0;
        contracts::Reason reason = contracts::Reason::kMoot;
        std::optional<Slash> slash;  ///< out of which it was paid
    };
    /// Payments between the honest and the attackers, by what they were for.
    struct Flows {
        std::int64_t earned = 0;     ///< by attackers, for what is true, from the honest
        std::int64_t jackpots = 0;   ///< of attackers
        std::int64_t lucky = 0;      ///< jackpots of the honest
        std::int64_t bought = 0;     ///< by attackers, from the honest
        std::int64_t won = 0;        ///< by the honest out of attackers' bonds, and of those whose loss does not count
        std::int64_t open_gain = 0;  ///< of attackers, out of disputes with who was away
        std::int64_t away_gain = 0;  ///< of attackers, out of deadlines that were missed by who was away
        std::int64_t spent = 0;      ///< by honest submitters on taxes and waiting
    };

    bool is_outvoted(const Slash& slash) const {
        return slash.reason == contracts::Reason::kUnavailable && outvoted_.contains(slash.task);
    }
    /// TASK-15: whether it is half of a draw for a task of somebody honest, who has it now.
    bool is_for_honest(const Slash& slash, const model::World& world) const;
    void note_payment(const contracts::HistoryRecord& entry, const contracts::history::Paid& paid);
    Flows flows(const model::World& world, model::Workshop& shop) const;
    /// What of the escrows of honest submitters went to nobody: what does not divide.
    std::int64_t dust(const model::World& world) const;

    std::vector<Slash> slashes_;
    std::vector<Slash> fresh_;
    std::vector<Payment> payments_;
    std::set<std::pair<contracts::TaskId, std::uint64_t>> shared_;  ///< task and height where a solver shared a loss
    std::set<contracts::TaskId> outvoted_;  ///< convicted by a committee of which attackers had half of the seats
    std::int64_t fees_ = 0;                 ///< of the honest
    std::int64_t presents_ = 0;             ///< of attackers, to the honest
    Wide capital_ = 0;
};

/// Balance and stake, whatever its state.
std::uint64_t wealth(const model::World& world, const AccountId& account);

/// Law 2 by two runs of one seed: what the honest have less where the attackers sent than where they kept silent, what
/// was earned and not paid, and what it cost that more of their money was locked for longer.
std::int64_t difference_of(const Balance& quiet, const Balance& attacked);

}  // namespace assay::liability
