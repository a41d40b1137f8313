// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/validators/validators.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/curve.hpp>
#include <core/crypto/ed25519.hpp>
#include <tests/model/crowd.hpp>
#include <core/dispute/commitment.hpp>
#include <contracts/state/validator.hpp>

/// Every reason that the rules give to refuse an action about money, stake, tasks, profiles or validators. Which of
/// several a receipt names is the chain's choice.
namespace assay::model {

bool is_text(const std::string& text, std::size_t most) {
    return text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) { return c >= 32 && c <= 126; });
}

using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::TaskState;
using contracts::TxError;

namespace {

std::uint64_t rounds_for(std::uint64_t items) {
    std::uint64_t rounds = 0;
    for (std::uint64_t covered = 1; covered < items; covered *= 256) {
        ++rounds;
    }
    return rounds;
}

/// PRV-1
bool is_private_soundly(const contracts::TaskSpec& spec) {
    const auto named = [](const std::optional<contracts::SealedFile>& file) {
        return file && file->size > 0 && file->root != Hash256{};
    };
    if (!spec.privacy) {
        return true;
    }
    const contracts::Privacy& asked = *spec.privacy;
    const bool initial = spec.initial_artifact ? named(asked.initial) : !asked.initial;
    const bool holdout = spec.evaluation ? named(asked.holdout) : !asked.holdout;
    return !spec.parent && spec.members == 1 && crypto::lift_x(asked.key.view()) && named(asked.program) &&
           named(asked.dataset) && initial && holdout;
}

/// PRG-9
bool is_dataset(const canonical::DatasetShape& shape) {
    if (shape.rows == 0 || shape.width == 0 || shape.width > 1U << 24U || shape.overlap >= shape.width) {
        return false;
    }
    const std::map<canonical::Storage, std::uint64_t> bytes{
        {canonical::Storage::kI32, 4},
        {canonical::Storage::kU8, 1},
        {canonical::Storage::kU16, 2},
        {canonical::Storage::kF16, 2}};
    const std::uint64_t values = (std::uint64_t{1} << 48U) / bytes.at(shape.storage);
    return shape.rows <= (values - shape.overlap) / (shape.width - shape.overlap);
}

}  // namespace

