// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <core/crypto/hash.hpp>
#include <core/sealed/share.hpp>
#include <tests/model/crowd.hpp>
#include <tests/model/model.hpp>

/// Private tasks: who waits for keys, who gives them, and what wrong ones cost (PRV rules).
namespace assay::model {

using contracts::Reason;
using contracts::TaskState;
using contracts::TxError;

bool owes_keys(const Task& task) { return task.secret && !task.secret->awaited.empty(); }

std::uint32_t groups_of(const contracts::TaskSpec& spec) {
    return spec.privacy ? spec.program.state_tensors + 1 : spec.program.state_tensors;
}

// --- what is shown of checkpoints ----------------------------------------------------------------------------

bool is_malformed(const contracts::DrawnOpening& shown) {
    if (const auto* piece = std::get_if<sealed::PieceOpening>(&shown)) {
        return !sealed::is_well_formed(*piece);
    }
    const auto& tile = std::get<dispute::StateOpening>(shown);
    return !dispute::is_well_formed(tile) || tile.opening.tile_path.size() > 64 || tile.opening.source_path.size() > 64;
}

bool is_what_was_asked(const Task& task, const Asked& asked, const contracts::DrawnOpening& shown) {
    if (const auto* tile = std::get_if<dispute::StateOpening>(&shown)) {
        const std::uint64_t across = (tile->type.shape.cols + 31U) / 32U;
        const std::uint64_t down = (tile->type.shape.rows + 31U) / 32U;
        return !task.secret && tile->tensor == asked.tensor && tile->tile == asked.number % (across * down) &&
               dispute::state_root_of(*tile, task.spec.program.state_tensors) == task.checkpoints.at(asked.checkpoint);
    }
    // PRV-8
    const auto& piece = std::get<sealed::PieceOpening>(shown);
    const std::uint64_t pieces = piece.size == 0 ? 1 : (piece.size + 4'095U) / 4'096U;
    return task.secret && piece.groups == groups_of(task.spec) && piece.group == asked.tensor &&
           piece.chunk == asked.number % piece.chunks && piece.piece == asked.number / piece.chunks % pieces &&
           sealed::sealed_root_of(piece) == task.sealed.at(asked.checkpoint)->root;
}

// --- who waits -----------------------------------------------------------------------------------------------

std::uint64_t Model::await_readers(const TaskId& id, const std::vector<AccountId>& drawn, std::uint64_t blocks) {
    Task& task = at(id);
    for (const AccountId& account : task.secret ? drawn : std::vector<AccountId>{}) {
        const auto& shared = task.secret->shared;
        const bool has_them = std::any_of(shared.begin(), shared.end(), [&](const contracts::SharedKeys& each) {
            return each.reader.account == account;
        });
        const auto named = world_.operators.find(account);
        if (!has_them) {
            task.secret->awaited.emplace(account, named == world_.operators.end() ? account : named->second);
        }
    }
    return height_ + (owes_keys(task) ? params_.share_blocks : blocks);
}

/// PRV-4: nobody waits for keys any more.
void Model::begin_to_judge(const TaskId& id) {
    Task& task = at(id);
    const bool any_due = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
        return duty.status == contracts::VerdictStatus::kDue;
    });
    if (any_due) {
        task.suspended = false;
        set_task_deadline(id, height_ + params_.commit_blocks + 3 * delay_of(task.spec));
    } else {
        advance_verdicts(id, false);
    }
}

/// PRV-10: nobody who is to measure waits for the key any more.
void Model::begin_to_profile(const TaskId& id) {
    const auto& profilers = at(id).profiling->profilers;
    if (std::any_of(profilers.begin(), profilers.end(), [](const Profiler& profiler) {
            return profiler.status == contracts::ProfileStatus::kDue;
        })) {
        set_task_deadline(id, height_ + report_window(at(id).spec));
    }
}

