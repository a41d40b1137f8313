// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <contracts/state/context.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>

/// Ends of tasks and their payments (SET rules). settle(), end_without_fraud() and convict() each close the task, end
/// open disputes as moot, return the remaining bonds, pay out the escrow and store the task; convict() cuts the task
/// instead where something of it remains (GRP-7).
namespace assay::contracts {

/// SET-1: called when every window has ended with nothing open and every verdict is disclosed. While an ancestor has
/// not ended, only bonds are returned: the task is not closed and nobody is paid (LIN-3). A task whose result is kept
/// is not closed: what keeping it can earn stays in escrow, and a part of the solver's bond stays locked (RET-2).
void settle(Context& context, Task& task);

/// RET-4: height at which the next tile of a kept result is drawn.
Height next_show(const Task& task) noexcept;
/// RET-5, RET-6: ends the keeping of a result and closes the task. `is_whole`: every tile that was drawn was shown;
/// otherwise the bond is burned. What was not earned goes back to the submitter.
void end_keeping(Context& context, Task& task, bool is_whole);

/// SET-4: `state` is kCancelled, kExpired or kRefused; escrow and bonds are returned to their owners.
void end_without_fraud(Context& context, Task& task, TaskState state);

struct Conviction {
    Reason reason = Reason::kLostDispute;
    std::vector<AccountId> winners{};        ///< SET-10; if empty, everything slashed is burned
    std::optional<std::uint32_t> segment{};  ///< the one at fault, if any: its responder is convicted, and verifiers
                                             ///< who accepted it lose their bonds
    /// STM-10: who is convicted in the responder's place. Nothing is shown of the segment then: its verifiers keep
    /// their bonds.
    std::optional<AccountId> culprit{};
};
/// SET-2: convicts a solver, or the member that answers for the segment (GRP-5), that was refuted or did not serve the
/// required data. Returns the outcome for its bond.
PenaltyOutcome convict(Context& context, Task& task, const Conviction& conviction);

/// STM-10, STM-11: slashes half of the bond of a member that stated something wrong, and takes its pay; the task goes
/// on. The caller stores the task.
PenaltyOutcome convict_member(
    Context& context, Task& task, const AccountId& member, Reason reason, const AccountId& winner
);

/// VER-16: pays the jackpot to each winner of one forced verdict of this task, and records the payments.
void pay_jackpots(Context& context, Task& task, const std::vector<AccountId>& winners);

}  // namespace assay::contracts
