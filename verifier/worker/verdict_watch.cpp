// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/verdict_watch.hpp>

#include <algorithm>
#include <variant>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>

namespace assay::worker {

bool send_challenge(WorkerContext& context, const contracts::ChallengeVerdict& challenge) {
    const bool sent = context.chain.send(challenge);
    if (sent) {
        nlohmann::ordered_json event = {
            {"event", "challenge_verdict"},
            {"task", to_hex(challenge.task.view())},
            {"segment", challenge.segment},
            {"verifier", to_hex(challenge.verifier.view())}};
        if (challenge.part != contracts::VerdictPart::kProbe) {
            event["part"] = contracts::to_string(challenge.part);
        }
        context.reporter.event(event);
    }
    return sent;
}

roles::VerdictView VerdictWatch::view_of(const contracts::Task& task, const contracts::Assignment& assignment) {
    const AccountId& self = context_.chain.self();
    roles::VerdictView view;
    view.self = self;
    view.task = task;
    view.assignment = assignment;
    view.replays = context_.journal.probe_replays({task.id, assignment.segment}, assignment.probe);
    view.is_duty = roles::is_watchers_duty(task, assignment, self, role_);
    view.height = Height{context_.chain.height()};
    view.challenge_span = contracts::challenge_span(context_.chain.params(), task.spec);
    view.is_breaker_open = context_.journal.breaker().has_value();
    if (roles::finding_of(view.replays, *assignment.probe_root) == roles::Finding::kReject) {
        // Asked of the chain, which does not forget what a killed worker would have.
        const contracts::DisputedVerdict subject{assignment.verifier, assignment.forced == true};
        const auto id = contracts::dispute_id(task.id, assignment.segment, self, subject);
        view.has_challenged = context_.chain.rpc().dispute(id).has_value();
        view.free_stake = context_.chain.free_stake(role_);
        view.challenger_bond = contracts::challenger_bond(context_.chain.params(), contracts::task_value(task.spec));
    }
    return view;
}

bool VerdictWatch::check_distance(const contracts::Task& task, const contracts::Assignment& assignment) {
    const AccountId& self = context_.chain.self();
    const bool in_window = task.state == contracts::TaskState::kVerifying ||
                           (task.state == contracts::TaskState::kChallenge && task.deadline.value != 0);
    const bool is_open = in_window && contracts::is_published(assignment) && !contracts::is_released(assignment);
    if (!is_open || assignment.verifier == self || context_.journal.breaker()) {
        return false;
    }
    const auto own = context_.judged.find({task.id, assignment.segment});
    if (own == context_.judged.end()) {
        const bool is_duty = roles::is_watchers_duty(task, assignment, self, role_);
        const bool is_unable = context_.journal.replays({task.id, assignment.segment}).unable;
        return is_duty && !is_unable && checker_.replay(task, assignment.segment);
    }
    const contracts::Verdict& mine = own->second.verdict;
    if (mine.diverged_after != assignment.diverged_after || mine.end_root != assignment.end_root) {
        return challenge_part(task, assignment, contracts::VerdictPart::kEnd, std::nullopt);
    }
    return mine.measurement != assignment.measurement &&
           challenge_part(task, assignment, contracts::VerdictPart::kMeasurement, own->second.roots);
}

bool VerdictWatch::challenge_part(
    const contracts::Task& task, const contracts::Assignment& assignment, contracts::VerdictPart part,
    const std::optional<contracts::MeasuredRoots>& roots
) {
    const contracts::DisputedVerdict subject{assignment.verifier, false, part};
    const auto id = contracts::dispute_id(task.id, assignment.segment, context_.chain.self(), subject);
    if (context_.chain.rpc().dispute(id)) {
        return false;
    }
    return send_challenge(
        context_, {.task = task.id,
                   .segment = assignment.segment,
                   .verifier = assignment.verifier,
                   .role = role_,
                   .part = part,
                   .roots = roots}
    );
}

bool VerdictWatch::attend(const contracts::Task& task) {
    const bool is_published = std::any_of(task.assignments.begin(), task.assignments.end(), contracts::is_published);
    if (!is_published || context_.is_unreadable(task)) {
        return false;
    }
    bool busy = false;
    for (const contracts::Assignment& assignment : roles::in_order_of_harm(context_.chain.params(), task)) {
        const bool is_looked_at = !context_.stop && context_.behaviour.watches();
        if (is_looked_at && !contracts::is_exact(task, assignment.segment) && check_distance(task, assignment)) {
            return true;  // what was replayed now is challenged before another segment is replayed
        }
        if (!assignment.probe_root || context_.stop || !context_.behaviour.watches()) {
            continue;
        }
        const roles::VerdictView view = view_of(task, assignment);
        if (view.is_duty && view.replays.first) {  // by a replay for it, or of the whole segment before it was one
            context_.journal.note_check({task.id, assignment.segment}, assignment.verifier);
        }
        const roles::Intent intent = roles::decide_verdict_watch(view);
        if (const auto* replay = std::get_if<roles::intent::ReplayProbe>(&intent)) {
            busy = checker_.replay_probe(task, replay->segment, replay->probe) || busy;
        } else if (const auto* accusation = std::get_if<roles::intent::ChallengeVerdict>(&intent)) {
            busy = challenge(task, *accusation) || busy;
        }
    }
    return busy;
}

bool VerdictWatch::challenge(const contracts::Task& task, const roles::intent::ChallengeVerdict& intent) {
    const contracts::DisputedVerdict subject{.verifier = intent.verifier};
    const auto dispute = contracts::dispute_id(task.id, intent.segment, context_.chain.self(), subject);
    return send_challenge(
        context_, {.task = task.id,
                   .segment = intent.segment,
                   .verifier = intent.verifier,
                   .role = role_,
                   .seal = contracts::challenge_seal(dispute, intent.found)}
    );
}

}  // namespace assay::worker
