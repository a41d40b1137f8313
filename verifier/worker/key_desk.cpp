// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/key_desk.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <core/crypto/hash.hpp>
#include <core/crypto/random.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/share.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/worker/private_tasks.hpp>

namespace assay::worker {
namespace {

using contracts::TaskState;

/// How many shares go into one answer that is free (DTY-1).
constexpr std::size_t kSharesAtOnce = 16;
/// What is proven is one block behind. After so many the node itself is in doubt.
constexpr std::uint64_t kProofBlocks = 5;

bool is_among(const std::vector<contracts::Reader>& readers, const AccountId& account) {
    return std::any_of(readers.begin(), readers.end(), [&](const auto& each) { return each.account == account; });
}

/// PRV-5, PRV-11: whether what the account was given may still be shown to be wrong: a profiler that has committed, and
/// a solver that has accepted, have said that it is right.
bool may_refuse(const contracts::Task& task, const AccountId& self) {
    if (task.state == TaskState::kProfiling) {
        if (!task.tolerance) {
            return false;  // no chain has such a task
        }
        const auto& profiles = task.tolerance->profiles;
        return std::any_of(profiles.begin(), profiles.end(), [&](const contracts::Profile& profile) {
            return profile.profiler == self && profile.status == contracts::ProfileStatus::kDue;
        });
    }
    const bool is_open = task.state >= TaskState::kDrawn && task.state <= TaskState::kDisclosure;
    return is_open && (task.solver != self || task.state == TaskState::kDrawn);
}

}  // namespace

bool KeyDesk::attend() {
    if (context_.privates == nullptr) {
        return false;
    }
    tidy();
    bool busy = false;
    for (const auto& [id, task] : context_.chain.tasks()) {
        if (!task.secrecy) {
            continue;
        }
        const bool is_solver = task.solver == context_.chain.self();
        const bool is_awaited = task.state == TaskState::kVerifying && !task.secrecy->awaited.empty();
        if (is_solver && is_awaited && context_.behaviour.shares_keys()) {
            busy = share(task) || busy;
        }
        busy = report_keys(task) || busy;
        busy = report_chunk(task) || busy;
    }
    return busy;
}

void KeyDesk::tidy() {
    const auto has_ended = [this](const contracts::TaskId& id) { return !context_.chain.tasks().contains(id); };
    std::erase_if(unable_, has_ended);
    std::erase_if(made_, [&](const auto& item) { return has_ended(item.first); });
    std::erase_if(reports_, [&](const auto& item) { return has_ended(item.first); });
    std::erase_if(doubts_, [&](const auto& item) { return has_ended(item.first); });
}

void KeyDesk::note_unproven(const contracts::Task& task, const char* what) {
    Doubt& doubt = doubts_.try_emplace(task.id, Doubt{.since = context_.chain.height()}).first->second;
    if (doubt.is_told || context_.chain.height() < doubt.since + kProofBlocks) {
        return;
    }
    doubt.is_told = true;
    const std::string id = to_hex(task.id.view());
    context_.reporter.trouble(
        "task " + id + ": the node tells " + what +
        " that the chain has not proven. A node that lies would be told secrets: nothing is shared or reported on its "
        "word. Give --node another one"
    );
    context_.reporter.event({{"event", "unproven"}, {"task", id}, {"what", what}});
}

std::vector<contracts::Reader> KeyDesk::proven_readers(const contracts::Task& task) {
    const auto proven = context_.chain.proven_task(task.id);
    if (!proven || !proven->secrecy || proven->state != TaskState::kVerifying) {
        return {};
    }
    std::vector<contracts::Reader> readers = proven->secrecy->awaited;
    // The newest block may have shared with some, or have their verdict.
    std::erase_if(readers, [&](const auto& each) { return !is_among(task.secrecy->awaited, each.account); });
    readers.resize(std::min(readers.size(), kSharesAtOnce));
    return readers;
}

bool KeyDesk::share(const contracts::Task& task) {
    const KeptShare& kept = context_.privates->share_of(context_.chain, task);
    if (!kept.secrets) {
        if (unable_.insert(task.id).second) {
            context_.reporter.trouble(
                "task " + to_hex(task.id.view()) + ": its keys cannot be shared with its verifiers: " +
                to_string(kept.standing) + "; who does not share them in time loses its bond"
            );
        }
        return false;
    }
    const std::vector<contracts::Reader> readers = proven_readers(task);
    if (readers.empty()) {
        note_unproven(task, "of readers");
        return false;
    }
    doubts_.erase(task.id);
    Made& made = made_[task.id];
    if (made.key != task.secrecy->key || made.readers != readers) {
        made = {
            .key = task.secrecy->key,
            .readers = readers,
            .action = {
                .task = task.id,
                .key = {},
                .shares = artifacts::make_shares(
                    context_.behaviour.shared(context_, task.id, *kept.secrets), context_.chain.chain_id(), task.id,
                    readers
                )}};
    }
    if (!context_.chain.send(made.action)) {
        return false;
    }
    context_.reporter.event({{"event", "keys_shared"}, {"task", to_hex(task.id.view())}, {"readers", readers.size()}});
    made_.erase(task.id);
    return true;
}

bool KeyDesk::report_keys(const contracts::Task& task) {
    const KeptShare& kept = context_.privates->share_of(context_.chain, task);
    if (kept.standing != Standing::kWrong || !may_refuse(task, context_.chain.self())) {
        return false;
    }
    const auto proven = context_.chain.proven_task(task.id);
    const contracts::SharedKeys* const shared = proven ? find_shared(*proven, context_.chain.self()) : nullptr;
    const Bytes& share = kept.is_task_wrong ? kept.share.of_task : kept.share.of_checkpoints;
    const bool is_proven = shared != nullptr && (kept.is_task_wrong || proven->secrecy->key) &&
                           (kept.is_task_wrong ? shared->of_task : shared->of_checkpoints) == crypto::sha256(share);
    if (!is_proven) {
        note_unproven(task, "of keys");
        return false;
    }
    contracts::ReportWrongKeys& report = reports_[task.id];
    if (report.share != share) {
        std::array<std::uint8_t, 32> aux{};
        crypto::fill_random(aux);
        const auto evidence = sealed::make_wrong_share(context_.chain.key(), share, aux);
        if (!evidence) {
            return false;  // the chain takes no such share
        }
        report = {.task = task.id, .is_of_checkpoints = !kept.is_task_wrong, .share = share, .evidence = *evidence};
    }
    // A report of a right share opens it for everybody, so it has to be wrong by the keys that are proven.
    const sealed::ShareContext about{
        .key = kept.is_task_wrong ? proven->spec.privacy->key : *proven->secrecy->key, .reader = shared->reader.key};
    if (sealed::judge_share(about, share, report.evidence) != sealed::ShareJudgement::kWrong) {
        note_unproven(task, "of keys");
        return false;
    }
    doubts_.erase(task.id);
    const bool sent = context_.chain.send(report);
    if (sent) {
        context_.reporter.event({{"event", "wrong_keys"}, {"task", to_hex(task.id.view())}});
    }
    return sent;
}

bool KeyDesk::report_chunk(const contracts::Task& task) {
    const bool is_open = task.state >= TaskState::kTraining && task.state <= TaskState::kDisclosure;
    if (!is_open || context_.privates->wrong_chunk(task.id) == nullptr) {
        return false;
    }
    const auto sent = send_wrong_chunk(context_, task);
    if (sent) {
        doubts_.erase(task.id);
    } else {
        note_unproven(task, "of a checkpoint");
    }
    return sent.value_or(false);
}

std::optional<bool> send_wrong_chunk(WorkerContext& context, const contracts::Task& task) {
    const contracts::ReportWrongChunk& report = *context.privates->wrong_chunk(task.id);
    const auto proven = context.chain.proven_task(task.id);
    const auto checkpoint = context.chain.proven_checkpoint(task.id, report.checkpoint);
    if (!proven || !proven->secrecy || !proven->secrecy->key || !checkpoint || !checkpoint->sealed) {
        return std::nullopt;
    }
    const sealed::SealedContext about{
        .task = retag<Hash256>(task.id),
        .artifact = checkpoint->state_root,
        .key = *proven->secrecy->key,
        .sealed_root = checkpoint->sealed->root,
        .state_tensors = proven->spec.program.state_tensors,
        .reporter = context.chain.self()};
    if (!sealed::judge(report.evidence, about)) {
        return std::nullopt;
    }
    if (!context.chain.send(report)) {
        return false;
    }
    context.reporter.event(
        {{"event", "wrong_chunk"},
         {"task", to_hex(task.id.view())},
         {"checkpoint", report.checkpoint},
         {"group", report.evidence.opening.group},
         {"chunk", report.evidence.opening.chunk}}
    );
    return true;
}

}  // namespace assay::worker
