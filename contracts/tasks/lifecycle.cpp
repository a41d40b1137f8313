// SPDX-License-Identifier: Apache-2.0
#include <contracts/tasks/lifecycle.hpp>

#include <algorithm>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>

namespace assay::contracts {
namespace {

Due task_due(const Task& task) { return Due{DueKind::kTask, retag<Hash256>(task.id)}; }

}  // namespace

Hash256 extend_history(const Hash256& previous, const HistoryRecord& record) {
    static const crypto::TaggedHash kTag("assay/history");  // HIS-2
    return kTag(previous.view(), codec::encode(record));
}

void record(Context& context, Task& task, HistoryEvent event) {
    HistoryRecord entry{
        .task = task.id,
        .index = task.history_count,
        .height = context.height(),
        .tx = context.tx,
        .actor = context.actor,
        .event = std::move(event)};
    task.history_root = extend_history(task.history_root, entry);
    ++task.history_count;
    context.history.push_back(std::move(entry));
}

std::uint32_t first_segment(const TaskSpec& spec) noexcept { return spec.parent ? 1 : 0; }

std::uint32_t segment_count(const TaskSpec& spec) noexcept {
    if (spec.checkpoint_interval == 0) {
        return 0;
    }
    const std::uint64_t count = div_ceil<std::uint64_t>(spec.steps, spec.checkpoint_interval);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t segment_count(const Task& task) noexcept {
    return task.diverged_at ? task.checkpoints - 1 : segment_count(task.spec);
}

std::optional<std::uint32_t> evaluation_segment(const Task& task) noexcept {
    // EVL-5
    return task.evaluation ? std::optional{segment_count(task) + 1} : std::nullopt;
}

std::uint32_t last_segment(const Task& task) noexcept {
    return evaluation_segment(task).value_or(segment_count(task));
}

std::uint64_t first_step(const TaskSpec& spec, std::uint32_t segment) noexcept {
    return segment == 0 ? 0 : std::uint64_t{segment - 1} * spec.checkpoint_interval;
}

std::uint32_t step_count(const TaskSpec& spec, std::uint32_t segment) noexcept {
    const std::uint64_t left = spec.steps - std::min(spec.steps, first_step(spec, segment));
    return segment == 0 ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(spec.checkpoint_interval, left));
}

std::uint32_t step_count(const Task& task, std::uint32_t segment) noexcept {
    if (segment == evaluation_segment(task)) {
        return 1;
    }
    if (task.diverged_at && segment == segment_count(task)) {
        return static_cast<std::uint32_t>(*task.diverged_at - first_step(task.spec, segment)) + 1;
    }
    return step_count(task.spec, segment);
}

bool is_exact(const Task& task, std::uint32_t segment) noexcept {
    // VER-17
    return !task.tolerance || segment == 0 || segment == evaluation_segment(task) ||
           (task.diverged_at && segment == segment_count(task));
}

Amount earned_reward(const Task& task) noexcept {
    if (!task.diverged_at) {
        return task.spec.reward;
    }
    const std::uint64_t executed = task.checkpoints == 1 ? 0 : *task.diverged_at + 1;
    __extension__ using Wide = unsigned __int128;
    return Amount{static_cast<std::uint64_t>(Wide{task.spec.reward.grains} * executed / task.spec.steps)};
}

Amount task_value(const TaskSpec& spec) noexcept {
    return Amount{spec.reward.grains + spec.verification_fee.grains};  // LED-3: checked on submission
}

Result<Task, TxError> require_task(const StateView& view, const TaskId& id) noexcept {
    auto task = find_task(view, id);
    if (!task) {
        return Unexpected{TxError::kTaskUnknown};  // TASK-3
    }
    return *std::move(task);
}

Result<void, TxError> require_state(const Task& task, TaskState first, TaskState last) noexcept {
    if (task.state < first || task.state > last) {
        return Unexpected{TxError::kTaskState};  // TASK-4
    }
    return {};
}

Result<void, TxError> require_open_window(const StateView& view, const Task& task) noexcept {
    if (task.state == TaskState::kChallenge && get_docket(view, task.id).suspended) {
        return Unexpected{TxError::kTaskState};  // DSP-39
    }
    return {};
}

void set_task_deadline(Context& context, Task& task, Height deadline) {
    set_deadline(context.state, task_due(task), task.deadline, deadline);
}

void enter_state(Context& context, Task& task, TaskState state, Height deadline) {
    task.state = state;
    hold_lane(context, task);
    restart_deadline(context, task, deadline);
    record(context, task, history::StateChanged{state});
}

void restart_deadline(Context& context, Task& task, Height deadline) {
    set_task_deadline(context, task, deadline);
    Docket docket = get_docket(context.state, task.id);
    if (docket.suspended) {
        docket.suspended = false;
        set_docket(context.state, task.id, docket);
    }
}

bool suspend_deadline(Context& context, Task& task) {
    if (task.open_disputes == 0) {
        return false;
    }
    set_task_deadline(context, task, Height{});
    Docket docket = get_docket(context.state, task.id);
    docket.suspended = true;
    set_docket(context.state, task.id, docket);
    return true;
}

void resume_deadline(Context& context, Task& task) {
    if (get_docket(context.state, task.id).suspended && task.open_disputes == 0) {
        restart_deadline(context, task, context.height_after(1));
    }
}

void close_task(Context& context, Task& task, TaskState state) {
    enter_state(context, task, state, Height{});
    erase_docket(context.state, task.id);
}

}  // namespace assay::contracts
