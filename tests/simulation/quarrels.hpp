// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <contracts/state/history.hpp>
#include <contracts/state/params.hpp>
#include <tests/model/records.hpp>
#include <tests/simulation/ends.hpp>

/// What members of groups that compute each step together do to each other on the chain: how often, and whether each of
/// two pays the same for a demand.
namespace assay::simulation {

class Quarrels {
  public:
    using NameOf = std::function<std::string(const AccountId&)>;
    explicit Quarrels(NameOf kind_of) : kind_of_(std::move(kind_of)) {}

    void note(const contracts::HistoryRecord& entry);
    /// After a block's last entry. Throws Broken if a demand cost the two different amounts, or has not ended the seats
    /// of who is out (GRP-14).
    void end_block(const model::World& world, const contracts::Params& params);
    /// GRP-14: says so if more than two demands were made of a member that is not excused; empty if not.
    std::string fault_of_demands(const contracts::TaskId& task, const IsHonest& is_excused) const;
    const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

  private:
    struct Demand {
        contracts::TaskId task;
        contracts::history::Demanded event;
        std::vector<contracts::history::Slashed> paid{};
    };
    void note_end(const contracts::history::DisputeEnded& ended);

    NameOf kind_of_;
    std::map<contracts::DisputeId, std::string> accusations_;  ///< what each is, in words
    std::vector<Demand> demands_;                              ///< of this block
    std::map<std::pair<contracts::TaskId, AccountId>, std::uint64_t> demanded_of_;
    std::map<contracts::TaskId, std::set<AccountId>> seated_;  ///< by the last list
    std::map<std::string, std::uint64_t> counts_;
};

}  // namespace assay::simulation
