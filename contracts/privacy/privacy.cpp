// SPDX-License-Identifier: Apache-2.0
#include <contracts/privacy/privacy.hpp>

#include <algorithm>
#include <utility>

#include <contracts/lifecycle/keys.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/work.hpp>
#include <contracts/profiling/profiling.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/tasks/tasks.hpp>
#include <contracts/verification/verification.hpp>
#include <core/crypto/hash.hpp>
#include <core/sealed/share.hpp>

namespace assay::contracts {
namespace {

/// PRV-3, PRV-10: the task, whose keys `sender` can share now: as the submitter with its profilers and with the solver
/// that was drawn, or as the solver with those who are waited for.
Result<Task, TxError> require_sharing(const StateView& view, const ShareKeys& action, const AccountId& sender) {
    TRY_ASSIGN(Task task, require_task(view, action.task));
    if (!task.secrecy) {
        return Unexpected{TxError::kNotPrivate};
    }
    const bool is_by_submitter = task.state == TaskState::kProfiling || task.state == TaskState::kDrawn;
    if (!is_by_submitter && task.state != TaskState::kVerifying) {
        return Unexpected{TxError::kTaskState};
    }
    if (is_by_submitter ? sender != task.submitter : sender != task.solver) {
        return Unexpected{is_by_submitter ? TxError::kNotSubmitter : TxError::kNotSolver};  // TASK-5
    }
    return task;
}

/// PRV-10: whether the share is of the keys that the task has in this state: there are no checkpoints yet while it is
/// profiled.
bool is_of_its_keys(const Task& task, const KeyShare& share) {
    return share.of_checkpoints.empty() == (task.state == TaskState::kProfiling);
}

/// With whom the keys have to be shared, if it is this account.
const Reader* find_awaited(const Task& task, const AccountId& account) {
    const auto& awaited = task.secrecy->awaited;
    const auto found =
        std::find_if(awaited.begin(), awaited.end(), [&](const Reader& each) { return each.account == account; });
    return found == awaited.end() ? nullptr : &*found;
}

const SharedKeys* find_shared(const Task& task, const AccountId& account) {
    const auto& shared = task.secrecy->shared;
    const auto found = std::find_if(shared.begin(), shared.end(), [&](const SharedKeys& each) {
        return each.reader.account == account;
    });
    return found == shared.end() ? nullptr : &*found;
}

/// PRV-5: whether what the account has done says that its keys are right.
bool has_taken_keys(const Task& task, const AccountId& account) {
    if (task.state != TaskState::kProfiling) {
        return task.solver == account && task.state != TaskState::kDrawn;
    }
    const auto place = find_profiler(task, account);
    return !place || task.tolerance->profiles[*place].status != ProfileStatus::kDue;  // PRV-11
}

/// PRV-5, PRV-7: the task of a report against its solver.
Result<Task, TxError> require_reported(const StateView& view, const TaskId& id, TaskState first) {
    TRY_ASSIGN(Task task, require_task(view, id));
    if (!task.secrecy) {
        return Unexpected{TxError::kNotPrivate};
    }
    TRY(require_state(task, first, TaskState::kDisclosure));
    return task;
}

/// PRV-5: the task of a report of keys, against its submitter or its solver.
Result<Task, TxError> require_keys_shared(const StateView& view, const TaskId& id) {
    TRY_ASSIGN(Task task, require_task(view, id));
    const bool is_profiled = task.secrecy && task.state == TaskState::kProfiling;
    return is_profiled ? Result<Task, TxError>(std::move(task)) : require_reported(view, id, TaskState::kDrawn);
}

/// Convicts the solver; who has shown it wins.
void convict_solver(Context& context, Task& task, Reason reason) {
    convict(context, task, {.reason = reason, .winners = {context.actor}});
}

}  // namespace

// --- share_keys ----------------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ShareKeys& action) noexcept {
    const auto not_above = [](const KeyShare& one, const KeyShare& next) { return !(one.to < next.to); };
    const auto& shares = action.shares;
    if (shares.empty() || shares.size() > kMaxShares || (action.key && !sealed::is_well_formed(*action.key))) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    if (std::adjacent_find(shares.begin(), shares.end(), not_above) != shares.end()) {
        return Unexpected{TxError::kShareInvalid};
    }
    return {};
}

