// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <contracts/beacon/rounds.hpp>
#include <contracts/chain/gas.hpp>
#include <contracts/params/rules.hpp>
#include <contracts/validators/validators.hpp>
#include <core/codec/borsh.hpp>
#include <verifier/trace/evaluation.hpp>

namespace assay::model {

using contracts::DisputeState;
using contracts::DrawKind;
using contracts::DueKind;
using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::Reason;
using contracts::TaskState;
using contracts::VerdictStatus;

bool is_over(TaskState state) {
    return state == TaskState::kSettled || state == TaskState::kConvicted || state == TaskState::kCancelled ||
           state == TaskState::kExpired || state == TaskState::kRefused;
}

std::uint32_t first_of(const contracts::TaskSpec& spec) {
    return spec.parent ? 1 : 0;
}

std::uint32_t last_of(const Task& task) {
    if (task.diverged_at) {
        return static_cast<std::uint32_t>(task.checkpoints.size()) - 1;
    }
    return static_cast<std::uint32_t>((task.spec.steps - 1) / task.spec.checkpoint_interval + 1);
}

bool is_evaluation(const Task& task, std::uint32_t segment) {
    return task.evaluation && segment == last_of(task) + 1;
}

Hash256 claimed_after(const Task& task, std::uint32_t segment) {
    return is_evaluation(task, segment) ? trace::score_root(task.evaluation->score) : task.checkpoints.at(segment);
}

std::uint64_t steps_before(const contracts::TaskSpec& spec, std::uint32_t segment) {
    return segment == 0 ? 0 : std::uint64_t{segment - 1} * spec.checkpoint_interval;
}

std::uint32_t steps_in(const Task& task, std::uint32_t segment) {
    const std::uint64_t before = steps_before(task.spec, segment);
    if (task.diverged_at && segment == last_of(task)) {
        return static_cast<std::uint32_t>(*task.diverged_at - before + 1);
    }
    if (segment == 0 || is_evaluation(task, segment)) {
        return 1;
    }
    const std::uint64_t end = std::min<std::uint64_t>(task.spec.steps, before + task.spec.checkpoint_interval);
    return static_cast<std::uint32_t>(end - before);
}

bool is_exact(const Task& task, std::uint32_t segment) {
    return task.spec.mode == contracts::Mode::kExact || segment == 0 || is_evaluation(task, segment) ||
           (task.diverged_at && segment == last_of(task));
}

std::vector<std::uint32_t> marks_in(const Task& task, const Duty& duty) {
    std::vector<std::uint32_t> marks;
    const std::uint64_t steps = steps_in(task, duty.segment);
    for (std::uint32_t step = 1; duty.segment != 0 && step < steps; ++step) {
        bool is_mark = step == steps - 1;
        for (std::uint64_t part = 0; part < 8; ++part) {
            is_mark = is_mark || step == part * steps / 8 + duty.offset;
        }
        if (is_mark) {
            marks.push_back(step);
        }
    }
    return marks;
}

contracts::Verdict published_of(
    const Task& task, const Duty& duty, const contracts::VerdictOpening& opening, bool forced
) {
    contracts::Verdict out = opening.verdict;
    out.probe_root.reset();
    const auto marks = marks_in(task, duty);
    for (std::size_t i = 0; i < marks.size() && opening.marks.size() == marks.size(); ++i) {
        if (marks[i] == duty.probe) {
            out.probe_root = forced ? opening.decoy_root : opening.marks[i];
        }
    }
    return out;
}

bool is_published(const Duty& duty) {
    return duty.status == VerdictStatus::kAccepted || duty.status == VerdictStatus::kRejected;
}

bool is_secret(const Duty& duty) {
    return is_published(duty) && !duty.forced;
}

std::uint64_t part_of(std::uint64_t amount, std::uint64_t numerator, std::uint64_t denominator) {
    __extension__ using Wide = unsigned __int128;
    const Wide part = Wide{amount} * numerator / denominator;
    return part > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(part);
}

Model::Model(const contracts::Params& params, const contracts::Genesis& genesis, Flaw flaw)
    : params_(params), flaw_(flaw) {
    for (const auto& [account, balance] : genesis.balances) {
        world_.people[account].balance = balance.grains;
        world_.supply += balance.grains;
    }
    for (const contracts::GenesisValidator& validator : genesis.validators) {
        world_.validators[validator.account].key = validator.key;
        world_.listed.push_back(validator.account);
        world_.validators[validator.account].power = validator.stake.grains / 1'000'000'000;
        world_.stakes[{Role::kValidator, validator.account}].free = validator.stake.grains;
        world_.supply += validator.stake.grains;
    }
}

void Model::fail(const std::string& what) {
    if (fault_.empty()) {
        fault_ = what;
    }
}

const Task* Model::find(const TaskId& id) const {
    const auto found = world_.tasks.find(id);
    return found == world_.tasks.end() ? nullptr : &found->second;
}

const Duty* Model::find_duty(const Task& task, std::uint32_t segment, const AccountId& verifier) const {
    for (const Duty& duty : task.duties) {
        if (duty.segment == segment && duty.verifier == verifier) {
            return &duty;
        }
    }
    return nullptr;
}

Duty* Model::find_duty(Task& task, std::uint32_t segment, const AccountId& verifier) const {
    for (Duty& duty : task.duties) {
        if (duty.segment == segment && duty.verifier == verifier) {
            return &duty;
        }
    }
    return nullptr;
}

std::uint64_t Model::bond_of(Role role, const Task& task) const {
    // PAR-2
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    switch (role) {
        case Role::kSolver:
            return std::max(params_.solver_bond.grains, part_of(value, params_.solver_bond_bps, 10'000));
        case Role::kVerifier:
            return std::max(params_.verifier_bond.grains, part_of(value, params_.verifier_bond_bps, 10'000));
        default:
            return std::max(params_.challenger_bond.grains, part_of(value, params_.challenger_bond_bps, 10'000));
    }
}

void Model::set_deadline(const Due& due, std::uint64_t& field, std::uint64_t height) {
    if (field != height && height != 0) {
        calendar_[height].push_back(due);
    }
    field = height;
}

void Model::set_task_deadline(const TaskId& id, std::uint64_t height) {
    set_deadline({DueKind::kTask, Hash256{id.data}, {}}, at(id).deadline, height);
}

std::string Model::run_block(
    const contracts::BlockContext& block,
    const std::vector<Sent>& txs,
    const contracts::BlockOutcome& chain,
    const Mirror& after
) {
    height_ = block.height.value;
    time_ms_ = block.time_ms;
    block_hash_ = block.block_hash;
    chain_ = &after;
    money_.clear();
    gas_ = 0;
    std::vector<Why> unpaid;
    for (const Sent& sent : txs) {
        unpaid.push_back(charge(sent));
    }
    for (std::size_t i = 0; i < txs.size() && fault_.empty(); ++i) {
        if (auto fault = check_receipt(txs[i], unpaid[i], chain.receipts.at(i)); !fault.empty()) {
            return fault;
        }
    }
    if (fault_.empty()) {
        end_block(block);
        move_base_fee();
    }
    if (!fault_.empty()) {
        return fault_;
    }
    std::erase_if(world_.stakes, [](const auto& entry) {
        return entry.second.free == 0 && entry.second.locked == 0 && entry.second.parts.empty();
    });
    std::vector<Money> moved;
    for (const contracts::HistoryRecord& entry : chain.history) {
        if (const auto* paid = std::get_if<contracts::history::Paid>(&entry.event)) {
            moved.push_back({entry.task, false, paid->to, paid->amount.grains, 0, paid->reason});
        } else if (const auto* slashed = std::get_if<contracts::history::Slashed>(&entry.event)) {
            moved.push_back(
                {entry.task, true, slashed->from, slashed->amount.grains, slashed->burned.grains, slashed->reason}
            );
        }
    }
    std::sort(moved.begin(), moved.end());
    std::sort(money_.begin(), money_.end());
    if (auto fault = find_difference(world_, after.world); !fault.empty()) {
        return fault;
    }
    return moved == money_ ? std::string{} : "the payments and slashes of the history";
}

// --- deadlines -----------------------------------------------------------------------------------------------

void Model::end_block(const contracts::BlockContext& block) {
    // BLK-3, GAS-10
    const std::uint64_t dearest = contracts::kGasPerEntry + contracts::deadline_gas(params_);
    for (std::uint64_t gas = 0; gas + dearest <= params_.end_block_gas_max / 2;) {
        while (!calendar_.empty() && calendar_.begin()->second.empty()) {
            calendar_.erase(calendar_.begin());
        }
        if (calendar_.empty() || calendar_.begin()->first > height_) {
            break;
        }
        const std::uint64_t height = calendar_.begin()->first;
        const Due due = calendar_.begin()->second.front();
        calendar_.begin()->second.pop_front();
        gas += contracts::kGasPerEntry + end_deadline(due, height);
    }
    spread_taints();
    run_beacon();
    run_validators(block);
}

/// STK-4, VAL-9: what is due by blocks is released if it is by time, and else looked at again after as many blocks.
void Model::release_stake(const StakeKey& key) {
    Stake& stake = world_.stakes[key];
    std::vector<Part> left;
    bool waits = false;
    for (const Part& part : stake.parts) {
        if (part.height <= height_ && part.time_ms <= time_ms_) {
            world_.people[key.second].balance += part.amount;
            continue;
        }
        left.push_back(part);
        waits = waits || part.height <= height_;
    }
    stake.parts = left;
    if (waits) {
        calendar_[height_ + params_.unbonding_blocks].push_back(
            {DueKind::kUnbonding, Hash256{key.second.data}, key.first});
    }
}

std::uint64_t Model::end_deadline(const Due& due, std::uint64_t height) {
    const std::uint64_t ended = contracts::deadline_gas(params_);
    if (due.kind == DueKind::kUnbonding) {
        release_stake({due.role, AccountId{due.id.data}});
        return contracts::kGasPerEntry;
    }
    if (due.kind == DueKind::kDraw) {
        await_draw(TaskId{due.id.data});
        return contracts::kGasPerEntry;
    }
    if (due.kind == DueKind::kTask) {
        if (at(TaskId{due.id.data}).deadline != height) {
            return 0;
        }
        end_task_deadline(TaskId{due.id.data});
        return ended;
    }
    if (due.kind == DueKind::kDispute) {
        if (world_.disputes.at(DisputeId{due.id.data}).deadline != height) {
            return 0;
        }
        lapse_dispute(DisputeId{due.id.data});
        return ended;
    }
    // AVL-3
    const ChallengeId id{due.id.data};
    Challenge& challenge = world_.challenges.at(id);
    if (challenge.deadline != height) {
        return 0;
    }
    challenge.state = contracts::ChallengeState::kLapsed;
    set_deadline(due, challenge.deadline, 0);
    std::erase(at(challenge.task).challenges, id);
    unlock(challenge.role, challenge.challenger, challenge.bond);
    challenge.bond = 0;
    convict(challenge.task, {Reason::kUnavailable, {challenge.challenger}, std::nullopt});
    return ended;
}

void Model::lapse_dispute(const DisputeId& id) {
    // DSP-32, DSP-42
    const Dispute& dispute = world_.disputes.at(id);
    const bool undisclosed = dispute.state == DisputeState::kAwaiting;
    rule(id, undisclosed || dispute.responders_turn, undisclosed ? Reason::kUndisclosed : Reason::kDisputeTimeout);
}

/// TASK-6
void Model::lapse_acceptance(const TaskId& id) {
    Task& task = at(id);
    const AccountId solver = *task.solver;
    decline(id, solver);
    world_.stakes[{Role::kSolver, solver}].unlisted = true;
}

/// TASK-8
void Model::lapse_training(const TaskId& id) {
    Task& task = at(id);
    const std::uint64_t lost = part_of(task.solver_bond, params_.deadline_slash_bps, 10'000);
    task.solver_bond -= lost;
    slash(id, Role::kSolver, *task.solver, lost, Reason::kMissedDeadline, {});
    end_without_fraud(id, TaskState::kExpired);
}

/// VER-5: whoever still has to do this loses a tenth.
void Model::miss_all(const TaskId& id, const std::function<bool(const Duty&)>& is_missing) {
    for (Duty& duty : at(id).duties) {
        if (is_missing(duty)) {
            duty.status = VerdictStatus::kMissed;
            miss(id, duty.verifier, duty.bond);
            unlock(Role::kVerifier, duty.verifier, std::exchange(duty.reserve, 0));
        }
    }
}

/// VER-5: nobody has committed, so nobody is fined.
void Model::excuse_all(const TaskId& id) {
    for (Duty& duty : at(id).duties) {
        if (duty.status == VerdictStatus::kDue) {
            duty.status = VerdictStatus::kMissed;
            unlock(Role::kVerifier, duty.verifier, std::exchange(duty.bond, 0) + std::exchange(duty.reserve, 0));
        }
    }
}

/// LIN-3, VER-13
void Model::end_window(const TaskId& id) {
    const Task& task = at(id);
    for (auto up = task.spec.parent; up; up = at(*up).spec.parent) {
        const Task& ancestor = at(*up);
        if (!is_over(ancestor.state) || (ancestor.state == TaskState::kConvicted && !task.tainted_by)) {
            const bool dateless = !is_over(ancestor.state) && ancestor.deadline == 0;
            const std::uint64_t wait = dateless ? params_.challenge_blocks : 1;
            set_task_deadline(id, std::max(height_ + wait, ancestor.deadline + 1));
            return;
        }
    }
    if (std::any_of(task.duties.begin(), task.duties.end(), is_secret)) {
        enter(id, TaskState::kDisclosure, height_ + params_.disclose_blocks);
    } else {
        conclude(id);
    }
}

void Model::end_task_deadline(const TaskId& id) {
    Task& task = at(id);
    if (task.state == TaskState::kOpen) {
        end_without_fraud(id, TaskState::kExpired);  // TASK-17
    } else if (task.state == TaskState::kDrawn) {
        lapse_acceptance(id);
    } else if (task.state == TaskState::kTraining) {
        lapse_training(id);
    } else if (!task.disputes.empty() || !task.challenges.empty()) {
        set_task_deadline(id, 0);  // TASK-11
        task.suspended = true;
    } else if (task.state == TaskState::kCompleted) {
        lapse_drawing(id);  // VER-7
    } else if (task.state == TaskState::kVerifying) {
        const bool commits = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
            return duty.status == VerdictStatus::kDue;
        });
        const VerdictStatus missing = commits ? VerdictStatus::kDue : VerdictStatus::kCommitted;
        const auto is_missing = [missing](const Duty& duty) { return duty.status == missing; };
        const bool anybody = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
            return duty.status == VerdictStatus::kCommitted;
        });
        if (commits && !anybody) {
            excuse_all(id);
        } else {
            const auto count = std::count_if(task.duties.begin(), task.duties.end(), is_missing);
            miss_all(id, is_missing);
            for (std::ptrdiff_t i = 0; commits && i < count; ++i) {
                // AVL-7
                const std::uint64_t lost = std::min(bond_of(Role::kVerifier, task) / 10, task.solver_bond);
                task.solver_bond -= lost;
                slash(id, Role::kSolver, *task.solver, lost, Reason::kUnserved, {});
            }
        }
        advance_verdicts(id, commits);
    } else if (task.state == TaskState::kChallenge) {
        end_window(id);
    } else if (task.state == TaskState::kDisclosure) {
        miss_all(id, is_secret);
        conclude(id);
    } else if (task.state == TaskState::kProfiling) {
        end_profiling(id);
    }
}

void Model::end_profiling(const TaskId& id) {
    Task& task = at(id);
    Profiling& profiling = task.profiling.value();
    if (profiling.phase == ProfilingPhase::kDraw) {
        lapse_drawing(id);  // PRF-1
        return;
    }
    const auto committed = std::count_if(profiling.profilers.begin(), profiling.profilers.end(), [](const Profiler& p) {
        return p.status == ProfileStatus::kCommitted;
    });
    if (profiling.phase == ProfilingPhase::kCommit && committed < params_.profilers_min) {
        // PRF-4
        for (Profiler& profiler : profiling.profilers) {
            profiler.status = profiler.status == ProfileStatus::kDue ? ProfileStatus::kMissed : profiler.status;
        }
        profiling.phase = ProfilingPhase::kOver;
        end_without_fraud(id, TaskState::kRefused);
        return;
    }
    if (profiling.phase != ProfilingPhase::kChallenge) {
        const auto missing =
            profiling.phase == ProfilingPhase::kCommit ? ProfileStatus::kDue : ProfileStatus::kCommitted;
        for (Profiler& profiler : profiling.profilers) {
            if (profiler.status == missing) {
                profiler.status = ProfileStatus::kMissed;
                miss(id, profiler.account, profiler.bond);
            }
        }
        advance_profiles(id);
        return;
    }
    // PRF-6, PRF-7
    profiling.phase = ProfilingPhase::kOver;
    contracts::Distances threshold;
    contracts::Distances reference;
    bool bounded = true;
    const auto bound = [&](trace::GroupMeasurement trace::Measurement::*row,
                           trace::Relative contracts::Distances::*of) {
        std::vector<std::vector<trace::Relative>> samples;
        std::vector<trace::Relative> references;
        for (const Profiler& profiler : profiling.profilers) {
            if (profiler.status == ProfileStatus::kStanding) {
                samples.emplace_back();
                for (const contracts::ProfileSegment& segment : profiler.report->segments) {
                    samples.back().push_back(trace::relative_drift(segment.measurement.*row));
                }
                references.push_back(trace::relative_drift(profiler.report->reference.*row));
            }
        }
        if (samples.size() < params_.profilers_min) {
            bounded = false;
            return;
        }
        std::size_t left_out = 0;
        const auto largest = [&](std::size_t i) { return *std::max_element(samples[i].begin(), samples[i].end()); };
        for (std::size_t i = 1; i < samples.size(); ++i) {
            left_out = largest(i) > largest(left_out) ? i : left_out;
        }
        std::vector<trace::Relative> kept;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (i != left_out) {
                kept.insert(kept.end(), samples[i].begin(), samples[i].end());
            }
        }
        std::sort(references.begin(), references.end());
        const auto found = trace::threshold_from(kept, references[1], contracts::threshold_rule(params_));
        bounded = bounded && found.has_value();
        threshold.*of = found ? *found : 0;
        reference.*of = references[1];
    };
    bound(&trace::Measurement::parameters, &contracts::Distances::parameters);
    bound(&trace::Measurement::other, &contracts::Distances::other);
    if (!bounded) {
        end_without_fraud(id, TaskState::kRefused);
        return;
    }
    profiling.threshold = threshold;
    profiling.reference = reference;
    for (Profiler& profiler : profiling.profilers) {
        unlock(Role::kVerifier, profiler.account, profiler.bond);
        profiler.bond = 0;
    }
    open_task(id);
}

void Model::spread_taints() {
    // LIN-4
    for (int marked = 0; marked < 64 && !taints_.empty(); ++marked) {
        auto& [siblings, ancestor] = taints_.back();
        const TaskId id = siblings.back();
        const TaskId mark = ancestor;
        siblings.pop_back();
        if (siblings.empty()) {
            taints_.pop_back();
        }
        Task& task = at(id);
        if (task.tainted_by) {
            continue;
        }
        if (!is_over(task.state)) {
            task.tainted_by = mark;
            if (task.state == TaskState::kProfiling || task.state == TaskState::kOpen ||
                task.state == TaskState::kDrawn) {
                end_without_fraud(id, TaskState::kCancelled);
            }
        }
        if (children_.contains(id)) {
            taints_.emplace_back(children_.at(id), mark);
        }
    }
}

// --- draws ---------------------------------------------------------------------------------------------------

Hash256 Model::random(const contracts::DrawName& name) const {
    return contracts::draw_randomness(seed_, name);
}

Model::Pool Model::pool(Role role) const {
    // STK-5
    std::uint64_t least = params_.challenger_bond.grains;
    least = role == Role::kSolver ? params_.solver_bond.grains : least;
    least = role == Role::kVerifier ? params_.verifier_bond.grains : least;
    Pool out;
    const bool now = flaw_ == Flaw::kFreshPool;
    for (const auto& [key, stake] : now ? world_.stakes : opening_.stakes) {
        const bool listed = !stake.unlisted || flaw_ == Flaw::kForgetsLapsed;
        if (key.first == role && listed && stake.free + stake.locked >= least) {
            out.emplace_back(key.second, stake.free);
        }
    }
    return out;
}

std::optional<AccountId> Model::pick(const Pool& from, const Hash256& randomness) const {
    // BLK-5
    std::uint64_t total = 0;
    for (const auto& [account, weight] : from) {
        total += weight;
    }
    if (total == 0) {
        return std::nullopt;
    }
    std::uint64_t point = contracts::reduce(randomness, total);
    for (const auto& [account, weight] : from) {
        if (point < weight) {
            return account;
        }
        point -= weight;
    }
    return std::nullopt;
}

/// HW-4
Model::Pool Model::prefer(const Pool& from, std::uint32_t hardware_class) const {
    if (hardware_class == 0) {
        return from;
    }
    Pool alike;
    std::uint64_t all = 0;
    std::uint64_t some = 0;
    for (const auto& [account, weight] : from) {
        const auto machine = opening_.machines.find({Role::kVerifier, account});
        all += weight;
        if (machine != opening_.machines.end() && machine->second.hardware_class == hardware_class) {
            alike.emplace_back(account, weight);
            some += weight;
        }
    }
    return some != 0 && some >= (all + 1) / 2 ? alike : from;
}

/// BCN-10: by the round's weights; who is drawn and has not the stake any more is drawn anew, among those who have.
std::optional<AccountId> Model::pick_able(
    Pool from, std::uint32_t hardware_class, const contracts::DrawName& name, std::uint64_t needed
) const {
    const auto is_able = [&](const AccountId& account) {
        const auto stake = world_.stakes.find({Role::kVerifier, account});
        return stake != world_.stakes.end() && stake->second.free >= needed;
    };
    const auto first = pick(prefer(from, hardware_class), random(name));
    if (!first || is_able(*first)) {
        return first;
    }
    std::erase_if(from, [&](const auto& candidate) { return !is_able(candidate.first); });
    return pick(prefer(from, hardware_class), contracts::draw_randomness(random(name), name));
}

void Model::draw_profilers(const TaskId& id) {
    // PRF-1, PRF-2
    Task& task = at(id);
    const std::uint64_t bond = bond_of(Role::kVerifier, task);
    Pool able = pool(Role::kVerifier);
    std::erase_if(able, [&](const auto& c) { return c.second < bond || c.first == task.submitter; });
    std::vector<AccountId> drawn;
    for (std::uint32_t i = 0; i < params_.profilers; ++i) {
        const auto profiler = pick_able(able, 0, {id, DrawKind::kProfiler, 0, i}, bond);
        if (!profiler) {
            break;
        }
        drawn.push_back(*profiler);
        std::erase_if(able, [&](const auto& c) { return c.first == drawn.back(); });
    }
    if (drawn.size() < params_.profilers_min) {
        fail_draw(id);
        return;
    }
    for (const AccountId& account : drawn) {
        lock(Role::kVerifier, account, bond);
        task.profiling->profilers.push_back({account, ProfileStatus::kDue, {}, bond, {}});
    }
    task.profiling->profile_seed = contracts::to_seed(random({id, DrawKind::kSketch, 0, 0}));
    task.profiling->reference_seed = contracts::to_seed(random({id, DrawKind::kReference, 0, 0}));
    if (task.profiling->reference_seed == task.spec.seed) {
        ++task.profiling->reference_seed;
    }
    task.profiling->phase = ProfilingPhase::kCommit;
    set_task_deadline(id, height_ + params_.commit_blocks);
}

void Model::draw_solver(const TaskId& id) {
    // TASK-6, HW-3, BCN-11
    Task& task = at(id);
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    Pool all = pool(Role::kSolver);
    std::erase_if(all, [&](const auto& candidate) {
        const auto machine = opening_.machines.find({Role::kSolver, candidate.first});
        const std::uint32_t has = machine == opening_.machines.end() ? 0 : machine->second.hardware_class;
        return candidate.second < bond_of(Role::kSolver, task) ||
               (task.spec.hardware_class != 0 && has != task.spec.hardware_class);
    });
    bool is_any_asked = false;
    const auto is_able = [&](const AccountId& account) {
        const auto found = world_.stakes.find({Role::kSolver, account});
        const Stake stake = found == world_.stakes.end() ? Stake{} : found->second;
        const bool out = stake.unlisted || (height_ < stake.declined_until && value <= stake.declined_value);  // TASK-15
        if (stake.free < bond_of(Role::kSolver, task) || (out && flaw_ != Flaw::kForgetsLapsed)) {
            return false;
        }
        // TASK-19
        const Task* offer = stake.offer ? find(*stake.offer) : nullptr;
        const bool asked = offer != nullptr && offer->state == TaskState::kDrawn && offer->solver == account &&
                           value <= offer->spec.reward.grains + offer->spec.verification_fee.grains;
        is_any_asked = is_any_asked || asked;
        return !asked;
    };
    const contracts::DrawName name{id, DrawKind::kSolver, 0, 0};
    auto drawn = pick(all, random(name));
    if (drawn && !is_able(*drawn)) {
        // BCN-10
        std::erase_if(all, [&](const auto& candidate) { return !is_able(candidate.first); });
        drawn = pick(all, contracts::draw_randomness(random(name), name));
    }
    if (!drawn) {
        fail_draw(id, is_any_asked);
        return;
    }
    world_.stakes.at({Role::kSolver, *drawn}).offer = id;
    task.solver = drawn;
    enter(id, TaskState::kDrawn, height_ + params_.accept_blocks);
}

std::uint64_t Model::verifiers_for(const Task& task) const {
    // PAR-3
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    const std::uint64_t step = params_.value_per_verifier.grains;
    const std::uint64_t more = step == 0 ? 0 : value / step;
    return std::min<std::uint64_t>(params_.verifiers_per_segment + more, params_.verifiers_per_segment_max);
}

bool Model::try_duties(const TaskId& id, std::uint32_t solver_class) {
    // VER-1, VER-9, PAR-3
    Task& task = at(id);
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    const auto grown = [&](std::uint32_t least, std::uint64_t step, std::uint32_t most) {
        const std::uint64_t more = step == 0 ? 0 : value / step;
        return std::min<std::uint64_t>(least + more, most);
    };
    std::vector<std::uint32_t> segments;
    for (std::uint32_t segment = first_of(task.spec); segment <= last_of(task); ++segment) {
        segments.push_back(segment);
    }
    const std::uint64_t checked = std::min<std::uint64_t>(
        segments.size(), grown(params_.segments_checked, params_.value_per_check.grains, params_.segments_checked_max)
    );
    for (std::uint32_t i = 0; i < checked; ++i) {
        const std::uint64_t other = i + contracts::reduce(random({id, DrawKind::kSegment, 0, i}), segments.size() - i);
        std::swap(segments[i], segments[other]);
    }
    segments.resize(checked);
    std::sort(segments.begin(), segments.end());
    if (task.evaluation) {
        segments.push_back(last_of(task) + 1);  // EVL-5
    }
    if (!task.duties.empty()) {
        const auto open = unaccepted(task);  // AVL-7
        segments.assign(open.begin(), open.end());
    }
    const std::uint64_t wanted = verifiers_for(task);
    const std::uint64_t reserve = wanted * challenge_bond(task);  // VER-1
    const std::uint64_t needed = bond_of(Role::kVerifier, task) + reserve;
    for (const std::uint32_t segment : segments) {
        std::vector<AccountId> drawn;
        for (const Duty& duty : task.duties) {
            if (duty.segment == segment) {
                drawn.push_back(duty.verifier);
            }
        }
        for (std::uint32_t i = 0; i < wanted; ++i) {
            Pool able = pool(Role::kVerifier);
            std::erase_if(able, [&](const auto& c) {
                return c.second < needed || c.first == task.solver ||
                       (c.first == task.submitter && flaw_ != Flaw::kDrawsAnybody) ||
                       std::find(drawn.begin(), drawn.end(), c.first) != drawn.end();
            });
            const auto verifier = pick_able(able, solver_class, {id, DrawKind::kVerifier, segment, i}, needed);
            if (!verifier && i == 0) {
                return false;
            }
            if (!verifier) {
                break;
            }
            drawn.push_back(*verifier);
            Duty duty;
            duty.segment = segment;
            duty.verifier = *verifier;
            duty.bond = bond_of(Role::kVerifier, task);
            const std::uint32_t part = std::max(1U, steps_in(task, segment) / 8);
            duty.offset = static_cast<std::uint32_t>(contracts::reduce(random({id, DrawKind::kProbe, segment, i}), part));
            duty.reserve = reserve;
            lock(Role::kVerifier, *verifier, needed);
            task.duties.push_back(duty);
        }
    }
    return true;
}

void Model::draw_verifiers(const TaskId& id, std::uint32_t solver_class) {
    Task& task = at(id);
    const auto stakes = world_.stakes;
    const auto duties = task.duties;
    if (!try_duties(id, solver_class)) {
        task.duties = duties;
        world_.stakes = stakes;
        fail_draw(id);
        return;
    }
    if (task.profiling && duties.empty()) {
        task.profiling->sketch_seed = contracts::to_seed(random({id, DrawKind::kSketch, 0, 0}));  // VER-17
    }
    enter(id, TaskState::kVerifying, height_ + params_.commit_blocks);
}

/// VER-10
void Model::draw_lottery(const TaskId& id) {
    at(id).lottery = seed_;
    for (std::uint32_t place = 0; place < at(id).duties.size(); ++place) {
        Duty& duty = at(id).duties[place];
        const auto marks = marks_in(at(id), duty);
        if (duty.status == VerdictStatus::kCommitted && !marks.empty()) {
            duty.probe = marks[contracts::reduce(random({id, DrawKind::kMark, duty.segment, place}), marks.size())];
        }
    }
    draw_watchers(id);
    set_task_deadline(id, height_ + params_.publish_blocks);
}

void Model::draw_watchers(const TaskId& id) {
    // VER-12
    Task& task = at(id);
    const std::uint32_t wanted = params_.watchers_per_verdict;
    for (std::uint32_t place = 0; place < task.duties.size(); ++place) {
        Duty& duty = task.duties[place];
        if (duty.status != VerdictStatus::kCommitted || duty.probe == 0) {
            continue;
        }
        Pool able = pool(Role::kWhistleblower);
        std::erase_if(able, [&](const auto& c) {
            return c.second < challenge_bond(task) || c.first == task.submitter || c.first == task.solver ||
                   c.first == duty.verifier;
        });
        for (std::uint32_t i = 0; i < wanted && !able.empty(); ++i) {
            duty.watchers.push_back(*pick(able, random({id, DrawKind::kWatcher, duty.segment, place * wanted + i})));
            std::erase_if(able, [&](const auto& c) { return c.first == duty.watchers.back(); });
        }
    }
}

// --- validators ----------------------------------------------------------------------------------------------

void Model::burn_stake(const AccountId& account, Validator& validator) {
    // VAL-5
    const auto found = world_.stakes.find({Role::kValidator, account});
    if (found != world_.stakes.end()) {
        Stake& stake = found->second;
        std::uint64_t whole = stake.free;
        for (const auto& part : stake.parts) {
            whole += part.amount;
        }
        std::uint64_t left = part_of(whole, params_.double_sign_slash_bps, 10'000);
        world_.burned += left;
        validator.slashed += left;
        const auto take = [&](std::uint64_t& from) {
            const std::uint64_t taken = std::min(from, left);
            from -= taken;
            left -= taken;
        };
        take(stake.free);
        for (auto part = stake.parts.rbegin(); part != stake.parts.rend(); ++part) {
            take(part->amount);
        }
    }
}

void Model::run_validators(const contracts::BlockContext& block) {
    for (const contracts::Misbehaviour& found : block.misbehaviour) {
        for (auto& [account, validator] : world_.validators) {
            if (contracts::address_of(validator.key) == found.validator && !validator.banned) {
                burn_stake(account, validator);
                validator.banned = true;
                validator.jailed_until = height_;
            }
        }
    }
    std::vector<std::pair<std::uint64_t, AccountId>> able;  // VAL-3
    for (const AccountId& account : world_.listed) {
        Validator& validator = world_.validators.at(account);
        // VAL-7
        const bool absent = std::find(block.absent.begin(), block.absent.end(), contracts::address_of(validator.key)) !=
                            block.absent.end();
        validator.missed = absent && validator.power != 0 ? validator.missed + 1 : 0;
        if (validator.missed >= params_.downtime_blocks) {
            validator.missed = 0;
            validator.jailed_until = height_ + params_.jail_blocks;
        }
        const auto stake = world_.stakes.find({Role::kValidator, account});
        const std::uint64_t free = stake == world_.stakes.end() ? 0 : stake->second.free;
        if (!validator.banned && validator.jailed_until == 0 && free >= params_.validator_stake_min.grains &&
            free >= 1'000'000'000) {
            able.emplace_back(free / 1'000'000'000, account);
        }
    }
    std::sort(able.begin(), able.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    able.resize(std::min<std::size_t>(able.size(), params_.validators_max));
    if (able.empty()) {
        return;  // VAL-4
    }
    for (auto& [account, validator] : world_.validators) {
        validator.power = 0;
    }
    for (const auto& [power, account] : able) {
        world_.validators.at(account).power = power;
    }
    // VAL-5
    for (const auto& [account, validator] : world_.validators) {
        if (validator.banned && std::erase(world_.listed, account) != 0) {
            world_.banned.push_back(account);
        }
    }
    std::sort(world_.banned.begin(), world_.banned.end());
}

}  // namespace assay::model
