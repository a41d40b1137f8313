// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <consensus/state_machine.hpp>
#include <contracts/chain/chain.hpp>
#include <tests/liability/ledger.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// The laws, held against a chain of blocks.
namespace assay::liability {

/// Executes each block once more, in memory. What judges throws simulation::Broken where a law does not hold.
class Judge {
  public:
    explicit Judge(const contracts::Genesis& genesis);

    contracts::BlockOutcome execute(const consensus::FinalizeRequest& request);
    /// Laws 1 and 3, as they show in the last block.
    void judge_block(const contracts::BlockOutcome& outcome) const;
    /// Law 3 for what waits for a block: nobody's money is promised twice.
    void judge_waiting(const std::vector<Bytes>& waiting, const contracts::StateView& state) const;
    /// Laws 2 and 3, when everything has ended.
    Balance judge_rest(model::Workshop& shop) const;

    const model::Mirror& chain() const { return mirror_; }
    /// What the last block's end did by a vote, or that two thirds in favour were not enough; empty for nothing.
    std::string what_passed() const;
    std::string name_of(const AccountId& account) const;
    /// Empty for what is not worth telling.
    std::string describe(const contracts::HistoryRecord& entry) const;
    /// Prints a block's transactions and what happened to tasks.
    void tell(Height height, const contracts::BlockOutcome& outcome) const;
    /// Of a task that is not over; empty when there is none. But for those in which an attacker's own bond is locked
    /// until a deadline that lies further than anybody waits.
    std::string describe_open() const;
    /// The task's state, and whether a group trained it and how often members were convicted.
    static std::string end_of(const model::Task& task);

    Ledger ledger;
    std::map<AccountId, std::string> names;

  private:
    bool is_parked(const model::Task& task) const;
    void judge_gas(const contracts::BlockOutcome& outcome) const;
    void judge_lane() const;
    void judge_slashes() const;
    void judge_beacon() const;
    void judge_votes() const;
    /// Whether the attackers had more than two thirds of the power at this height.
    bool had_majority(std::uint64_t height) const;

    static constexpr std::uint64_t kFarBlocks = 2'000;
    const contracts::Genesis& genesis_;
    std::uint64_t height_ = 0;
    contracts::test::MapView view_;
    model::Mirror mirror_;
    // As the last block found them.
    contracts::Params params_before_;
    std::map<std::uint64_t, std::uint32_t> plans_before_;
    std::vector<bool> majorities_;  ///< of the attackers, at the beginning of each block
};

}  // namespace assay::liability
