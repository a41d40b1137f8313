// SPDX-License-Identifier: Apache-2.0
#include <tests/adversary/jackpot_hunt.hpp>

#include <map>
#include <set>
#include <utility>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/verification/lottery.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/roles/verifier.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/verdict_watch.hpp>

namespace assay::adversary {

std::vector<contracts::ChallengeVerdict> JackpotHunter::copied(const contracts::Task& task) {
    using Subject = std::pair<std::uint32_t, AccountId>;  // a segment and who judged it
    std::map<Subject, Hash256> theirs;
    std::set<Subject> ours;
    for (const contracts::DisputeId& id : context_.chain.rpc().disputes(task.id)) {
        const auto dispute = context_.chain.rpc().dispute(id);
        if (dispute && dispute->challenged() && dispute->state() == contracts::DisputeState::kAwaiting) {
            const Subject subject{dispute->segment, dispute->verdict()->verifier};
            theirs.try_emplace(subject, dispute->challenged()->seal);
            if (dispute->challenger == context_.chain.self()) {
                ours.insert(subject);
            }
        }
    }
    std::vector<contracts::ChallengeVerdict> out;
    for (const auto& [subject, seal] : theirs) {
        if (!ours.contains(subject)) {
            out.push_back({.task = task.id, .segment = subject.first, .verifier = subject.second, .seal = seal});
        }
    }
    return out;
}

std::vector<contracts::ChallengeVerdict> JackpotHunter::betrayed(const contracts::Task& task) {
    const worker::Journal journal(options_.insider_of / worker::kJournalName);
    const std::uint32_t rate = context_.chain.params().forced_error_bps;
    std::vector<contracts::ChallengeVerdict> out;
    for (const contracts::Assignment& assignment : task.assignments) {
        const auto kept = journal.verdict({task.id, assignment.segment});
        const bool is_ours =
            contracts::is_watcher(assignment, context_.chain.self()) && contracts::is_secret(assignment);
        if (!is_ours || !kept || !roles::is_opening_of(assignment, task.id, *kept) ||
            !contracts::is_forced(task, assignment, *kept, rate)) {
            continue;
        }
        const contracts::DisputedVerdict subject{.verifier = assignment.verifier};
        const auto id = contracts::dispute_id(task.id, assignment.segment, context_.chain.self(), subject);
        if (!context_.chain.rpc().dispute(id)) {
            out.push_back(
                {.task = task.id,
                 .segment = assignment.segment,
                 .verifier = assignment.verifier,
                 .seal = contracts::challenge_seal(
                     id, contracts::published_verdict(task, assignment, *kept, false).probe_root.value()
                 )}
            );
        }
    }
    return out;
}

bool JackpotHunter::prompt() {
    bool busy = false;
    for (const contracts::Task& task : roles::by_deadline(context_.chain.tasks())) {
        busy = attend(task) || busy;
    }
    return busy;
}

bool JackpotHunter::attend(const contracts::Task& task) {
    const bool may_be_challenged =
        task.state == contracts::TaskState::kVerifying || task.state == contracts::TaskState::kChallenge;
    if (!may_be_challenged || context_.journal.breaker()) {
        return false;
    }
    bool sent = false;
    const bool copies = options_.kind == Dishonesty::kFreeRider;
    for (const contracts::ChallengeVerdict& challenge : copies ? copied(task) : betrayed(task)) {
        if (context_.stop) {
            break;
        }
        sent = worker::send_challenge(context_, challenge) || sent;
    }
    return sent;
}

}  // namespace assay::adversary
