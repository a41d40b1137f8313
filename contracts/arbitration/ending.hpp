// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/result.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/disputes.hpp>
#include <contracts/stake/staking.hpp>

/// How disputes begin and end, for arbitration and verification. Each function that ends a dispute stores the dispute,
/// and the task unless it says otherwise.
namespace assay::contracts {

/// DSP-46: whether the challenger can cover its bond; fails with kInsufficientStake. Parties, subject and role of
/// `dispute` must be set.
Result<void, TxError> check_bond(const StateView& view, const Params& params, const Task& task, const Dispute& dispute);
/// DTY-6: whether the task has a free place in the lane of duties for this dispute, which is about to be opened.
bool has_place(const StateView& view, const Task& task, const Dispute& dispute);
/// DTY-5: fails with kDutiesFull if the dispute has no place in its task and the lane has no room.
Result<void, TxError> check_place(
    const StateView& view, const Params& params, const Task& task, const Dispute& dispute
);
/// DSP-46: takes the challenger's bond from the assignment's reserve or from free stake; takes none if
/// answers_on_task(). The caller stores the task.
void take_bond(Context& context, Task& task, Dispute& dispute);
/// DSP-46: whether the challenger is the task's solver, whose bond in the task covers the dispute. Nothing is set aside
/// from it.
bool answers_on_task(const Task& task, const Dispute& dispute) noexcept;

/// DSP-33: what a party has left of its clock when it moves now, at least the extension.
std::uint32_t clock_left(const Context& context, const Task& task, const Dispute& dispute, bool of_responder);
/// DSP-32: the game as it begins, with no deadline yet. Parties and claim of `dispute` must be set.
DisputeGame fresh_game(const Context& context, const Task& task, const Dispute& dispute);

/// Opens and stores a dispute whose responder, subject, role, claim and phase are set, and takes the actor's bond.
/// `disclosure` is the deadline of a dispute that awaits one; the others' follows from the clock. The caller stores the
/// task.
void enter_dispute(Context& context, Task& task, Dispute dispute, std::optional<Height> disclosure = std::nullopt);

/// Stores a dispute whose parties, subject, claim and phase are set, and for which the lane and the bond are taken. The
/// caller stores the task.
void store_opened(Context& context, Task& task, Dispute dispute, Height deadline);

/// Notes what was slashed by a dispute that is over. The caller stores it.
void note_outcome(Dispute& dispute, const PenaltyOutcome& outcome);

/// The dispute is over: it is no longer counted. The caller stores the task.
void forget_dispute(Context& context, Task& task, const DisputeId& id);

/// STM-9: whether an open accusation answers this dispute, or another one about the same claim, which stands still
/// until that has ended.
bool is_answered(const StateView& view, const Dispute& dispute);

/// The claim was wrong: convicts the solver (SET-2), refutes the verdict (DSP-43) or the profile (PRF-5), or ends a
/// false accusation (STM-10).
void refute_claim(Context& context, Task& task, Dispute dispute, Reason reason);

/// STM-10: the same for a solver's claim, where `culprit` is convicted in the place of the responder.
void refute_by(Context& context, Task& task, Dispute dispute, const AccountId& culprit);

/// The challenger was wrong: slashes its bond, of which the winner's share goes to the responder (SET-5). Of an
/// accusation it is the accused, who is convicted (STM-10).
void uphold_claim(Context& context, Task& task, Dispute dispute, Reason reason);

struct Refutation {
    VerdictStatus status = VerdictStatus::kRefuted;
    Reason reason = Reason::kLostDispute;
    std::optional<Dispute> dispute;  ///< the dispute that was won, if any
};
/// DSP-43: the verdict no longer counts. Its bond is slashed to the benefit of the first challenger of the refuted
/// part, if any; other disputes about it end as moot. The caller stores the task, which must contain `assignment`.
void refute_verdict(Context& context, Task& task, Assignment& assignment, Refutation refutation);

/// DSP-42: called for each dispute that awaited a verdict's disclosure. If the verdict was not a forced error, the game
/// begins; otherwise the dispute ends and the caller stores the task.
void begin_game(Context& context, const Task& task, Dispute dispute);
void end_dispute_as_forced(Context& context, Task& task, Dispute dispute);

}  // namespace assay::contracts
