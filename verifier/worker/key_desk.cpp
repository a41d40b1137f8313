// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/key_desk.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include <contracts/privacy/actions/privacy_actions.hpp>
#include <core/crypto/random.hpp>
#include <core/sealed/share.hpp>
#include <verifier/artifacts/task_secrets.hpp>
#include <verifier/worker/private_tasks.hpp>

namespace assay::worker {
namespace {

/// How many shares go into one answer that is free (DTY-1).
constexpr std::size_t kSharesAtOnce = 16;

}  // namespace

bool KeyDesk::attend() {
    if (context_.privates == nullptr) {
        return false;
    }
    bool busy = false;
    const auto& tasks = context_.chain.tasks();
    for (const auto& [id, task] : tasks) {
        if (!task.secrecy) {
            continue;
        }
        const bool is_solver = task.solver == context_.chain.self();
        const bool is_awaited = task.state == contracts::TaskState::kVerifying && !task.secrecy->awaited.empty();
        if (is_solver && is_awaited && context_.behaviour.shares_keys()) {
            busy = share(task) || busy;
        }
        busy = report_wrong(task) || busy;
    }
    return busy;
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
    // A node that lies about who was drawn would be told the keys: only what is proven is believed.
    const auto proven = context_.chain.proven_task(task.id);
    if (!proven || !proven->secrecy || proven->state != contracts::TaskState::kVerifying) {
        return false;  // the proven state is a block behind
    }
    auto awaited = proven->secrecy->awaited;
    awaited.resize(std::min(awaited.size(), kSharesAtOnce));
    if (awaited.empty()) {
        return false;
    }
    const contracts::ShareKeys action{
        .task = task.id,
        .key = {},
        .shares = artifacts::make_shares(
            context_.behaviour.shared(context_, task.id, *kept.secrets), context_.chain.chain_id(), task.id, awaited
        )};
    if (!context_.chain.send(action)) {
        return false;
    }
    context_.reporter.event({{"event", "keys_shared"}, {"task", to_hex(task.id.view())}, {"readers", awaited.size()}});
    return true;
}

bool KeyDesk::report_wrong(const contracts::Task& task) {
    using contracts::TaskState;
    const KeptShare& kept = context_.privates->share_of(context_.chain, task);
    const bool is_open = task.state >= TaskState::kDrawn && task.state <= TaskState::kDisclosure;
    const bool has_accepted = task.solver == context_.chain.self() && task.state != TaskState::kDrawn;
    if (kept.standing != Standing::kWrong || !is_open || has_accepted) {
        return false;
    }
    // A report of a right share opens it for everybody. So a node that lies about the keys gets none.
    const auto proven = context_.chain.proven_task(task.id);
    const bool is_proven = proven && proven->spec.privacy == task.spec.privacy && proven->secrecy &&
                           proven->secrecy->key == task.secrecy->key && proven->secrecy->shared == task.secrecy->shared;
    if (!is_proven) {
        return false;
    }
    const Bytes& share = kept.is_task_wrong ? kept.share.of_task : kept.share.of_checkpoints;
    std::array<std::uint8_t, 32> aux{};
    crypto::fill_random(aux);
    const auto evidence = sealed::make_wrong_share(context_.chain.key(), share, aux);
    if (!evidence) {
        return false;  // the chain takes no such share
    }
    const bool sent = context_.chain.send(contracts::ReportWrongKeys{
        .task = task.id, .is_of_checkpoints = !kept.is_task_wrong, .share = share, .evidence = *evidence});
    if (sent) {
        context_.reporter.event({{"event", "wrong_keys"}, {"task", to_hex(task.id.view())}});
    }
    return sent;
}

}  // namespace assay::worker
