// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Drawing verifiers after completion; verdicts committed, published, disclosed (VER rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const CommitVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const CommitVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const CommitVerdict& action) noexcept;

Result<void, TxError> check_stateless(const PublishVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const PublishVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const PublishVerdict& action) noexcept;

Result<void, TxError> check_stateless(const DiscloseVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const DiscloseVerdict& action
) noexcept;
/// DSP-42: kPhase for a challenged verdict that may not be disclosed in the block at this height yet. The other checks hold.
Result<void, TxError> check_disclosed_at(
    const StateView& view, const Params& params, const AccountId& sender, const DiscloseVerdict& action, Height height
) noexcept;
Result<void, TxError> execute(Context& context, const DiscloseVerdict& action) noexcept;

/// VER-1, AVL-7: draws segments and verifiers, or a committee (AVL-2), for a task that waits for them.
/// Returns the pause until the next draw where this one has failed.
std::optional<Pause> draw_verifiers(Context& context, Task& task, const ClosedRound& round);
/// VER-7: whether a completed task waits on for a draw, however long it has: it would succeed if no stake were locked for
/// other tasks.
bool waits_on(const Context& context, const Task& task);
/// AVL-8: returns the tenths that are held of the silent: nobody could be found to say whose fault it was. The caller stores the task.
void return_tenths(Context& context, Task& task);
/// VER-10: the lottery of a task whose commit phase is over, and its watchers.
void draw_lottery(Context& context, Task& task, const ClosedRound& round);
/// VER-10: draws the probe of each committed verdict among its marks. The caller stores the task.
void draw_probes(Task& task, const ClosedRound& round);
/// VER-12: draws the watchers of each committed verdict with a probe. The caller stores the task.
void draw_watchers(Context& context, Task& task, const ClosedRound& round);

/// VER-3, VER-4: the deadline of the commit or the publication phase has passed.
void lapse_phase(Context& context, Task& task);
/// VER-13: the challenge window has passed with nothing open.
void end_window(Context& context, Task& task);
/// VER-5: the time to disclose has passed.
void lapse_disclosure(Context& context, Task& task);

/// VER-18 to VER-21, AVL-1, AVL-7: every verdict is disclosed and every window is over: the task settles, or in tolerance mode by
/// what stands the solver is convicted; where a segment has no accepting verdict the task waits for a committee, or for
/// other verifiers, or it expires. Stores the task.
void decide(Context& context, Task& task);
/// VER-18: whether a published verdict on a segment that is judged by distance accepts it.
bool is_within_threshold(const Task& task, const Verdict& verdict) noexcept;

/// VER-5: a tenth of the bond is burned, the rest goes back. The caller stores the task, whose `assignment` it is.
void miss(Context& context, Task& task, Assignment& assignment);

}  // namespace assay::contracts
