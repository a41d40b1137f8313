// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/context.hpp>
#include <contracts/state/transaction.hpp>
#include <contracts/state/tx_error.hpp>

/// Disputes on the chain: opening, moves, clocks, rulings (DSP-30 and on). The game itself is core/dispute.
namespace assay::contracts {

Result<void, TxError> check_stateless(const OpenDispute& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const OpenDispute& action
) noexcept;
Result<void, TxError> execute(Context& context, const OpenDispute& action) noexcept;

Result<void, TxError> check_stateless(const RevealMove& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const RevealMove& action
) noexcept;
Result<void, TxError> execute(Context& context, const RevealMove& action) noexcept;

Result<void, TxError> check_stateless(const SelectMove& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const SelectMove& action
) noexcept;
Result<void, TxError> execute(Context& context, const SelectMove& action) noexcept;

Result<void, TxError> check_stateless(const ProveMove& action) noexcept;
/// Leaves the proof itself to judge_proof and execute: the referee runs once per transaction.
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProveMove& action
) noexcept;
Result<void, TxError> execute(Context& context, const ProveMove& action) noexcept;
/// What the referee says of the proof: kProofInvalid when it cannot use it (DSP-36).
Result<dispute::Ruling, TxError> judge_proof(const StateView& view, const ProveMove& action) noexcept;

/// DSP-30: "assay/dispute" over task, segment (u32), challenger and subject: one dispute of a subject per challenger.
DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger,
    const std::optional<DisputedVerdict>& verdict = std::nullopt
) noexcept;
/// Likewise of a part of a profile; the segment is 0 where the part is not of one.
DisputeId dispute_id(
    const TaskId& task, std::uint32_t segment, const AccountId& challenger, const DisputedProfile& profile
) noexcept;
/// DSP-41: "assay/seal" over the dispute and the probe root that its challenger found.
Hash256 challenge_seal(const DisputeId& dispute, const Hash256& found) noexcept;

/// DSP-37: what the solver claims of `segment` of a completed task.
dispute::Claim make_claim(const StateView& view, const Task& task, std::uint32_t segment);
/// The state root that it claims after it: the checkpoint's, or of the evaluation the score's.
Hash256 claimed_root(const StateView& view, const Task& task, std::uint32_t segment);
/// EVL-5: the claim that the spec's evaluation gives this score.
dispute::Claim make_evaluation_claim(const TaskSpec& spec, const Evaluation& evaluation);

/// DSP-41, DSP-45: what a verifier claims by a part of its verdict. kPartUnknown, or of a probe root
/// kNotPublished, when the verdict has no such part; kNotMeasured unless `roots` are there exactly for a measurement and
/// lead to the states that it is of.
Result<dispute::Claim, TxError> make_verdict_claim(
    const StateView& view, const Task& task, const Assignment& assignment, VerdictPart part,
    const std::optional<MeasuredRoots>& roots = std::nullopt
);

/// A measurement of three states, as the chain knows them.
struct Measured {
    std::array<Hash256, 3> states;  ///< start, replayed, claimed
    dispute::Measurement measurement;
    std::uint64_t seed = 0;  ///< of the sketches
};
/// DSP-45: the claim that the task's distance program makes the measurement of those states; kNotMeasured.
Result<dispute::Claim, TxError> make_distance_claim(
    const TaskSpec& spec, const Measured& measured, const std::optional<MeasuredRoots>& roots
);
/// What every claim over the task's own program has; its states and steps are yet to be set.
dispute::Claim base_claim(const TaskSpec& spec, std::uint32_t segment);

/// Opens a dispute by the context's actor, whose free stake covers the bond. The caller stores the task.
void open_dispute(Context& context, Task& task, std::uint32_t segment, Role role);

Result<void, TxError> check_stateless(const ChallengeVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const ChallengeVerdict& action) noexcept;

/// DSP-42: the first block in which a verdict may be disclosed that was challenged first by `dispute`: half a window
/// later, so that nobody's challenge cuts short what the others have not finished.
Height disclosed_from(const Params& params, const TaskSpec& spec, const Dispute& dispute) noexcept;

/// The open disputes over a verdict, in the order in which they were opened.
std::vector<Dispute> disputes_of(const StateView& view, const TaskId& task, const Assignment& assignment);

/// Whether the responder is to move; at kProof it is its clock that runs (DSP-32).
bool is_responders_turn(const Dispute& dispute) noexcept;

/// DSP-32, DSP-42: the clock of the party to move has run out, or the disclosure's. Stores dispute and task.
void lapse_dispute(Context& context, Dispute dispute);

}  // namespace assay::contracts