/// PRV-11: the profilers that were drawn are free, and others are drawn.
void Model::lapse_unread(const TaskId& id) {
    Task& task = at(id);
    ++seen_["profilers drawn in vain"];
    for (const Profiler& profiler : task.profiling->profilers) {
        unlock(Role::kVerifier, profiler.account, profiler.bond);
    }
    task.profiling = Profiling{};
    task.secret = Secret{};
    enter(id, TaskState::kProfiling, std::max(task.submitted_at + params_.draw_blocks, height_ + 1));
    pause_draw(id);
}

/// PRV-3: the solver that was drawn is free, and another one is drawn.
void Model::lapse_unshared(const TaskId& id) {
    Task& task = at(id);
    ++seen_["drawn in vain"];
    unlock(Role::kSolver, task.solver.value(), std::exchange(task.solver_bond, 0));
    task.solver.reset();
    task.secret = Secret{};
    enter(id, TaskState::kOpen, std::max(task.open_until, height_ + 1));
    pause_draw(id);
}

// --- sharing -------------------------------------------------------------------------------------------------

Model::Why Model::why(const contracts::ShareKeys& a) const {
    // PRV-3
    Why out;
    if (a.shares.empty() || a.shares.size() > 32 || (a.key && !sealed::is_well_formed(*a.key))) {
        out.insert(TxError::kFieldOutOfRange);
    }
    const auto is_share = [&](const AccountId& to, bool is_of_checkpoints, const Bytes& share) {
        return sealed::is_share_for({Crowd::kChainId, Hash256{a.task.data}, to, is_of_checkpoints}, share);
    };
    const AccountId* last = nullptr;
    for (const contracts::KeyShare& share : a.shares) {
        const bool is_sound = share.of_checkpoints.empty() || is_share(share.to, true, share.of_checkpoints);
        if (!is_share(share.to, false, share.of_task) || !is_sound || (last != nullptr && share.to <= *last)) {
            out.insert(TxError::kShareInvalid);
        }
        last = &share.to;
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        out.insert(TxError::kTaskUnknown);
        return out;
    }
    if (!task->secret) {
        out.insert(TxError::kNotPrivate);
        return out;
    }
    const bool is_profiled = task->state == TaskState::kProfiling;
    const bool is_drawn = task->state == TaskState::kDrawn;
    if (!is_profiled && !is_drawn && task->state != TaskState::kVerifying) {
        out.insert(TxError::kTaskState);
    } else if ((is_profiled || is_drawn) && task->submitter != who_) {
        out.insert(TxError::kNotSubmitter);
    } else if (task->state == TaskState::kVerifying && task->solver != who_) {
        out.insert(TxError::kNotSolver);
    }
    for (const contracts::KeyShare& share : a.shares) {
        if (!task->secret->awaited.contains(share.to) || share.of_checkpoints.empty() != is_profiled) {
            out.insert(TxError::kShareInvalid);
        }
    }
    if (a.key.has_value() != is_drawn) {
        out.insert(TxError::kShareInvalid);
    }
    return out;
}

void Model::act(const contracts::ShareKeys& a) {
    Task& task = at(a.task);
    Secret& secret = *task.secret;
    for (const contracts::KeyShare& share : a.shares) {
        const contracts::Reader reader{share.to, secret.awaited.at(share.to)};
        const bool is_half = share.of_checkpoints.empty();  // PRV-10
        const Hash256 second = is_half ? Hash256{} : crypto::sha256(share.of_checkpoints);
        secret.shared.push_back({reader, crypto::sha256(share.of_task), second});
        secret.awaited.erase(share.to);
    }
    if (task.state == TaskState::kDrawn) {
        ++seen_["keys shared with a solver"];
        secret.key = a.key;
        task.suspended = false;
        set_task_deadline(a.task, height_ + accept_window(task.spec));
    } else if (secret.awaited.empty() && task.state == TaskState::kProfiling) {
        ++seen_["key shared with profilers"];
        begin_to_profile(a.task);
    } else if (secret.awaited.empty()) {
        ++seen_[task.lottery.is_zero() ? "keys shared with verifiers" : "keys shared with watchers"];
        begin_to_judge(a.task);
    }
}

