// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/chain/gas.hpp>
#include <contracts/params/rules.hpp>
#include <contracts/validators/validators.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/ed25519.hpp>
#include <tests/model/crowd.hpp>
#include <verifier/trace/commitment.hpp>
#include <verifier/trace/referee.hpp>

/// Every reason that the rules give to refuse an action. Which of several a receipt names is the chain's choice.
namespace assay::model {
namespace {

using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::TaskState;
using contracts::TxError;
using contracts::VerdictStatus;

bool is_text(const std::string& text, std::size_t most) {
    return text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) { return c >= 32 && c <= 126; });
}

std::uint64_t rounds_for(std::uint64_t items) {
    std::uint64_t rounds = 0;
    for (std::uint64_t covered = 1; covered < items; covered *= 256) {
        ++rounds;
    }
    return rounds;
}

/// TASK-2, as far as it looks at the specification alone.
bool is_sound(const contracts::TaskSpec& spec) {
    const trace::ProgramCommitment& program = spec.program;
    const bool texts = is_text(spec.title, 64) && is_text(spec.program_artifact.location, 256) &&
                       is_text(spec.dataset_artifact.location, 256);
    const bool sizes = program.state_tensors >= 1 && program.state_tensors <= 1'024 && program.init_nodes >= 1 &&
                       program.init_nodes <= 10'000 && program.step_nodes >= 2 && program.step_nodes <= 10'000 &&
                       program.batch_size >= 1 && program.dataset.rows >= 1 && program.dataset.width >= 1 &&
                       program.dataset.width <= 4'096;
    const bool initial =
        program.initial_tensors <= 1'024 && (program.initial_tensors > 0) == !program.initial_root.is_zero();
    const bool names_initial = spec.initial_artifact.has_value() == (program.initial_tensors > 0 && !spec.parent);
    const bool spans = spec.steps >= 1 && spec.checkpoint_interval >= 1 && spec.training_blocks >= 1;
    if (!texts || !sizes || !initial || !names_initial || !spans) {
        return false;
    }
    const std::uint64_t segments = (spec.steps - 1) / spec.checkpoint_interval + 1;
    if (segments <= 1'024 && spec.training_blocks < segments + 2 + spec.steps / 1'000) {
        return false;  // TASK-16
    }
    const bool tolerant = spec.mode == contracts::Mode::kTolerance;
    const bool distance = tolerant ? spec.distance && program.state_tensors <= 256 && spec.distance->nodes >= 1 &&
                                         spec.distance->nodes <= 10'000
                                   : !spec.distance;
    const auto& evaluation = spec.evaluation;
    const bool evaluated = !evaluation || (evaluation->nodes >= 1 && evaluation->nodes <= 10'000 &&
                                           !evaluation->holdout.is_zero() && program.state_tensors <= 512 &&
                                           is_text(evaluation->data.location, 256));
    const std::uint64_t step =
        rounds_for(std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval)) + rounds_for(program.step_nodes);
    const std::uint64_t distances = spec.distance ? rounds_for(spec.distance->nodes) : 0;
    const std::uint64_t evaluating = evaluation ? rounds_for(evaluation->nodes) : 0;
    return distance && evaluated && segments <= 1'024 && spec.steps <= ~std::uint64_t{0} / program.batch_size &&
           std::max({step, rounds_for(program.init_nodes), distances, evaluating}) + 4 <= 8;
}

/// What the model does not compute but takes from the receipt.
bool is_chains_to_say(const contracts::Action& action, TxError code) {
    if (std::holds_alternative<contracts::ServeChunk>(action)) {
        return code == TxError::kChunkInvalid || code == TxError::kFieldOutOfRange;
    }
    const auto* verdict = std::get_if<contracts::ChallengeVerdict>(&action);
    const auto* profile = std::get_if<contracts::ChallengeProfile>(&action);
    return code == TxError::kNotMeasured &&
           ((verdict != nullptr && verdict->part == contracts::VerdictPart::kMeasurement) ||
            (profile != nullptr && contracts::is_measured(profile->part)));
}

