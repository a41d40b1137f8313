// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/verification/actions/verdict_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Verification of completed tasks: verifiers are drawn, then commit, publish and disclose verdicts (VER rules).
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
/// DSP-42: fails with kPhase if the verdict is challenged and cannot be disclosed yet at `height`. check_stateful must
/// have passed.
Result<void, TxError> check_owed(
    const StateView& view, const Params& params, const AccountId& sender, const DiscloseVerdict& action, Height height
) noexcept;
Result<void, TxError> execute(Context& context, const DiscloseVerdict& action) noexcept;

/// VER-1, AVL-7: draws segments and verifiers, or a committee (AVL-2), for a task that waits for them. If the draw
/// fails, returns the pause until the next one.
std::optional<Pause> draw_verifiers(Context& context, Task& task, const ClosedRound& round);
/// VER-7: whether a completed task keeps waiting for a draw after its deadline: the draw would succeed if no stake were
/// locked for other tasks.
bool waits_on(const Context& context, const Task& task);
/// AVL-8: unlocks the tenths of bonds that are held from verifiers that missed their commitments, because no committee
/// decided whose fault it was. The caller stores the task.
void return_tenths(Context& context, Task& task);
/// VER-10: draws the lottery of a task whose commit phase has ended, then probes and watchers. Stores the task.
void draw_lottery(Context& context, Task& task, const ClosedRound& round);
/// VER-10: draws the probe of each committed verdict from its marks. The caller stores the task.
void draw_probes(Task& task, const ClosedRound& round);
/// VER-12: draws the watchers of each committed verdict that has a probe. The caller stores the task.
void draw_watchers(Context& context, Task& task, const ClosedRound& round);

/// PRV-4: called when the solver of a private task has shared its keys with everybody who was waited for: the
/// verifiers' time begins, or what waited for the watchers goes on. The caller stores the task.
void take_keys(Context& context, Task& task);
/// VER-3, VER-4, PRV-4: called when the deadline of the commit or publication phase has passed.
void lapse_phase(Context& context, Task& task);
/// VER-13: called when the challenge window has ended with nothing open.
void end_window(Context& context, Task& task);
/// VER-5: called when the disclosure deadline has passed.
void lapse_disclosure(Context& context, Task& task);

/// VER-18 to VER-21, AVL-1, AVL-7: called when every verdict is disclosed and every window has ended. The task settles,
/// or in tolerance mode the solver may be convicted by distance. If a segment has no accepting verdict, the task waits
/// for a committee or for other verifiers, or expires. Stores the task.
void decide(Context& context, Task& task);
/// TASK-10, VER-15: begins a window of challenges. The caller stores the task.
void open_window(Context& context, Task& task);
/// VER-19, VER-21: the segments by whose verdicts the solver would be convicted if none of them were challenged.
std::set<std::uint32_t> convicting_segments(const Params& params, const Task& task);
/// VER-18: whether a published verdict accepts a segment that is judged by distance.
bool is_within_threshold(const Task& task, const Verdict& verdict) noexcept;

/// VER-5: burns a tenth of the bond, returns the rest and marks the assignment as missed. The caller stores the task,
/// which must contain `assignment`.
void miss(Context& context, Task& task, Assignment& assignment);

}  // namespace assay::contracts
