// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/result.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/disputes.hpp>

/// How disputes begin and end, for arbitration and verification. Each function that ends one stores it and the task.
namespace assay::contracts {

/// DSP-46: whether the challenger of a dispute whose names and role are set has what answers for it:
/// kInsufficientStake.
Result<void, TxError> check_bond(const StateView& view, const Params& params, const Task& task, const Dispute& dispute);
/// DTY-6: whether the task keeps a place in the lane of duties for the dispute, which is about to be opened, and it is free.
bool has_place(const StateView& view, const Task& task, const Dispute& dispute);
/// DTY-5: kDutiesFull when it has no place and the lane has no room.
Result<void, TxError> check_place(const StateView& view, const Params& params, const Task& task, const Dispute& dispute);
/// DSP-46: takes the challenger's bond from where it is. The caller stores the task.
void take_bond(Context& context, Task& task, Dispute& dispute);
/// DSP-46: whether the solver answers for its dispute with the bond of the task, of which nothing is set apart.
bool answers_on_task(const Task& task, const Dispute& dispute) noexcept;

/// Stores a dispute whose names, role and claim are set; takes the actor's bond. The caller stores the task.
void enter_dispute(Context& context, Task& task, Dispute dispute, Height deadline);

/// The responder was wrong: the task is convicted (SET-2), or the verdict (DSP-43) or the profile (PRF-5) refuted.
void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason);

/// The challenger was wrong: its bond is slashed, the winner's share goes to the responder (SET-5).
void uphold_claim(Context& context, Task& task, Dispute dispute, Reason reason);

struct Refutation {
    VerdictStatus status = VerdictStatus::kRefuted;
    Reason reason = Reason::kLostDispute;
    std::optional<Dispute> dispute;  ///< the one that was won by it
};
/// DSP-43: a verdict counts no more, and its bond is lost to the first challenger of what is refuted, if any; other
/// disputes over it are moot. The caller stores the task, whose `assignment` it is.
void refute_verdict(Context& context, Task& task, Assignment& assignment, Refutation refutation);

/// DSP-42: a challenged verdict was disclosed: what waited for it ends where it was forced to be wrong, else begins.
void begin_game(Context& context, Dispute dispute);
void end_dispute_as_forced(Context& context, Task& task, Dispute dispute);

}  // namespace assay::contracts