/// NUM-6: whether the tile has an infinity or a NaN in a place that the tensor has. Paths are taken from the code.
bool is_not_finite(const trace::StateOpening& opening) {
    const auto& [rows, cols] = opening.type.shape;
    const std::uint64_t across = (cols + 31U) / 32U;
    bool found = false;
    for (std::uint64_t i = 0; i < 32U * 32U; ++i) {
        const std::uint64_t row = opening.tile / across * 32U + i / 32U;
        const std::uint64_t col = opening.tile % across * 32U + i % 32U;
        float value = 0;
        std::memcpy(&value, opening.opening.tile.data.data() + 4 * i, sizeof(value));
        found = found || (row < rows && col < cols && !std::isfinite(value));
    }
    return found;
}

/// TASK-13, VER-17.
bool shows_divergence(const trace::StateOpening& opening, const Hash256& root, const contracts::TaskSpec& spec) {
    return opening.type.dtype == canonical::DType::kF32 &&
           trace::state_root_of(opening, spec.program.state_tensors) == root && is_not_finite(opening);
}

std::string show(const std::set<TxError>& why) {
    std::string out;
    for (const TxError error : why) {
        out += std::string(out.empty() ? "" : ", ") + to_string(error);
    }
    return out.empty() ? "nothing" : out;
}

}  // namespace

Model::Why Model::charge(const Sent& sent) {
    Why unpaid = why_not_paid(sent);
    if (unpaid.empty()) {
        // FEE-1, FEE-3: every fee of the block is taken before its first action.
        const std::uint64_t gas = gas_of(sent);
        Person& sender = world_.people[sent.body.sender];
        sender.balance -= sent.body.fee.grains;
        sender.nonce += 1;
        world_.treasury += gas * params_.gas_price_min.grains;
        world_.burned += sent.body.fee.grains - gas * params_.gas_price_min.grains;
        gas_ += gas;
    }
    return unpaid;
}

std::uint64_t Model::gas_of(const Sent& sent) const {
    return contracts::gas_of_bytes(sent.bytes, params_);
}

std::uint64_t Model::base_fee() const {
    return world_.base_fee.value_or(params_.gas_price_min.grains);
}

