// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <utility>

#include <contracts/beacon/rounds.hpp>

/// Who is drawn for a task, by the seed of a round.
namespace assay::model {

using contracts::DrawKind;
using contracts::ProfileStatus;
using contracts::ProfilingPhase;
using contracts::TaskState;
using contracts::VerdictStatus;

Hash256 Model::random(const contracts::DrawName& name) const { return contracts::draw_randomness(seed_, name); }

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

/// BCN-10: by the round's weights; who is drawn and has not the stake any more is drawn anew, among those who have.
std::optional<AccountId> Model::pick_able(Pool from, const contracts::DrawName& name, std::uint64_t needed) const {
    const auto is_able = [&](const AccountId& account) {
        const auto stake = world_.stakes.find({Role::kVerifier, account});
        return stake != world_.stakes.end() && stake->second.free >= needed;
    };
    const auto first = pick(from, random(name));
    if (!first || is_able(*first)) {
        return first;
    }
    std::erase_if(from, [&](const auto& candidate) { return !is_able(candidate.first); });
    return pick(from, contracts::draw_randomness(random(name), name));
}

void Model::draw_profilers(const TaskId& id) {
    // PRF-1, PRF-2
    Task& task = at(id);
    const std::uint64_t bond = bond_of(Role::kVerifier, task);
    Pool able = pool(Role::kVerifier);
    std::erase_if(able, [&](const auto& c) {
        return c.second < bond || c.first == task.submitter || !agrees(opening_.machines, c.first, task.spec);
    });
    if (!has_quorum(task, bond)) {
        able.clear();
    }
    std::vector<AccountId> drawn;
    for (std::uint32_t i = 0; i < params_.profilers; ++i) {
        const auto profiler = pick_able(able, {id, DrawKind::kProfiler, 0, i}, bond);
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
    set_task_deadline(id, await_readers(id, drawn, report_window(task.spec)));  // PRV-10
}

void Model::draw_solver(const TaskId& id) {
    // TASK-6, HW-3, BCN-11
    Task& task = at(id);
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    if (!has_quorum(task, bond_of(Role::kVerifier, task) + verifiers_for(task) * challenge_bond(task))) {
        fail_draw(id);
        return;
    }
    Pool all = pool(Role::kSolver);
    std::erase_if(all, [&](const auto& candidate) {
        const auto machine = opening_.machines.find({Role::kSolver, candidate.first});
        const contracts::Terms has = machine == opening_.machines.end() ? contracts::Terms{} : machine->second.terms;
        return candidate.second < bond_of(Role::kSolver, task) ||
               (task.spec.hardware_class != 0 && has.hardware_class != task.spec.hardware_class) ||
               !offers(has.offers, task.spec.environment);  // ENV-3
    });
    bool is_any_asked = false;
    const auto is_able = [&](const AccountId& account) {
        const auto found = world_.stakes.find({Role::kSolver, account});
        const Stake stake = found == world_.stakes.end() ? Stake{} : found->second;
        const bool out =
            stake.unlisted || (height_ < stake.declined_until && value <= stake.declined_value);  // TASK-15
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
    task.solver_bond = std::min<std::uint64_t>(params_.draw_price.grains / 2, bond_of(Role::kSolver, task));
    lock(Role::kSolver, *drawn, task.solver_bond);
    if (task.secret) {
        task.secret = Secret{};  // PRV-2
    }
    enter(id, TaskState::kDrawn, await_readers(id, {*drawn}, accept_window(task.spec)));
}

std::uint64_t Model::verifiers_for(const Task& task) const {
    // PAR-3
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    const std::uint64_t step = params_.value_per_verifier.grains;
    const std::uint64_t more = step == 0 ? 0 : value / step;
    return std::min<std::uint64_t>(params_.verifiers_per_segment + more, params_.verifiers_per_segment_max);
}

std::uint64_t Model::checked_of(const Task& task) const {
    // VER-1, PAR-3
    const std::uint64_t value = task.spec.reward.grains + task.spec.verification_fee.grains;
    const std::uint64_t step = params_.value_per_check.grains;
    const std::uint64_t more = step == 0 ? 0 : value / step;
    const std::uint64_t grown =
        task.secret ? params_.segments_checked_max  // PRV-9
                    : std::min<std::uint64_t>(params_.segments_checked + more, params_.segments_checked_max);
    return std::min<std::uint64_t>(last_of(task) + 1 - first_of(task.spec), grown);
}

bool Model::try_duties(const TaskId& id) {
    // VER-1, VER-9, PAR-3
    Task& task = at(id);
    std::vector<std::uint32_t> segments;
    for (std::uint32_t segment = first_of(task.spec); segment <= last_of(task); ++segment) {
        segments.push_back(segment);
    }
    const std::uint64_t checked = checked_of(task);
    for (std::uint32_t i = 0; i < checked; ++i) {
        const std::uint64_t other = i + contracts::reduce(random({id, DrawKind::kSegment, 0, i}), segments.size() - i);
        std::swap(segments[i], segments[other]);
    }
    segments.resize(checked);
    std::sort(segments.begin(), segments.end());
    if (task.evaluation) {
        segments.push_back(last_of(task) + 1);  // EVL-5
    }
    if (!std::all_of(task.duties.begin(), task.duties.end(), is_dropped)) {
        const auto open = unaccepted(task);  // AVL-7
        segments.assign(open.begin(), open.end());
    }
    const std::uint64_t wanted = verifiers_for(task);
    const std::uint64_t reserve = wanted * challenge_bond(task);  // VER-1
    const std::uint64_t needed = bond_of(Role::kVerifier, task) + reserve;
    for (const std::uint32_t segment : segments) {
        const bool is_found = task.attested.contains(segment);
        std::vector<AccountId> drawn;
        for (const Duty& duty : task.duties) {
            if (duty.segment == segment) {
                drawn.push_back(duty.verifier);
            }
        }
        for (std::uint32_t i = 0; i < wanted; ++i) {
            const auto pick_one = [&](bool of_attesters) {
                Pool able = pool(Role::kVerifier);
                std::erase_if(able, [&](const auto& c) {
                    return c.second < needed || is_in_team(task, c.first) ||
                           (c.first == task.submitter && flaw_ != Flaw::kDrawsAnybody) ||
                           (is_found && has_attested(task, c.first, segment) != of_attesters) ||
                           !agrees(opening_.machines, c.first, task.spec) ||
                           std::find(drawn.begin(), drawn.end(), c.first) != drawn.end();
                });
                return pick_able(able, {id, DrawKind::kVerifier, segment, i}, needed);
            };
            auto verifier = pick_one(true);
            if (!verifier && is_found && flaw_ != Flaw::kAttestersAlone) {
                verifier = pick_one(false);  // AVL-7
            }
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
            duty.offset =
                static_cast<std::uint32_t>(contracts::reduce(random({id, DrawKind::kProbe, segment, i}), part));
            duty.reserve = reserve;
            lock(Role::kVerifier, *verifier, needed);
            task.duties.push_back(duty);
        }
    }
    return true;
}

void Model::draw_verifiers(const TaskId& id) {
    Task& task = at(id);
    if (needs_committee(task)) {
        draw_committee(id);
        return;
    }
    const auto stakes = world_.stakes;
    const auto duties = task.duties;
    if (!try_duties(id)) {
        task.duties = duties;
        world_.stakes = stakes;
        fail_draw(id);
        return;
    }
    const bool is_first = std::all_of(duties.begin(), duties.end(), is_dropped);
    task.redraws += is_first ? 0U : 1U;  // AVL-7
    if (task.profiling && is_first) {
        task.profiling->sketch_seed = contracts::to_seed(random({id, DrawKind::kSketch, 0, 0}));  // VER-17
    }
    std::vector<AccountId> drawn;
    for (std::size_t place = duties.size(); place < task.duties.size(); ++place) {
        drawn.push_back(task.duties[place].verifier);
    }
    enter(id, TaskState::kVerifying, await_readers(id, drawn, params_.commit_blocks + 3 * delay_of(task.spec)));
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
    std::vector<AccountId> watchers;
    for (const Duty& duty : at(id).duties) {
        watchers.insert(watchers.end(), duty.watchers.begin(), duty.watchers.end());
    }
    // PRV-4
    const std::uint64_t publish = params_.publish_blocks;
    set_task_deadline(id, std::max(height_ + publish, await_readers(id, watchers, publish)));
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
            return c.second < challenge_bond(task) || c.first == task.submitter || is_in_team(task, c.first) ||
                   c.first == duty.verifier;
        });
        for (std::uint32_t i = 0; i < wanted && !able.empty(); ++i) {
            duty.watchers.push_back(*pick(able, random({id, DrawKind::kWatcher, duty.segment, place * wanted + i})));
            std::erase_if(able, [&](const auto& c) { return c.first == duty.watchers.back(); });
        }
    }
}

}  // namespace assay::model