// --- reports -------------------------------------------------------------------------------------------------

Model::Why Model::why_not_reported(const TaskId& id, TaskState first) const {
    const Task* task = find(id);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (!task->secret) {
        return {TxError::kNotPrivate};
    }
    return task->state < first || task->state > TaskState::kDisclosure ? Why{TxError::kTaskState} : Why{};
}

/// PRV-5, PRV-11: whether the sender has said that its keys are right.
bool Model::has_taken_keys(const Task& task) const {
    if (task.state != TaskState::kProfiling) {
        return task.solver == who_ && task.state != TaskState::kDrawn;
    }
    const auto& profilers = task.profiling->profilers;
    return std::none_of(profilers.begin(), profilers.end(), [&](const Profiler& profiler) {
        return profiler.account == who_ && profiler.status == contracts::ProfileStatus::kDue;
    });
}

Model::Why Model::why(const contracts::ReportWrongKeys& a) const {
    // PRV-5
    if (a.share.size() != 193) {
        return {TxError::kFieldOutOfRange};
    }
    const Task* found = find(a.task);
    if (found == nullptr) {
        return {TxError::kTaskUnknown};
    }
    const Task& task = *found;
    const bool is_profiled = task.secret && task.state == TaskState::kProfiling;
    Why out = is_profiled ? Why{} : why_not_reported(a.task, TaskState::kDrawn);
    if (!out.empty()) {
        return out;
    }
    const Secret& secret = *task.secret;
    const auto mine = std::find_if(secret.shared.begin(), secret.shared.end(), [&](const auto& each) {
        return each.reader.account == who_;
    });
    if (mine == secret.shared.end() || has_taken_keys(task) ||
        crypto::sha256(a.share) != (a.is_of_checkpoints ? mine->of_checkpoints : mine->of_task)) {
        return {TxError::kShareInvalid};
    }
    const sealed::ShareContext about{a.is_of_checkpoints ? *secret.key : task.spec.privacy->key, mine->reader.key};
    const bool is_wrong = sealed::judge_share(about, a.share, a.evidence) == sealed::ShareJudgement::kWrong;
    return is_wrong ? Why{} : Why{TxError::kKeysRight};
}

void Model::act(const contracts::ReportWrongKeys& a) {
    if (at(a.task).state == TaskState::kProfiling) {
        ++seen_["profiler shows wrong keys"];
        lapse_unread(a.task);
    } else if (at(a.task).solver == who_) {
        ++seen_["solver shows wrong keys"];
        lapse_unshared(a.task);
    } else {
        convict(a.task, {Reason::kWrongKeys, {who_}, std::nullopt});
    }
}

Model::Why Model::why(const contracts::ReportWrongChunk& a) const {
    // PRV-7
    if (!sealed::is_well_formed(a.evidence)) {
        return {TxError::kFieldOutOfRange};
    }
    Why out = why_not_reported(a.task, TaskState::kTraining);
    if (!out.empty()) {
        return out;
    }
    const Task& task = *find(a.task);
    if (a.checkpoint >= task.checkpoints.size() || task.solver == who_) {
        return {TxError::kFieldOutOfRange};
    }
    const sealed::SealedContext about{
        .task = Hash256{a.task.data},
        .artifact = task.checkpoints[a.checkpoint],
        .key = *task.secret->key,
        .sealed_root = task.sealed[a.checkpoint]->root,
        .state_tensors = task.spec.program.state_tensors,
        .reporter = who_};
    return sealed::judge(a.evidence, about) ? Why{} : Why{TxError::kChunkRight};
}

void Model::act(const contracts::ReportWrongChunk& a) { convict(a.task, {Reason::kWrongChunk, {who_}, std::nullopt}); }

}  // namespace assay::model