void Model::move_base_fee() {
    // FEE-2
    const std::uint64_t target = params_.block_gas_max / 2;
    const std::uint64_t used = std::min<std::uint64_t>(gas_, params_.block_gas_max);
    std::uint64_t next = base_fee();
    if (used > target) {
        next += std::max<std::uint64_t>(1, next * (used - target) / target / 8);
    } else if (used < target) {
        const std::uint64_t fall = std::max<std::uint64_t>(1, next * (target - used) / target / 8);
        next = fall > next ? 0 : next - fall;
    }
    next = std::min<std::uint64_t>(next, 1'000'000'000);
    world_.base_fee.reset();
    if (next > params_.gas_price_min.grains) {
        world_.base_fee = next;
    }
}

std::string Model::check_receipt(const Sent& sent, const Why& unpaid, const contracts::Receipt& receipt) {
    const auto code = static_cast<TxError>(receipt.code);
    const auto told = [&](const std::set<TxError>& expected) {
        return std::string(action_name(sent.body.action)) + " by " + name_of(sent.body.sender) + ": the chain says " +
               (receipt.code == 0 ? "ok" : to_string(code)) + ", the model knows of " + show(expected);
    };
    if (!unpaid.empty()) {
        return unpaid.contains(code) && !receipt.is_charged ? std::string{} : told(unpaid);
    }
    if (!receipt.is_charged) {
        return told({});
    }
    who_ = sent.body.sender;
    nonce_ = sent.body.nonce;
    size_ = sent.bytes.size();
    const Why reasons = why(sent.body.action);
    if (reasons.empty() && receipt.code == 0) {
        std::visit([this](const auto& action) { act(action); }, sent.body.action);
        return {};
    }
    const bool agree = receipt.code != 0 && (reasons.contains(code) || is_chains_to_say(sent.body.action, code));
    return agree ? std::string{} : told(reasons);
}

Model::Why Model::why_not_paid(const Sent& sent) const {
    // TX-1 to TX-5, TX-7
    if (!sent.broken.empty()) {
        return sent.broken;
    }
    Why out;
    const auto found = world_.people.find(sent.body.sender);
    const Person person = found == world_.people.end() ? Person{} : found->second;
    if (sent.body.nonce != person.nonce) {
        out.insert(sent.body.nonce < person.nonce ? TxError::kNonceTooLow : TxError::kNonceTooHigh);
    }
    if (sent.body.fee.grains < gas_of(sent) * base_fee()) {
        out.insert(TxError::kFeeTooLow);
    }
    if (sent.body.fee.grains > person.balance) {
        out.insert(TxError::kCannotPayFee);
    }
    return out;
}

Model::Why Model::why(const contracts::Action& action) const {
    return std::visit([this](const auto& concrete) { return why(concrete); }, action);
}

bool Model::needs_stake(Why& why, Role role, std::uint64_t amount) const {
    const auto found = world_.stakes.find({role, who_});
    const bool short_of = (found == world_.stakes.end() ? 0 : found->second.free) < amount;
    if (short_of) {
        why.insert(TxError::kInsufficientStake);  // STK-2
    }
    return short_of;
}

Model::Why Model::why(const contracts::Transfer& a) const {
    Why out;
    const std::uint64_t amount = a.amount.grains;
    if (amount == 0) {
        out.insert(TxError::kFieldOutOfRange);
    }
    if (world_.people.at(who_).balance < amount) {
        out.insert(TxError::kInsufficientBalance);
    }
    const auto to = world_.people.find(a.to);
    if (a.to != who_ && to != world_.people.end() && to->second.balance > ~std::uint64_t{0} - amount) {
        out.insert(TxError::kOverflow);
    }
    return out;
}

Model::Why Model::why(const contracts::Bond& a) const {
    Why out;
    if (a.amount.grains == 0) {
        out.insert(TxError::kFieldOutOfRange);
    }
    if (world_.people.at(who_).balance < a.amount.grains) {
        out.insert(TxError::kInsufficientBalance);
    }
    return out;
}

Model::Why Model::why(const contracts::Unbond& a) const {
    Why out;
    if (a.amount.grains == 0) {
        out.insert(TxError::kFieldOutOfRange);
    }
    needs_stake(out, a.role, a.amount.grains);
    const auto stake = world_.stakes.find({a.role, who_});
    if (stake != world_.stakes.end() && stake->second.parts.size() >= 16) {
        out.insert(TxError::kTooManyUnbondings);  // STK-4
    }
    return out;
}

Model::Why Model::why(const contracts::SubmitTask& a) const {
    Why out;
    const contracts::TaskSpec& spec = a.spec;
    const bool sound = is_sound(spec);
    if (!sound || (spec.mode == contracts::Mode::kTolerance &&
                   (spec.steps - 1) / spec.checkpoint_interval + 1 < params_.profile_segments)) {
        out.insert(TxError::kSpecInvalid);
    }
    if (spec.reward.grains > ~std::uint64_t{0} - spec.verification_fee.grains) {
        out.insert(TxError::kOverflow);
    } else {
        const std::uint64_t value = spec.reward.grains + spec.verification_fee.grains;
        if (value > params_.task_value_max.grains && flaw_ != Flaw::kAnyValue) {
            out.insert(TxError::kValueTooHigh);  // TASK-14
        }
        if (world_.people.at(who_).balance < value + deposit_of(spec)) {
            out.insert(TxError::kInsufficientBalance);  // TASK-17
        }
    }
    if (spec.hardware_class > params_.hardware_classes.size()) {
        out.insert(TxError::kHardwareUnknown);  // HW-1
    }
    if (spec.parent) {
        // LIN-1
        const Task* parent = find(*spec.parent);
        const bool fit = parent != nullptr &&
                         (parent->state == TaskState::kCompleted || parent->state == TaskState::kVerifying ||
                          parent->state == TaskState::kChallenge || parent->state == TaskState::kDisclosure ||
                          parent->state == TaskState::kSettled) &&
                         !parent->diverged_at && !parent->tainted_by && parent->depth < 32 &&
                         parent->spec.program.state_tensors == spec.program.state_tensors;
        if (!fit) {
            out.insert(TxError::kParentUnfit);
        }
    }
    return out;
}

Model::Why Model::why(const contracts::AcceptTask& a) const {
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kDrawn) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    needs_stake(out, Role::kSolver, bond_of(Role::kSolver, *task));
    return out;
}

Model::Why Model::why(const contracts::DeclineTask& a) const {
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kDrawn) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    return out;
}

Model::Why Model::why(const contracts::PostCheckpoint& a) const {
    Why out;
    if (a.index > 1'024 || !is_text(a.artifact.location, 256)) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    if (a.index != task->checkpoints.size() || a.index > last_of(*task)) {
        out.insert(TxError::kCheckpointOrder);
    }
    if (a.index == 0 && task->spec.parent && a.state_root != find(*task->spec.parent)->checkpoints.back()) {
        out.insert(TxError::kNotParentsState);  // LIN-2
    }
    return out;
}

