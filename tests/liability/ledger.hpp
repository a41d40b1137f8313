// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <contracts/tasks/task.hpp>
#include <tests/model/records.hpp>
#include <tests/model/workshop.hpp>

/// Who lost what in a run, by what is true and not by what the chain ruled.
namespace assay::liability {

struct Slash {
    AccountId from;
    std::uint64_t amount = 0;
    contracts::Reason reason = contracts::Reason::kMoot;
};

struct Ledger {
    std::set<AccountId> honest;
    std::vector<Slash> slashes;

    /// What honest accounts lost to slashes, what they earned and did not get, and what they paid for what is not
    /// there. Everything in `world` has ended.
    std::int64_t harm(const model::World& world, model::Workshop& shop) const;
};

/// Balance and stake, whatever its state.
std::uint64_t wealth(const model::World& world, const AccountId& account);

}  // namespace assay::liability
