// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <contracts/state/context.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/task.hpp>

/// How tasks end and who is paid (SET rules). Each of these closes the task, ends as moot what is still open, returns
/// what bonds are left, pays the escrow out once, and stores the task.
namespace assay::contracts {

/// SET-1: every window has passed with nothing open, and every verdict is disclosed. While its ancestors are not over the task is
/// not closed and nobody is paid, but bonds are returned (LIN-3).
void settle(Context& context, Task& task);

/// SET-4: kCancelled, kExpired or kRefused: everything goes back where it came from.
void end_without_fraud(Context& context, Task& task, TaskState state);

struct Conviction {
    Reason reason = Reason::kLostDispute;
    std::vector<AccountId> winners{};  ///< SET-10; with nobody what is slashed is burned
    std::optional<std::uint32_t> segment{};  ///< the refuted one; its acceptors lose their bonds
};
/// SET-2: the solver was refuted, or did not serve what it must keep. Returns what became of the solver's bond.
PenaltyOutcome convict(Context& context, Task& task, const Conviction& conviction);

/// VER-16: pays each of those who won by a forced error of one verdict of this task, and records it.
void pay_jackpots(Context& context, Task& task, const std::vector<AccountId>& winners);

}  // namespace assay::contracts
