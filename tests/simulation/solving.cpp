// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/worker.hpp>

#include <algorithm>

#include <contracts/beacon/draw.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/tasks/seats.hpp>
#include <verifier/roles/solver.hpp>

/// A worker as a solver: alone, or as a member of a group.
namespace assay::simulation {

using contracts::Task;
using contracts::TaskId;
using model::Way;
using roles::Intent;
namespace intent = roles::intent;

namespace {

constexpr std::uint64_t kTrainMs = 1'500;  ///< for a segment, at most
/// Blocks before a draw lapses, which costs what declining costs and more (TASK-6).
constexpr std::uint64_t kDeclinesBefore = 8;
constexpr std::uint64_t kWithheldBlocks = 20;  ///< until what another member withholds is computed

}  // namespace

std::optional<std::uint32_t> Worker::replaced_segment(const contracts::TaskSpec& spec) const {
    const Way way = way_on(spec);
    const bool replaces = way != Way::kTruth && way != Way::kLieInInit;
    return replaces ? std::optional(replaced_segment_) : std::nullopt;
}

Way Worker::way_on(const contracts::TaskSpec& spec) const {
    // LIN-2: there is no initialisation to lie in.
    return spec.parent && way_ == Way::kLieInInit ? Way::kLieInStep : way_;
}

Hash256 Worker::train(const View& view, const Task& task, std::uint32_t segment) const {
    if (segment == 0) {
        return task.spec.parent ? last_root(view, *task.spec.parent) : shop_.start(way_);
    }
    const Hash256 before = trained_.at(task.id).back();
    Way way = way_on(task.spec);
    if (task.tolerance) {
        const bool replaces = replaced_segment(task.spec) == segment;
        if (replaces && way_ == Way::kLieInCommit) {
            return before;  // trains nothing
        }
        way = replaces ? Way::kOtherSeed : hardware_;
    }
    return shop_.after(
        way, before, contracts::first_step(task.spec, segment), contracts::step_count(task.spec, segment)
    );
}

contracts::AcceptTask Worker::acceptance(const View& view, const Task& task) const {
    std::vector<const Worker*> partners;
    for (const Worker* other : colleagues) {
        if (partners.size() + 1 < task.spec.members && other->signs_seat(view, task)) {
            partners.push_back(other);
        }
    }
    contracts::AcceptTask out{.task = task.id, .seats = {}, .signatures = {}};
    if (partners.empty()) {
        return out;
    }
    out.seats.push_back(id_);
    std::transform(partners.begin(), partners.end(), std::back_inserter(out.seats), [](const Worker* partner) {
        return partner->id_;
    });
    if (auto together = seats_together(task, out.seats); !together.empty()) {
        out.is_together = true;
        out.seats = std::move(together);
        partners.resize(out.seats.size() - 1);
    } else {
        out.seats.resize(task.spec.members, out.seats.back());  // what is left has the last one too
    }
    const Hash256 claim =
        contracts::seats_claim(chain_id_, {.task = task.id, .seats = out.seats, .is_together = out.is_together});
    for (const Worker* partner : partners) {
        out.signatures.push_back(partner->key_.sign(claim.view()));
    }
    return out;
}

std::vector<AccountId> Worker::seats_together(const Task& task, std::vector<AccountId> seats) const {
    const std::uint64_t number = contracts::to_seed(model::mix(Hash256{task.id.data}, id_, 20));
    if (number % 100 >= together_percent) {
        return {};
    }
    if (seats.size() > 2 && number / 100 % 2 == 0) {
        seats.pop_back();
    }
    return seats;
}

bool Worker::train_together(const View& view, const Task& task, std::uint32_t segment) {
    if (segment == 0 || !task.group || !task.group->is_together) {
        return false;
    }
    const Together::Progress progress = together_.train(task, segment, trained_.at(task.id).back());
    if (progress.state == Together::Progress::State::kAlone) {
        return false;
    }
    if (progress.state == Together::Progress::State::kFinished) {
        keep_trained(task, segment, kind_ == Kind::kCheat ? train(view, task, segment) : progress.root);
    }
    return true;
}

bool Worker::signs_seat(const View& view, const Task& task) const {
    const contracts::Stake stake = contracts::get_stake(*view.state, Role::kSolver, id_);
    const Amount bond = contracts::member_bond(view.state->params(), contracts::task_value(task.spec));
    return !is_down && !stake.is_unlisted && stake.free >= bond && can_execute(task.spec);
}

void Worker::serve(const TaskId& task, std::uint32_t index, std::uint64_t from_ms) {
    std::uint64_t& from = bulletin_.artifacts.try_emplace({task, index}, from_ms).first->second;
    from = std::min(from, from_ms);
    served_.insert({task, index});
}

void Worker::keep_trained(const Task& task, std::uint32_t segment, const Hash256& root) {
    trained_[task.id].push_back(root);
    const bool late = events_.chance(15);
    const std::uint32_t withheld = task.solver == id_ ? 1 : 2;  // the first that a partner of one lead posts
    serve(
        task.id, segment,
        kind_ == Kind::kWithholder && segment == withheld
            ? ~std::uint64_t{0}
            : events_.now() + (late ? events_.below(6'000) : events_.below(200))
    );
}

void Worker::train_next(const View& view, const Task& task, std::uint32_t segment) {
    if (train_together(view, task, segment)) {
        return;
    }
    std::uint64_t& ready = ready_at_ms_[task.id];
    if (ready == 0) {
        const Work work = segment == 0 && task.spec.parent ? 0 : work_of(task, segment);
        ready = events_.now() + 1 + events_.below(kTrainMs) +
                (takes_time ? work_ms(view.state->params(), task.spec, work, Replica::kIntervalMs) : 0);
    } else if (events_.now() >= ready) {
        ready = 0;
        keep_trained(task, segment, train(view, task, segment));
    }
}

void Worker::fetch_next(const View& view, const Task& task, std::uint32_t index) {
    std::vector<Hash256>& states = trained_[task.id];
    const contracts::Checkpoint posted = contracts::find_checkpoint(*view.state, task.id, index).value();
    roles::Replays tries;
    if (fetch(task.id, index, tries)) {
        states.push_back(posted.state_root);
        return;
    }
    if (view.height.value < posted.height.value + kWithheldBlocks) {
        return;
    }
    const Hash256 computed = index == 0 ? shop_.start(Way::kTruth)
                                        : shop_.after(
                                              Way::kTruth, states.back(), contracts::first_step(task.spec, index),
                                              contracts::step_count(task.spec, index)
                                          );
    if (computed != posted.state_root) {
        stuck_.insert(task.id);
        return;
    }
    states.push_back(computed);
    serve(task.id, index, events_.now());
}

bool Worker::is_turn_over(const View& view, const Task& task) {
    if (!task.group || task.state != contracts::TaskState::kTraining) {
        return false;
    }
    const std::uint64_t began =
        task.checkpoints == 0
            ? task.deadline.value - task.spec.training_blocks
            : contracts::find_checkpoint(*view.state, task.id, task.checkpoints - 1).value().height.value;
    return view.height.value >= began + contracts::turn_blocks(task);
}

void Worker::add_solving(const View& view, const Task& task, Actions& out) {
    const std::vector<Hash256>& trained = trained_[task.id];
    roles::SolverView solver;
    solver.self = id_;
    solver.task = task;
    solver.stored_checkpoints = static_cast<std::uint32_t>(trained.size());
    solver.free_stake = free_stake(view);
    solver.solver_bond = contracts::solver_bond(view.state->params(), contracts::task_value(task.spec));
    solver.is_unusable = !can_execute(task.spec) || !can_finish(view, task.spec);
    solver.is_turn_over = is_turn_over(view, task);
    solver.is_stopped = stuck_.contains(task.id);
    const Intent decided = roles::decide_solver(solver);
    if (std::holds_alternative<intent::Accept>(decided)) {
        if (!task.spec.parent || has_state_of(view, *task.spec.parent)) {
            out.push_back(acceptance(view, task));
        } else if (view.height.value + kDeclinesBefore >= task.deadline.value) {
            out.push_back(contracts::DeclineTask{task.id});
        }
    } else if (std::holds_alternative<intent::Decline>(decided)) {
        out.push_back(contracts::DeclineTask{task.id});
    } else if (const auto* train = std::get_if<intent::Train>(&decided)) {
        train_next(view, task, train->segment);
    } else if (const auto* fetch = std::get_if<intent::FetchCheckpoint>(&decided)) {
        fetch_next(view, task, fetch->index);
    } else if (const auto* post = std::get_if<intent::PostCheckpoint>(&decided)) {
        out.push_back(contracts::PostCheckpoint{task.id, post->index, trained.at(post->index), {}});
    } else if (std::holds_alternative<intent::Complete>(decided)) {
        const bool has_score = task.spec.evaluation.has_value();
        out.push_back(contracts::CompleteTask{
            task.id, has_score ? std::optional(shop_.evaluation(trained.back())) : std::nullopt});
    }
}

}  // namespace assay::simulation
