// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <contracts/arbitration/arbitration.hpp>
#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <core/dispute/one_step_verifier.hpp>

/// Every reason that the rules give to refuse a verdict, a move in a dispute, a challenge or a divergence.
namespace assay::model {
namespace {

using contracts::TaskState;
using contracts::TxError;
using contracts::VerdictStatus;

/// NUM-6: whether the tile has an infinity or a NaN in a place that the tensor has. Paths are taken from the code.
bool is_not_finite(const dispute::StateOpening& opening) {
    const auto& [rows, cols] = opening.type.shape;
    const std::uint64_t across = (cols + 31U) / 32U;
    bool found = false;
    for (std::uint64_t i = 0; i < 32U * 32U; ++i) {
        const std::uint64_t row = opening.tile / across * 32U + i / 32U;
        const std::uint64_t col = opening.tile % across * 32U + i % 32U;
        const bool is_half = opening.type.dtype == canonical::DType::kBf16;
        std::array<std::uint8_t, 4> bytes{};
        const std::size_t size = is_half ? 2 : 4;
        std::memcpy(bytes.data() + 4 - size, opening.opening.tile.data.data() + size * i, size);
        float value = 0;
        std::memcpy(&value, bytes.data(), sizeof(value));
        found = found || (row < rows && col < cols && !std::isfinite(value));
    }
    return found;
}

/// TASK-13, VER-17.
bool shows_divergence(const dispute::StateOpening& opening, const Hash256& root, const contracts::TaskSpec& spec) {
    const canonical::DType dtype = opening.type.dtype;
    return (dtype == canonical::DType::kF32 || dtype == canonical::DType::kBf16) &&
           dispute::state_root_of(opening, spec.program.state_tensors) == root && is_not_finite(opening);
}

}  // namespace

Model::Why Model::why(const contracts::CommitVerdict& a) const {
    Why out;
    if (a.segment > 1'025) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kVerifying) {
        out.insert(TxError::kTaskState);
    }
    const Duty* duty = find_duty(*task, a.segment, who_);
    if (duty == nullptr) {
        out.insert(TxError::kNotAssigned);
    } else if (duty->status == VerdictStatus::kMissed) {
        out.insert(TxError::kPhase);
    } else if (duty->status != VerdictStatus::kDue) {
        out.insert(TxError::kAlreadyCommitted);
    }
    return out;
}

bool Model::rejects(const Task& task, std::uint32_t segment, const contracts::Verdict& verdict) const {
    if (is_exact(task, segment)) {
        return verdict.end_root != claimed_after(task, segment);  // VER-6
    }
    const contracts::Distances bound = task.profiling->threshold.value();
    return !verdict.measurement || dispute::relative_drift(verdict.measurement->parameters) > bound.parameters ||
           dispute::relative_drift(verdict.measurement->other) > bound.other;  // VER-18
}

Model::Why Model::why(const contracts::PublishVerdict& a) const {
    Why out;
    const contracts::Verdict& verdict = a.verdict;
    if (a.segment > 1'025 || (verdict.measurement && !dispute::is_possible(*verdict.measurement)) ||
        (a.divergence && !dispute::is_well_formed(*a.divergence))) {
        out.insert(TxError::kFieldOutOfRange);
        return out;
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (task->state != TaskState::kVerifying) {
        out.insert(TxError::kTaskState);
    }
    const Duty* duty = find_duty(*task, a.segment, who_);
    if (duty == nullptr) {
        out.insert(TxError::kNotAssigned);
        return out;
    }
    if (duty->status != VerdictStatus::kCommitted) {
        out.insert(TxError::kNotCommitted);
    }
    if (task->lottery.is_zero()) {
        out.insert(TxError::kPhase);  // VER-4
    }
    const bool exact = is_exact(*task, a.segment);
    const bool rejected = rejects(*task, a.segment, verdict);
    const auto& after = verdict.diverged_after;
    const bool fits = exact ? !verdict.measurement && !after : verdict.measurement.has_value() != after.has_value();
    if (!fits || (after && (*after < 1 || *after > steps_in(*task, a.segment))) || (!after && a.divergence)) {
        out.insert(TxError::kMeasurementMismatch);  // VER-17
    }
    if (after && !(a.divergence && shows_divergence(*a.divergence, verdict.end_root, task->spec))) {
        out.insert(TxError::kNoDivergence);  // VER-17
    }
    const auto& failed = verdict.failed_checks;
    const std::size_t checks = task->spec.checks.size();
    if (failed.has_value() != (checks != 0) || (failed && *failed >= 1U << checks)) {
        out.insert(TxError::kChecksMismatch);  // CHK-3
    }
    const bool probes = duty->probe != 0 && (exact ? !rejected : !after.has_value());
    if (verdict.probe_root.has_value() != probes) {
        out.insert(TxError::kProbeMismatch);  // VER-9, VER-17
    }
    return out;
}

Model::Why Model::why(const contracts::DiscloseVerdict& a) const {
    Why out;
    if (a.segment > 1'025 || a.opening.marks.size() > 9) {  // VER-9
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kVerifying && task->state != TaskState::kChallenge &&
        task->state != TaskState::kDisclosure) {
        out.insert(TxError::kTaskState);
    }
    const Duty* duty = find_duty(*task, a.segment, who_);
    if (duty == nullptr) {
        out.insert(TxError::kNotAssigned);
        return out;
    }
    if (!is_published(*duty)) {
        out.insert(TxError::kNotPublished);
    }
    if (duty->forced) {
        out.insert(TxError::kAlreadyDisclosed);
    }
    const std::vector<DisputeId> awaiting = awaiting_of(*task, a.segment, who_);
    if (task->state != TaskState::kDisclosure && awaiting.empty()) {
        out.insert(TxError::kPhase);  // VER-13
    }
    const bool is_early = std::any_of(awaiting.begin(), awaiting.end(), [&](const DisputeId& id) {
        return id == awaiting.front() && height_ < world_.disputes.at(id).opened_at + challenge_window(task->spec) / 2;
    });
    if (is_early) {
        out.insert(TxError::kPhase);  // DSP-42
    }
    return out;
}

Model::Why Model::why(const contracts::OpenDispute& a) const {
    Why out;
    if (a.role == Role::kSolver || a.role == Role::kValidator || a.segment > 1'025) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    const bool in_window = task->state == TaskState::kCompleted || task->state == TaskState::kVerifying ||
                           (task->state == TaskState::kChallenge && !task->suspended);
    if (!in_window) {
        out.insert(TxError::kTaskState);  // DSP-39
    }
    if (a.segment < first_of(task->spec) || a.segment > last_of(*task) + (task->evaluation ? 1U : 0U)) {
        out.insert(TxError::kSegmentUnknown);
    } else if (!is_exact(*task, a.segment)) {
        out.insert(TxError::kNotExact);
    } else if (in_window && who_answers(*task, a.segment) == who_) {
        out.insert(TxError::kNotParty);
    }
    if (world_.disputes.contains(contracts::dispute_id(a.task, a.segment, who_))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    if (!(a.role == Role::kVerifier && answers(*task, a.segment, nullptr))) {
        needs_stake(out, a.role, challenge_bond(*task));
    }
    Dispute opened;
    opened.task = a.task;
    opened.segment = a.segment;
    opened.challenger = who_;
    opened.role = a.role;
    if (!has_place(opened) && !has_room_for_dispute()) {
        out.insert(TxError::kDutiesFull);
    }
    return out;
}

Model::Why Model::why(const contracts::ChallengeVerdict& a) const {
    Why out;
    if (a.segment > 1'025 || a.role == Role::kValidator) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    const bool in_window =
        task->state == TaskState::kVerifying || (task->state == TaskState::kChallenge && !task->suspended);
    if (!in_window) {
        out.insert(TxError::kTaskState);
    }
    const Duty* duty = find_duty(*task, a.segment, a.verifier);
    if (duty == nullptr) {
        out.insert(TxError::kNotAssigned);
        return out;
    }
    if (!is_published(*duty)) {
        out.insert(TxError::kNotPublished);
        return out;
    }
    if (a.verifier == who_) {
        out.insert(TxError::kNotParty);
    }
    if (is_past(a.task, *duty)) {
        out.insert(TxError::kPhase);  // VER-22
    }
    const bool second = a.part == contracts::VerdictPart::kProbe && duty->forced == true;
    const contracts::DisputedVerdict subject{a.verifier, second, a.part};
    if (world_.disputes.contains(contracts::dispute_id(a.task, a.segment, who_, subject))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    const DisputeId first = contracts::dispute_id(a.task, a.segment, who_, contracts::DisputedVerdict{a.verifier});
    const bool found_true = second && a.seal == contracts::challenge_seal(first, duty->verdict.probe_root.value());
    if (second && (!task->second_window || found_true)) {
        out.insert(TxError::kPhase);  // VER-15
    }
    // DSP-41, DSP-45
    const bool measured = a.part == contracts::VerdictPart::kMeasurement;
    if (a.part == contracts::VerdictPart::kProbe && !duty->verdict.probe_root) {
        out.insert(TxError::kNotPublished);
    }
    if ((measured && !duty->verdict.measurement) ||
        (a.part == contracts::VerdictPart::kEnd && is_exact(*task, a.segment))) {
        out.insert(TxError::kPartUnknown);
    }
    if (a.roots.has_value() != measured || (measured && !duty->verdict.measurement && a.roots)) {
        out.insert(TxError::kNotMeasured);
    }
    const bool is_its_solver = a.role == Role::kSolver && task->solver == who_;
    if (!is_its_solver && !(a.role == Role::kVerifier && answers(*task, a.segment, duty))) {
        needs_stake(out, a.role, challenge_bond(*task));
    }
    Dispute opened;
    opened.task = a.task;
    opened.segment = a.segment;
    opened.challenger = who_;
    opened.role = a.role;
    opened.verdict = subject;
    if (!has_place(opened) && !has_room_for_dispute()) {
        out.insert(TxError::kDutiesFull);
    }
    return out;
}

// --- the lane of duties --------------------------------------------------------------------------------------

bool Model::is_kept_for(const Dispute& dispute) const {
    const Task& task = world_.tasks.at(dispute.task);
    if (dispute.profile) {
        return false;
    }
    const Duty* own = find_duty(task, dispute.segment, dispute.challenger);
    const bool published = own != nullptr && is_published(*own) && !is_past(dispute.task, *own);
    if (!dispute.verdict) {
        return own != nullptr &&
               (published || own->status == VerdictStatus::kDue || own->status == VerdictStatus::kCommitted);
    }
    if (is_exact(task, dispute.segment)) {
        return false;
    }
    const Duty& accused = *find_duty(task, dispute.segment, dispute.verdict->verifier);
    const bool contradicted = published && (own->verdict.end_root != accused.verdict.end_root ||
                                            own->verdict.measurement != accused.verdict.measurement ||
                                            own->verdict.diverged_after != accused.verdict.diverged_after);
    return is_solvers(dispute) || contradicted;
}

bool Model::has_place(const Dispute& dispute) const {
    if (!is_kept_for(dispute)) {
        return false;
    }
    const auto over = [](const Dispute& each) {
        return each.verdict ? std::optional{each.verdict->verifier} : std::nullopt;
    };
    for (const DisputeId& id : world_.tasks.at(dispute.task).disputes) {
        const Dispute& other = world_.disputes.at(id);
        const bool has_it = other.lane == 0 && other.challenger == dispute.challenger &&
                            other.segment == dispute.segment && over(other) == over(dispute);
        if (has_it) {
            return false;
        }
    }
    return true;
}

std::uint64_t Model::held_by_tasks() const {
    std::uint64_t held = 0;
    for (const auto& [id, task] : world_.tasks) {
        held += weight_of(params_, task);
    }
    return held;
}

std::uint64_t Model::held_by_disputes() const {
    std::uint64_t held = 0;
    for (const auto& [id, dispute] : world_.disputes) {
        held += dispute.lane;
    }
    return held;
}

bool Model::has_room_for_dispute() const {
    return flaw_ == Flaw::kOversells || held_by_disputes() + weight_of_dispute(params_) <= half_of_lane(params_);
}

bool Model::has_room_for_draw(contracts::Queue queue, const Task& task) const {
    std::uint64_t more = 0;
    if (queue == contracts::Queue::kSolver) {
        more = weight_of_training(params_);
    } else if (queue == contracts::Queue::kProfilers) {
        more = weight_of_profiling(params_);
    } else if (queue == contracts::Queue::kVerifiers) {
        more = needs_committee(task) ? weight_of_committee(params_) : weight_of_judging(params_, task.spec);
    } else if (queue == contracts::Queue::kShow) {
        more = weight_of_show(params_);
    }
    return held_by_tasks() + more <= half_of_lane(params_);
}

const Duty* Model::answers(const Task& task, std::uint32_t segment, const Duty* accused) const {
    // DSP-46
    const Duty* own = find_duty(task, segment, who_);
    if (own == nullptr || own->reserve < challenge_bond(task)) {
        return nullptr;
    }
    const bool contradicted = accused == nullptr || (is_published(*own) && !is_exact(task, segment) &&
                                                     (own->verdict.end_root != accused->verdict.end_root ||
                                                      own->verdict.measurement != accused->verdict.measurement ||
                                                      own->verdict.diverged_after != accused->verdict.diverged_after));
    return contradicted ? own : nullptr;
}

bool Model::is_solvers(const Dispute& dispute) const {
    return dispute.role == Role::kSolver && world_.tasks.at(dispute.task).solver == dispute.challenger;
}

Model::Why Model::why_not_party(const DisputeId& id, bool responder, bool challenger) const {
    const auto found = world_.disputes.find(id);
    if (found == world_.disputes.end()) {
        return {TxError::kDisputeUnknown};
    }
    Why out;
    const Dispute& dispute = found->second;
    const bool awaits = dispute.state == contracts::DisputeState::kAwaiting;
    if (!awaits && dispute.state != contracts::DisputeState::kActive) {
        out.insert(TxError::kDisputeOver);  // whatever becomes of other disputes of the claim
    } else if (awaits || stands_still(id)) {
        out.insert(TxError::kPhase);
    }
    if (!(responder && who_ == dispute.responder) && !(challenger && who_ == dispute.challenger)) {
        out.insert(TxError::kNotParty);
    }
    return out;
}

Model::Why Model::why(const contracts::RevealMove& a) const {
    if (a.children.empty() || a.children.size() > 256) {
        return {TxError::kFieldOutOfRange};
    }
    Why out = why_not_party(a.dispute, true, false);
    const auto game = games_.find(a.dispute);
    if (game != games_.end() && game->second.position.rounds != a.round) {
        out.insert(TxError::kWrongRound);
    }
    if (out.empty() && !dispute::reveal(game->second.claim, game->second.position, a.children)) {
        out.insert(TxError::kIllegalMove);
    }
    return out;
}

Model::Why Model::why(const contracts::SelectMove& a) const {
    if (a.selection.child > 256) {
        return {TxError::kFieldOutOfRange};
    }
    Why out = why_not_party(a.dispute, false, true);
    const auto game = games_.find(a.dispute);
    if (game != games_.end() && game->second.position.rounds != a.round) {
        out.insert(TxError::kWrongRound);
    }
    if (out.empty() && !dispute::select(game->second.claim, game->second.position, a.selection)) {
        out.insert(TxError::kIllegalMove);
    }
    return out;
}

Model::Why Model::why(const contracts::ProveMove& a) const {
    Why out = why_not_party(a.dispute, true, true);
    if (!out.empty()) {
        return out;
    }
    const Game& game = games_.at(a.dispute);
    const bool shows_divergence = std::holds_alternative<dispute::DivergenceProof>(a.proof);
    const dispute::Level least = shows_divergence ? dispute::Level::kNodes : dispute::Level::kProof;
    if (game.position.level() < least) {
        out.insert(TxError::kIllegalMove);
    } else if (!dispute::judge(game.claim, game.position, a.proof)) {
        out.insert(TxError::kProofInvalid);
    }
    return out;
}

Model::Why Model::why(const contracts::DeclareDivergence& a) const {
    Why out;
    if (!is_text(a.location, 256) || !dispute::is_well_formed(a.opening)) {
        return {TxError::kFieldOutOfRange};
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (task->state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    }
    if (!may_post(*task)) {
        out.insert(TxError::kNotSolver);
    }
    if (is_in_team(*task, who_) && task->state == TaskState::kTraining && is_too_early(a.task)) {
        out.insert(TxError::kNotNext);
    }
    const auto next = static_cast<std::uint32_t>(task->checkpoints.size());
    const bool known = next >= first_of(task->spec) && next <= last_of(*task);
    if (!known || a.step < steps_before(task->spec, next) ||
        a.step >= steps_before(task->spec, next) + steps_in(*task, next)) {
        out.insert(TxError::kCheckpointOrder);
    }
    if (!shows_divergence(a.opening, a.state_root, task->spec)) {
        out.insert(TxError::kNoDivergence);
    }
    if (a.sealed.has_value() != task->secret.has_value()) {
        out.insert(TxError::kSealedMismatch);  // PRV-6
    }
    return out;
}

}  // namespace assay::model
