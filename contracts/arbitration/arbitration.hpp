// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/result.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/context.hpp>
#include <contracts/arbitration/actions/dispute_actions.hpp>
#include <contracts/state/tx_error.hpp>

/// Disputes on the chain: opening, moves, clocks and rulings (DSP-30 and later). The game itself is in core/dispute.
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
/// Does not check the proof itself: judge_proof and execute do, so that a proof is judged once per transaction.
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ProveMove& action
) noexcept;
Result<void, TxError> execute(Context& context, const ProveMove& action) noexcept;
/// The one-step verifier's ruling on the proof; fails with kProofInvalid if it refuses the proof (DSP-36).
Result<dispute::Ruling, TxError> judge_proof(const StateView& view, const ProveMove& action) noexcept;
/// The mempool's check of a proof: judge_proof() without its ruling.
Result<void, TxError> check_costly(const StateView& view, const ProveMove& action) noexcept;

/// DSP-37: the solver's claim about `segment` of a completed task.
dispute::Claim make_claim(const StateView& view, const Task& task, std::uint32_t segment);
/// The state root that the solver claims after the segment: the checkpoint's, or for the evaluation the score's.
Hash256 claimed_root(const StateView& view, const Task& task, std::uint32_t segment);
/// EVL-5: the claim that the spec's evaluation results in this score.
dispute::Claim make_evaluation_claim(const TaskSpec& spec, const Evaluation& evaluation);

/// DSP-41, DSP-45: the claim behind a part of a verifier's verdict. Fails with kPartUnknown, or for a probe root with
/// kNotPublished, if the verdict has no such part. Fails with kNotMeasured if `roots` are missing for a measurement, do
/// not match the measured states, or are given for another part.
Result<dispute::Claim, TxError> make_verdict_claim(
    const StateView& view, const Task& task, const Assignment& assignment, VerdictPart part,
    const std::optional<MeasuredRoots>& roots = std::nullopt
);

/// A measurement and the three states that it compares, as known to the chain.
struct Measured {
    std::array<Hash256, 3> states;  ///< start, replayed, claimed
    dispute::Measurement measurement;
    std::uint64_t seed = 0;  ///< seed of the sketches
};
/// DSP-45: the claim that the task's distance program outputs this measurement for those states. Fails with
/// kNotMeasured if `roots` are missing or do not match the states.
Result<dispute::Claim, TxError> make_distance_claim(
    const TaskSpec& spec, const Measured& measured, const std::optional<MeasuredRoots>& roots
);
/// The fields common to all claims about the task's own program. The caller sets states and steps.
dispute::Claim base_claim(const TaskSpec& spec, std::uint32_t segment);

/// Opens a dispute about the solver's segment. The context's actor is the challenger and must be able to cover the bond
/// (check_bond). The caller stores the task.
void open_dispute(Context& context, Task& task, std::uint32_t segment, Role role);

Result<void, TxError> check_stateless(const ChallengeVerdict& action) noexcept;
Result<void, TxError> check_stateful(
    const StateView& view, const Params& params, const AccountId& sender, const ChallengeVerdict& action
) noexcept;
Result<void, TxError> execute(Context& context, const ChallengeVerdict& action) noexcept;

/// DSP-42: the first block in which a verdict may be disclosed whose first challenge is `dispute`: half a challenge
/// window later, so that an early challenge does not prevent others from finishing theirs.
Height disclosed_from(const Params& params, const TaskSpec& spec, const Dispute& dispute) noexcept;

/// The open disputes about a verdict, in the order in which they were opened.
std::vector<Dispute> disputes_of(const StateView& view, const TaskId& task, const Assignment& assignment);

/// Whether the responder has to move. At a proof either party can, but the responder's clock runs (DSP-32).
bool is_responders_turn(const Dispute& dispute) noexcept;

/// DSP-32, DSP-42: called when the clock of the party to move has run out, or the deadline for disclosure has passed.
/// Stores dispute and task.
void lapse_dispute(Context& context, Dispute dispute);

}  // namespace assay::contracts