bool is_sound(const contracts::TaskSpec& spec) {
    const dispute::ProgramCommitment& program = spec.program;
    const bool texts = is_text(spec.title, 64) && is_text(spec.program_artifact.location, 256) &&
                       is_text(spec.dataset_artifact.location, 256);
    const bool sizes = program.state_tensors >= 1 && program.state_tensors <= 4'096 && program.init_nodes >= 1 &&
                       program.init_nodes <= 65'536 && program.step_nodes >= 2 && program.step_nodes <= 65'536 &&
                       program.batch_size >= 1 && program.batch_size <= 1U << 24U && is_dataset(program.dataset);
    const bool initial =
        program.initial_tensors <= 4'096 && (program.initial_tensors > 0) == !program.initial_root.is_zero();
    const bool names_initial = spec.initial_artifact.has_value() == (program.initial_tensors > 0 && !spec.parent);
    const bool spans = spec.steps >= 1 && spec.checkpoint_interval >= 1;
    if (!texts || !sizes || !initial || !names_initial || !spans) {
        return false;
    }
    const std::uint64_t segments = (spec.steps - 1) / spec.checkpoint_interval + 1;
    const bool tolerant = spec.mode == contracts::Mode::kTolerance;
    const bool grouped = spec.members == 1 || (!tolerant && spec.members >= 1 && spec.members <= 64);
    const bool distance =
        tolerant ? spec.distance && spec.distance->nodes >= 1 && spec.distance->nodes <= 65'536 : !spec.distance;
    const auto& evaluation = spec.evaluation;
    const bool evaluated = !evaluation || (evaluation->nodes >= 1 && evaluation->nodes <= 65'536 &&
                                           !evaluation->holdout.is_zero() && is_text(evaluation->data.location, 256));
    const std::uint64_t step =
        rounds_for(std::min<std::uint64_t>(spec.steps, spec.checkpoint_interval)) + rounds_for(program.step_nodes);
    const std::uint64_t distances = spec.distance ? rounds_for(spec.distance->nodes) : 0;
    const std::uint64_t evaluating = evaluation ? rounds_for(evaluation->nodes) : 0;
    const bool wishes = (!spec.environment || is_environment(*spec.environment)) &&
                        are_checks(spec.checks, program.state_tensors);  // TASK-2.11, TASK-2.12
    return wishes && is_private_soundly(spec) && distance && evaluated && grouped && segments <= 1'024 &&
           spec.steps <= ~std::uint64_t{0} / program.batch_size &&
           std::max({step, rounds_for(program.init_nodes), distances, evaluating}) + 4 <= 8;
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
    const std::uint64_t keeping = spec.retention ? spec.retention->fee.grains : 0;
    const std::uint64_t most = ~std::uint64_t{0} - spec.verification_fee.grains;
    if (spec.reward.grains > most || keeping > most - spec.reward.grains) {
        out.insert(TxError::kOverflow);
    } else {
        const std::uint64_t value = spec.reward.grains + spec.verification_fee.grains;
        if (value > params_.task_value_max.grains && flaw_ != Flaw::kAnyValue) {
            out.insert(TxError::kValueTooHigh);  // TASK-14
        }
        if (world_.people.at(who_).balance < value + keeping + deposit_of(spec)) {
            out.insert(TxError::kInsufficientBalance);  // TASK-17
        }
    }
    if (spec.hardware_class > params_.hardware_classes.size()) {
        out.insert(TxError::kClassUnknown);  // HW-1
    } else if (sound && out.count(TxError::kOverflow) == 0) {
        out.merge(why_work(spec));
        out.merge(why_not_keep(spec));
    }
    if (spec.parent) {
        // LIN-1
        const Task* parent = find(*spec.parent);
        const bool fit = parent != nullptr &&
                         (parent->state == TaskState::kCompleted || parent->state == TaskState::kVerifying ||
                          parent->state == TaskState::kChallenge || parent->state == TaskState::kDisclosure ||
                          parent->state == TaskState::kJudged || parent->state == TaskState::kSettled ||
                          parent->state == TaskState::kKept) &&
                         !parent->spec.privacy && !parent->diverged_at && !(parent->team && parent->team->last) &&
                         !parent->tainted_by && parent->depth < 32 &&
                         parent->spec.program.state_tensors == spec.program.state_tensors;
        if (!fit) {
            out.insert(TxError::kParentUnfit);
        }
    }
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
    if (a.index > 1'024 || !is_text(a.location, 256) || (a.environment && !is_environment(*a.environment))) {
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
    if (!may_post(*task)) {
        out.insert(TxError::kNotSolver);
    }
    if (is_in_team(*task, who_) && task->state == TaskState::kTraining && is_too_early(a.task)) {
        out.insert(TxError::kNotNext);
    }
    if (a.index != task->checkpoints.size() || a.index > last_of(*task)) {
        out.insert(TxError::kCheckpointOrder);
    }
    if (a.index == 0 && task->spec.parent && a.state_root != find(*task->spec.parent)->checkpoints.back()) {
        out.insert(TxError::kNotParentsState);  // LIN-2
    }
    if (a.sealed.has_value() != task->secret.has_value()) {
        out.insert(TxError::kSealedMismatch);  // PRV-6
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
                       dispute::state_root_from(tensors, evaluation->tensors_root) != task->checkpoints.back())) {
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

Model::Why Model::why(const contracts::RegisterTerms& a) const {
    Why out;
    if (a.role != Role::kSolver && a.role != Role::kVerifier) {
        out.insert(TxError::kFieldOutOfRange);  // HW-2
    }
    const std::uint32_t number = a.terms.hardware_class;
    if (a.role == Role::kSolver && (a.terms.price != 0 || a.terms.memory != 0 || a.terms.replay_blocks != 0)) {
        out.insert(TxError::kFieldOutOfRange);  // TRM-1
    }
    const std::set<std::uint64_t> each(a.terms.offers.begin(), a.terms.offers.end());
    const bool in_order = std::vector<std::uint64_t>(each.begin(), each.end()) == a.terms.offers;
    if (a.role == Role::kSolver ? !in_order || each.size() > 9 : !each.empty()) {
        out.insert(TxError::kFieldOutOfRange);  // ENV-3
    }
    if (number > params_.hardware_classes.size()) {
        out.insert(TxError::kClassUnknown);
    } else if (number != 0 && a.score < params_.hardware_classes[number - 1].least_score) {
        out.insert(TxError::kScoreTooLow);
    }
    if (a.terms.price > 4 * params_.work_price) {
        out.insert(TxError::kPriceTooHigh);  // TRM-1
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
    const bool possible = dispute::is_possible(a.report.reference) &&
                          std::all_of(segments.begin(), segments.end(), [](const contracts::ProfileSegment& segment) {
                              return dispute::is_possible(segment.measurement) && is_text(segment.location, 256);
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
    const bool is_its_own =
        a.part == contracts::ProfilePart::kMeasurement || (of_segment && a.segment > 1);  // PRV-12: whoever reports
    if (is_chains || (task->secret && is_its_own) ||
        (of_segment ? a.segment < 1 || a.segment > params_.profile_segments : a.segment != 0)) {
        out.insert(TxError::kPartUnknown);
    }
    const bool measured =
        a.part == contracts::ProfilePart::kMeasurement || a.part == contracts::ProfilePart::kReferenceMeasurement;
    if (a.roots.has_value() != measured) {
        out.insert(TxError::kNotMeasured);
    }
    needs_stake(out, a.role, challenge_bond(*task));
    if (!has_room_for_dispute()) {
        out.insert(TxError::kDutiesFull);
    }
    return out;
}

}  // namespace assay::model