Model::Why Model::why(const contracts::CompleteTask& a) const {
    const auto& evaluation = a.evaluation;
    if (evaluation && (evaluation->score >> 23U & 0xffU) == 0xffU) {
        return {TxError::kFieldOutOfRange};  // EVL-3
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    if (task->checkpoints.size() != last_of(*task) + 1U) {
        out.insert(TxError::kCheckpointsMissing);
    }
    if (evaluation.has_value() != task->spec.evaluation.has_value()) {
        out.insert(TxError::kEvaluationMismatch);  // EVL-4
    }
    const std::uint32_t tensors = task->spec.program.state_tensors;
    if (evaluation && (task->checkpoints.empty() ||
                       trace::state_root_from(tensors, evaluation->tensors_root) != task->checkpoints.back())) {
        out.insert(TxError::kNotFinalState);  // EVL-4
    }
    return out;
}

Model::Why Model::why(const contracts::CancelTask& a) const {
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kOpen && task->state != TaskState::kDrawn) {
        out.insert(TxError::kTaskState);  // TASK-12
    }
    if (task->submitter != who_) {
        out.insert(TxError::kNotSubmitter);
    }
    return out;
}

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
    return !verdict.measurement || trace::relative_drift(verdict.measurement->parameters) > bound.parameters ||
           trace::relative_drift(verdict.measurement->other) > bound.other;  // VER-18
}

