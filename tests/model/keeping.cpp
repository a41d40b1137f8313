// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <contracts/beacon/draw.hpp>
#include <tests/model/crowd.hpp>
#include <tests/model/model.hpp>

/// Results that are kept after settlement (RET rules).
namespace assay::model {

using contracts::Reason;
using contracts::TaskState;
using contracts::TxError;

Asked shown_of(const TaskId& id, const Task& task) {
    // RET-4
    const Kept& kept = task.kept.value();
    const auto drawn = [&](std::uint32_t part) {
        return contracts::draw_randomness(kept.seed.value(), {id, contracts::DrawKind::kShow, part, kept.shown});
    };
    Asked out;
    out.checkpoint = static_cast<std::uint32_t>(task.checkpoints.size() - 1);
    out.tensor = static_cast<std::uint32_t>(contracts::reduce(drawn(0), groups_of(task.spec)));
    out.number = contracts::to_seed(drawn(1));
    return out;
}

bool is_paid_for(TaskState state) { return is_over(state) || state == TaskState::kKept; }

bool is_kept_after(const Task& task) { return task.spec.retention && !task.diverged_at && !task.tainted_by; }

Model::Why Model::why_not_keep(const contracts::TaskSpec& spec) const {
    // RET-1
    const auto& asked = spec.retention;
    if (!asked) {
        return {};
    }
    __extension__ using Wide = unsigned __int128;
    const Wide stored = Wide{spec.program.memory} * asked->blocks / (1ULL << 30U);
    const Wide draws = Wide{params_.draw_price.grains} * params_.retention_shows;
    const Wide shows = Wide{params_.attest_fee.grains} * params_.retention_shows;
    const Wide least = stored * params_.retention_price.grains / 1'000 + draws + shows;
    const bool is_timely = asked->blocks >= std::uint64_t{params_.retention_shows} * params_.retention_show_blocks &&
                           asked->blocks <= params_.retention_blocks_max;
    const bool is_paid =
        asked->fee.grains >= least && asked->fee.grains <= spec.reward.grains + spec.verification_fee.grains;
    return spec.members != 1 || !is_timely || !is_paid ? Why{TxError::kRetentionUnfit} : Why{};
}

Model::Why Model::why(const contracts::ShowResult& a) const {
    if (is_malformed(a.opening)) {
        return {TxError::kFieldOutOfRange};
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (task->state != TaskState::kKept) {
        return {TxError::kTaskState};
    }
    if (task->solver != who_) {
        return {TxError::kNotSolver};
    }
    if (!task->kept->seed) {
        return {TxError::kNotAsked};
    }
    return is_what_was_asked(*task, shown_of(a.task, *task), a.opening) ? Why{} : Why{TxError::kTileInvalid};
}

void Model::act(const contracts::ShowResult& a) {
    // RET-5
    Task& task = at(a.task);
    Kept& kept = task.kept.value();
    seen_["result shown by a piece"] += task.secret ? 1U : 0U;
    if (const std::uint64_t part = task.escrow / (params_.retention_shows - kept.shown); part != 0) {
        pay(a.task, who_, part, Reason::kRetention);
    }
    kept.shown += 1;
    kept.seed.reset();
    if (kept.shown == params_.retention_shows) {
        stop_keeping(a.task, true);
    } else {
        set_task_deadline(a.task, std::max(show_after(task), height_ + 1));
    }
}

/// RET-4: when the next tile is drawn at the earliest.
std::uint64_t Model::show_after(const Task& task) const {
    const std::uint64_t blocks = task.spec.retention->blocks;
    return task.kept->begun + blocks * (task.kept->shown + 1) / params_.retention_shows;
}

void Model::start_keeping(const TaskId& id) {
    // RET-2, RET-4
    Task& task = at(id);
    drop_disputes_over(id, [](const Dispute& /*dispute*/) { return true; });
    if (task.room != 0) {
        world_.people[task.submitter].balance += task.room;
        money_.push_back({id, false, task.submitter, task.room, 0, Reason::kRoom});
    }
    task.room = std::min(params_.draw_price.grains * params_.retention_shows, task.escrow);
    task.escrow -= task.room;
    task.kept = Kept{.begun = height_, .shown = 0, .waits = false, .seed = {}};
    enter(id, TaskState::kKept, show_after(task));
    task.disputes.clear();
}

void Model::stop_keeping(const TaskId& id, bool is_whole) {
    // RET-5, RET-6
    Task& task = at(id);
    if (!is_whole) {
        slash(id, Role::kSolver, *task.solver, std::exchange(task.solver_bond, 0), Reason::kNotShown, {});
    }
    task.kept->seed.reset();
    pay(id, task.submitter, task.escrow, Reason::kRefund);
    finish(id, TaskState::kSettled);
}

void Model::lapse_keeping(const TaskId& id) {
    Kept& kept = at(id).kept.value();
    if (kept.seed) {
        stop_keeping(id, false);
        return;
    }
    kept.waits = true;
    set_task_deadline(id, 0);
    await_draw(id);
}

void Model::draw_show(const TaskId& id) {
    // RET-4
    Kept& kept = at(id).kept.value();
    kept.waits = false;
    kept.seed = seed_;
    set_task_deadline(id, height_ + params_.retention_show_blocks);
}

bool has_run(TaskState state) {
    return (state >= TaskState::kCompleted && state <= TaskState::kSettled) || state == TaskState::kKept;
}

std::optional<contracts::Retention> Crowd::make_retention(const contracts::TaskSpec& spec) {
    if (!chance(spec.members == 1 ? 50 : 2)) {
        return std::nullopt;
    }
    const std::uint64_t least = std::uint64_t{params_.retention_shows} * params_.retention_show_blocks;
    return contracts::Retention{
        .blocks = static_cast<std::uint32_t>(least + below(30) - (chance(3) ? 1 : 0)),
        .fee = {below(contracts::task_value(spec).grains + 1)}};
}

}  // namespace assay::model
