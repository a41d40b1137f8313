// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <contracts/transaction/transaction.hpp>
#include <contracts/state/params.hpp>
#include <tests/model/records.hpp>

/// Duties and their lane, as docs/protocol/duties.md has them. Gas is the chain's.
namespace assay::model {

/// DTY-1: the bytes of an answer with this action at most; nullopt: it answers nothing.
std::optional<std::size_t> answer_bytes(const contracts::Action& action);

/// DTY-2: what names a duty.
struct Owed {
    AccountId debtor;
    Hash256 subject;
    std::uint32_t segment = 0;
    std::uint64_t due = 0;
    auto operator<=>(const Owed&) const = default;
};
/// What `who` answers with the action, if it is the one who owes that: whether it is, the action's own checks say, but
/// for moves.
std::optional<Owed> owed_by(
    const World& world, const contracts::Params& params, const AccountId& who, const contracts::Action& action
);

/// DTY-3
std::uint64_t imposed_by(const contracts::Action& action, const contracts::Params& params);

// DTY-5
std::uint64_t half_of_lane(const contracts::Params& params);
std::uint64_t weight_of_contributions(const contracts::Params& params);
std::uint64_t weight_of_dispute(const contracts::Params& params);
std::uint64_t weight_of_training(const contracts::Params& params);
std::uint64_t weight_of_profiling(const contracts::Params& params);
/// RET-5: one show.
std::uint64_t weight_of_show(const contracts::Params& params);
std::uint64_t weight_of_committee(const contracts::Params& params);
std::uint64_t weight_of_judging(const contracts::Params& params, const contracts::TaskSpec& spec);
/// What a task holds as it is.
std::uint64_t weight_of(const contracts::Params& params, const Task& task);
/// What everything that is owed in a task now weighs, with the disputes that have their place in it.
std::uint64_t owed_in(const contracts::Params& params, const World& world, const Task& task);
/// PAR-12: of the heaviest task that there can be.
std::uint64_t weight_at_most(const contracts::Params& params);

}  // namespace assay::model
