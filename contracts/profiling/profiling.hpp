// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/state/context.hpp>
#include <contracts/profiling/actions/profile_actions.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/lifecycle/waiting.hpp>

/// Profiling of tolerance-mode tasks before they are solved: drawn verifiers measure the distance between native
/// training and the canonical replay on their own hardware; the task's threshold is derived from the unrefuted reports
/// (PRF rules).
namespace assay::contracts {

Result<void, TxError> check_stateless(const CommitProfile& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const CommitProfile& action
) noexcept;
Result<void, TxError> execute(Context& context, const CommitProfile& action) noexcept;

Result<void, TxError> check_stateless(const PublishProfile& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const PublishProfile& action
) noexcept;
Result<void, TxError> execute(Context& context, const PublishProfile& action) noexcept;

Result<void, TxError> check_stateless(const ChallengeProfile& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeProfile& action
) noexcept;
Result<void, TxError> execute(Context& context, const ChallengeProfile& action) noexcept;

/// PRF-5: the claim behind a part of a profiler's report. Fails with kPartUnknown or kNotMeasured.
Result<dispute::Claim, TxError> make_profile_claim(
    const Task& task, const ProfileReport& report, ProfilePart part, std::uint32_t segment,
    const std::optional<MeasuredRoots>& roots
);

/// PRF-1: draws the profilers of a task that waits for them. If the draw fails, returns the pause until the next one.
std::optional<Pause> draw_profilers(Context& context, Task& task, const ClosedRound& round);
/// Called when the deadline of the current profiling phase has passed.
void lapse_profiling(Context& context, Task& task);
/// PRV-10: called when no profiler of a private task waits for its key any more: their time begins. The caller stores
/// the task.
void begin_reports(Context& context, Task& task);
/// PRV-11: the profilers that were drawn have no key, or another one: their bonds return, and others are drawn at the
/// expense of the deposit. Stores the task.
void lapse_unread(Context& context, Task& task);

struct Bounds {
    Distances threshold;
    Distances reference;
};
/// PRF-6: derives threshold and d_ref from the unrefuted reports, of which at least `least` are needed. Fails with
/// kTooFew or kNotSeparated.
Result<Bounds, ProfilingOutcome> bounds_from(
    std::span<const ProfileReport> reports, std::uint32_t least, const dispute::ThresholdRule& rule
);

}  // namespace assay::contracts