Model::Why Model::why(const contracts::PublishVerdict& a) const {
    Why out;
    const contracts::Verdict& verdict = a.verdict;
    if (a.segment > 1'025 || (verdict.measurement && !trace::is_possible(*verdict.measurement)) ||
        (a.divergence && !trace::is_well_formed(*a.divergence))) {
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
    const bool probes = duty->probe != 0 && (exact ? !rejected : !after.has_value());
    if (verdict.probe_root.has_value() != probes) {
        out.insert(TxError::kProbeMismatch);  // VER-9, VER-17
    }
    return out;
}

Model::Why Model::why(const contracts::DiscloseVerdict& a) const {
    Why out;
    if (a.segment > 1'025) {
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
        return id == awaiting.front() && height_ < world_.disputes.at(id).opened_at + params_.challenge_blocks / 2;
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
    }
    if (task->solver == who_) {
        out.insert(TxError::kNotParty);
    }
    if (world_.disputes.contains(contracts::dispute_id(a.task, a.segment, who_))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    if (!(a.role == Role::kVerifier && answers(*task, a.segment, nullptr))) {
        needs_stake(out, a.role, challenge_bond(*task));
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
    const bool second = a.part == contracts::VerdictPart::kProbe && duty->forced == true;
    const contracts::DisputedVerdict subject{a.verifier, second, a.part};
    if (world_.disputes.contains(contracts::dispute_id(a.task, a.segment, who_, subject))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    if (second && !task->second_window) {
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
    if (a.role == Role::kSolver && task->solver == who_) {
        std::uint64_t needed = challenge_bond(*task);
        for (const DisputeId& id : task->disputes) {
            needed += is_solvers(world_.disputes.at(id)) ? challenge_bond(*task) : 0;
        }
        if (needed > task->solver_bond) {
            out.insert(TxError::kInsufficientStake);  // DSP-46
        }
    } else if (!(a.role == Role::kVerifier && answers(*task, a.segment, duty))) {
        needs_stake(out, a.role, challenge_bond(*task));
    }
    return out;
}

const Duty* Model::answers(const Task& task, std::uint32_t segment, const Duty* accused) const {
    // DSP-46
    const Duty* own = find_duty(task, segment, who_);
    if (own == nullptr || own->reserve < challenge_bond(task)) {
        return nullptr;
    }
    const bool contradicted = accused == nullptr ||
                              (is_published(*own) && !is_exact(task, segment) &&
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
    if (dispute.state == contracts::DisputeState::kAwaiting) {
        out.insert(TxError::kPhase);
    } else if (dispute.state != contracts::DisputeState::kActive) {
        out.insert(TxError::kDisputeOver);
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
    if (out.empty() && !trace::reveal(game->second.claim, game->second.position, a.children)) {
        out.insert(TxError::kIllegalMove);
    }
    return out;
}

Model::Why Model::why(const contracts::SelectMove& a) const {
    if (a.selection.child >= 256) {
        return {TxError::kFieldOutOfRange};
    }
    Why out = why_not_party(a.dispute, false, true);
    const auto game = games_.find(a.dispute);
    if (game != games_.end() && game->second.position.rounds != a.round) {
        out.insert(TxError::kWrongRound);
    }
    if (out.empty() && !trace::select(game->second.claim, game->second.position, a.selection)) {
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
    if (game.position.level < (a.proof.divergence ? trace::Level::kNodes : trace::Level::kProof)) {
        out.insert(TxError::kIllegalMove);
    } else if (!trace::judge(game.claim, game.position, a.proof)) {
        out.insert(TxError::kProofInvalid);
    }
    return out;
}

Model::Why Model::why(const contracts::ChallengeAvailability& a) const {
    Why out;
    if (a.role == Role::kSolver || a.role == Role::kValidator || a.checkpoint > 1'024 || a.tensor >= 1'024) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    const bool in_window = task->state == TaskState::kTraining || task->state == TaskState::kCompleted ||
                           task->state == TaskState::kVerifying ||
                           (task->state == TaskState::kChallenge && !task->suspended);
    if (!in_window) {
        out.insert(TxError::kTaskState);
    }
    if (a.checkpoint >= task->checkpoints.size() || a.tensor >= task->spec.program.state_tensors) {
        out.insert(TxError::kCheckpointUnknown);
    }
    if (task->solver == who_) {
        out.insert(TxError::kNotParty);
    }
    needs_stake(out, a.role, challenge_bond(*task));
    return out;
}

Model::Why Model::why(const contracts::ServeChunk& a) const {
    const auto found = world_.challenges.find(a.challenge);
    if (found == world_.challenges.end()) {
        return {TxError::kChallengeUnknown, TxError::kFieldOutOfRange};
    }
    return found->second.state == contracts::ChallengeState::kOpen
               ? Why{}
               : Why{TxError::kChallengeOver, TxError::kFieldOutOfRange};
}

Model::Why Model::why(const contracts::DeclareDivergence& a) const {
    Why out;
    if (!is_text(a.artifact.location, 256) || !trace::is_well_formed(a.opening)) {
        return {TxError::kFieldOutOfRange};
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (task->state != TaskState::kTraining) {
        out.insert(TxError::kTaskState);
    }
    if (task->solver != who_) {
        out.insert(TxError::kNotSolver);
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
    return out;
}

/// VAL-1: the least stake of those that are listed and not in the set, if it is less than the sender's.
std::optional<AccountId> Model::giving_way_as_validator() const {
    const auto free = [&](const AccountId& account) {
        const auto found = world_.stakes.find({Role::kValidator, account});
        return found == world_.stakes.end() ? 0 : found->second.free;
    };
    std::optional<AccountId> least;
    for (const AccountId& account : world_.listed) {
        const bool idle = world_.validators.at(account).power == 0 && free(account) < free(who_);
        if (idle && (!least || free(account) < free(*least))) {
            least = account;
        }
    }
    return least;
}

Model::Why Model::why(const contracts::RegisterValidator& a) const {
    Why out;
    if (a.key.is_zero()) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Hash256 claim = contracts::consensus_key_claim(Crowd::kChainId, who_);
    if (!crypto::verify_ed25519(a.key.view(), claim.view(), a.proof.view())) {
        out.insert(TxError::kKeyNotProven);
    }
    bool taken = std::find(world_.listed.begin(), world_.listed.end(), who_) != world_.listed.end();
    for (const auto& [account, validator] : world_.validators) {
        taken = taken || (account == who_ && (validator.banned || validator.key != a.key)) ||
                (account != who_ && validator.key == a.key);
    }
    if (taken) {
        out.insert(TxError::kAlreadyRegistered);
    }
    needs_stake(out, Role::kValidator, params_.validator_stake_min.grains);
    if (world_.listed.size() >= contracts::kMaxRegistered && !giving_way_as_validator()) {
        out.insert(TxError::kTooManyValidators);
    }
    return out;
}

Model::Why Model::why(const contracts::Unjail& /*a*/) const {
    const auto found = world_.validators.find(who_);
    if (found == world_.validators.end()) {
        return {TxError::kNotRegistered};
    }
    if (found->second.banned || found->second.jailed_until == 0) {
        return {TxError::kNotJailed};
    }
    return height_ < found->second.jailed_until ? Why{TxError::kStillJailed} : Why{};
}

Model::Why Model::why(const contracts::RegisterHardware& a) const {
    Why out;
    if (a.role != Role::kSolver && a.role != Role::kVerifier) {
        out.insert(TxError::kFieldOutOfRange);  // HW-2
    }
    if (a.hardware_class > params_.hardware_classes.size()) {
        out.insert(TxError::kHardwareUnknown);
    } else if (a.hardware_class != 0 && a.score < params_.hardware_classes[a.hardware_class - 1].least_score) {
        out.insert(TxError::kScoreTooLow);
    }
    return out;
}

namespace {

const Profiler* find_profiler(const Task& task, const AccountId& account) {
    if (!task.profiling) {
        return nullptr;
    }
    for (const Profiler& profiler : task.profiling->profilers) {
        if (profiler.account == account) {
            return &profiler;
        }
    }
    return nullptr;
}

}  // namespace

Model::Why Model::why(const contracts::CommitProfile& a) const {
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    Why out;
    if (task->state != TaskState::kProfiling) {
        out.insert(TxError::kTaskState);
    }
    const Profiler* profiler = find_profiler(*task, who_);
    if (profiler == nullptr) {
        out.insert(TxError::kNotProfiler);
    } else if (profiler->status == ProfileStatus::kMissed) {
        out.insert(TxError::kPhase);
    } else if (profiler->status != ProfileStatus::kDue) {
        out.insert(TxError::kAlreadyCommitted);
    }
    return out;
}

Model::Why Model::why(const contracts::PublishProfile& a) const {
    Why out;
    const auto& segments = a.report.segments;
    const bool possible = trace::is_possible(a.report.reference) &&
                          std::all_of(segments.begin(), segments.end(), [](const contracts::ProfileSegment& segment) {
                              return trace::is_possible(segment.measurement) && is_text(segment.native.location, 256);
                          });
    if (!possible || segments.size() != params_.profile_segments) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kProfiling) {
        out.insert(TxError::kTaskState);
    }
    const Profiler* profiler = find_profiler(*task, who_);
    if (profiler == nullptr) {
        out.insert(TxError::kNotProfiler);
        return out;
    }
    if (profiler->status != ProfileStatus::kCommitted ||
        profiler->commitment != contracts::profile_commitment(a.task, who_, a.report, a.salt)) {
        out.insert(TxError::kNotCommitted);
    }
    if (task->profiling->phase != ProfilingPhase::kPublish) {
        out.insert(TxError::kPhase);
    }
    if (task->spec.parent && a.report.start_root != find(*task->spec.parent)->checkpoints.back()) {
        out.insert(TxError::kNotParentsState);  // LIN-6
    }
    return out;
}

Model::Why Model::why(const contracts::ChallengeProfile& a) const {
    Why out;
    if (a.segment > 8 || a.role == Role::kValidator) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (task->state != TaskState::kProfiling) {
        out.insert(TxError::kTaskState);
        return out;
    }
    if (task->profiling->phase != ProfilingPhase::kChallenge || task->suspended) {
        out.insert(TxError::kPhase);
    }
    const Profiler* profiler = find_profiler(*task, a.profiler);
    if (profiler == nullptr) {
        out.insert(TxError::kNotProfiler);
        return out;
    }
    if (profiler->status != ProfileStatus::kStanding) {
        out.insert(TxError::kNotPublished);
    }
    if (a.profiler == who_) {
        out.insert(TxError::kNotParty);
    }
    if (world_.disputes.contains(contracts::dispute_id(a.task, a.segment, who_, {a.profiler, a.part}))) {
        out.insert(TxError::kAlreadyDisputed);
    }
    const bool of_segment =
        a.part == contracts::ProfilePart::kReplayed || a.part == contracts::ProfilePart::kMeasurement;
    const bool is_chains = a.part == contracts::ProfilePart::kStart && task->spec.parent;  // LIN-6
    if (is_chains || (of_segment ? a.segment < 1 || a.segment > params_.profile_segments : a.segment != 0)) {
        out.insert(TxError::kPartUnknown);
    }
    const bool measured =
        a.part == contracts::ProfilePart::kMeasurement || a.part == contracts::ProfilePart::kReferenceMeasurement;
    if (a.roots.has_value() != measured) {
        out.insert(TxError::kNotMeasured);
    }
    needs_stake(out, a.role, challenge_bond(*task));
    return out;
}

}  // namespace assay::model
