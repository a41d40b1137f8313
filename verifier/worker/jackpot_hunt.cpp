// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/jackpot_hunt.hpp>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/verification/lottery.hpp>
#include <verifier/roles/verifier.hpp>
#include <verifier/worker/journal.hpp>
#include <verifier/worker/verdict_watch.hpp>

namespace assay::worker {

std::set<JackpotHunt::Subject> JackpotHunt::copied(const contracts::Task& task) {
    std::set<Subject> theirs;
    std::set<Subject> ours;
    for (const contracts::DisputeId& id : at_.chain.rpc().disputes(task.id)) {
        const auto dispute = at_.chain.rpc().dispute(id);
        if (dispute && dispute->verdict && dispute->state == contracts::DisputeState::kAwaiting) {
            auto& subjects = dispute->challenger == at_.chain.self() ? ours : theirs;
            subjects.emplace(dispute->segment, dispute->verdict->verifier);
        }
    }
    std::erase_if(theirs, [&ours](const Subject& subject) { return ours.contains(subject); });
    return theirs;
}

std::set<JackpotHunt::Subject> JackpotHunt::betrayed(const contracts::Task& task) {
    const Journal journal(at_.options.insider_of / "journal.json");
    const std::uint32_t rate = at_.chain.params().forced_error_bps;
    std::set<Subject> out;
    for (const contracts::Assignment& assignment : task.assignments) {
        const auto kept = journal.verdict({task.id, assignment.segment});
        const bool is_ours = contracts::is_watcher(assignment, at_.chain.self()) && contracts::is_secret(assignment);
        if (!is_ours || !kept || !roles::is_opening_of(assignment, task.id, *kept) ||
            !contracts::is_forced(task, assignment, *kept, rate)) {
            continue;
        }
        const contracts::DisputedVerdict subject{.verifier = assignment.verifier};
        const auto id = contracts::dispute_id(task.id, assignment.segment, at_.chain.self(), subject);
        if (!at_.chain.rpc().dispute(id)) {
            out.emplace(assignment.segment, assignment.verifier);
        }
    }
    return out;
}

bool JackpotHunt::attend(const contracts::Task& task) {
    const bool may_be_challenged =
        task.state == contracts::TaskState::kVerifying || task.state == contracts::TaskState::kChallenge;
    if (!may_be_challenged || at_.journal.breaker()) {
        return false;
    }
    bool sent = false;
    const bool copies = at_.options.dishonesty == Dishonesty::kFreeRider;
    for (const auto& [segment, verifier] : copies ? copied(task) : betrayed(task)) {
        if (at_.stop) {
            break;
        }
        const contracts::ChallengeVerdict challenge{
            .task = task.id, .segment = segment, .verifier = verifier, .role = contracts::Role::kWhistleblower};
        sent = send_challenge(at_, challenge) || sent;
    }
    return sent;
}

}  // namespace assay::worker