Result<void, TxError> check_bound(
    const std::string& chain_id, const AccountId& /*sender*/, const ShareKeys& action
) noexcept {
    // PRV-3, SEA-23
    const auto is_sound = [&](const KeyShare& share) {
        sealed::ShareName name{.chain_id = chain_id, .task = retag<Hash256>(action.task), .to = share.to};
        if (!sealed::is_share_for(name, share.of_task)) {
            return false;
        }
        name.is_of_checkpoints = true;
        return share.of_checkpoints.empty() || sealed::is_share_for(name, share.of_checkpoints);  // PRV-10
    };
    return std::all_of(action.shares.begin(), action.shares.end(), is_sound) ? Result<void, TxError>()
                                                                             : Unexpected{TxError::kShareInvalid};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ShareKeys& action
) noexcept {
    // PRV-3
    TRY_ASSIGN(const Task task, require_sharing(view, action, sender));
    const bool are_awaited = std::all_of(action.shares.begin(), action.shares.end(), [&](const KeyShare& share) {
        return find_awaited(task, share.to) != nullptr && is_of_its_keys(task, share);
    });
    if (!are_awaited || action.key.has_value() != (task.state == TaskState::kDrawn)) {
        return Unexpected{TxError::kShareInvalid};
    }
    return {};
}

Result<void, TxError> check_owed(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ShareKeys& action, Height /*height*/
) noexcept {
    // PRV-3, PRV-10: an answer cannot be what a submitter sends of its own accord.
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    return task.state == TaskState::kVerifying && task.solver == sender ? Result<void, TxError>()
                                                                        : Unexpected{TxError::kFeeTooLow};
}

Result<void, TxError> execute(Context& context, const ShareKeys& action) noexcept {
    Task task = find_task(context.state, action.task).value();
    Secrecy& secrecy = task.secrecy.value();
    for (const KeyShare& share : action.shares) {
        const Hash256 of_checkpoints = share.of_checkpoints.empty() ? Hash256{} : crypto::sha256(share.of_checkpoints);
        secrecy.shared.push_back({*find_awaited(task, share.to), crypto::sha256(share.of_task), of_checkpoints});
        note_reader(task, share.to);
    }
    record(context, task, history::KeysShared{action.key, action.shares});
    if (task.state == TaskState::kDrawn) {
        secrecy.key = action.key;
        restart_deadline(context, task, context.height_after(accept_span(context.params, task.spec)));
    } else if (owes_keys(task)) {
        // somebody else waits still
    } else if (task.state == TaskState::kProfiling) {
        begin_reports(context, task);
    } else {
        take_keys(context, task);
    }
    set_task(context.state, task);
    return {};
}

// --- report_wrong_keys ---------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ReportWrongKeys& action) noexcept {
    if (action.share.size() != sealed::kShareBytes) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ReportWrongKeys& action
) noexcept {
    TRY_ASSIGN(const Task task, require_keys_shared(view, action.task));
    const SharedKeys* const shared = find_shared(task, sender);
    if (shared == nullptr || has_taken_keys(task, sender) ||
        (action.is_of_checkpoints ? shared->of_checkpoints : shared->of_task) != crypto::sha256(action.share)) {
        return Unexpected{TxError::kShareInvalid};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ReportWrongKeys& action) noexcept {
    // PRV-5
    Task task = find_task(context.state, action.task).value();
    const sealed::ShareContext about{
        .key = action.is_of_checkpoints ? task.secrecy->key.value() : task.spec.privacy->key,
        .reader = find_shared(task, context.actor)->reader.key};
    if (sealed::judge_share(about, action.share, action.evidence) != sealed::ShareJudgement::kWrong) {
        return Unexpected{TxError::kKeysRight};
    }
    if (task.state == TaskState::kProfiling) {
        record(context, task, history::KeysRefused{});
        lapse_unread(context, task);
    } else if (task.solver == context.actor) {
        record(context, task, history::KeysRefused{});
        lapse_unshared(context, task);
    } else {
        convict_solver(context, task, Reason::kWrongKeys);
    }
    return {};
}

// --- report_wrong_chunk --------------------------------------------------------------------------------------

Result<void, TxError> check_stateless(const ReportWrongChunk& action) noexcept {
    if (!sealed::is_well_formed(action.evidence)) {
        return Unexpected{TxError::kFieldOutOfRange};  // TX-6
    }
    return {};
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const ReportWrongChunk& action
) noexcept {
    TRY_ASSIGN(const Task task, require_reported(view, action.task, TaskState::kTraining));
    if (action.checkpoint >= task.checkpoints || sender == task.solver) {
        return Unexpected{TxError::kFieldOutOfRange};
    }
    return {};
}

Result<void, TxError> execute(Context& context, const ReportWrongChunk& action) noexcept {
    // PRV-7
    Task task = find_task(context.state, action.task).value();
    const Checkpoint checkpoint = find_checkpoint(context.state, task.id, action.checkpoint).value();
    const sealed::SealedContext about{
        .task = retag<Hash256>(task.id),
        .artifact = checkpoint.state_root,
        .key = task.secrecy->key.value(),
        .sealed_root = checkpoint.sealed.value().root,
        .state_tensors = task.spec.program.state_tensors,
        .reporter = context.actor};
    if (!sealed::judge(action.evidence, about)) {
        return Unexpected{TxError::kChunkRight};
    }
    convict_solver(context, task, Reason::kWrongChunk);
    return {};
}

}  // namespace assay::contracts
