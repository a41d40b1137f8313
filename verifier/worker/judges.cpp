// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <core/crypto/random.hpp>
#include <contracts/params/by_value.hpp>
#include <verifier/roles/verifier.hpp>
#include <verifier/roles/whistleblower.hpp>
#include <verifier/worker/checker.hpp>
#include <verifier/worker/dispute_desk.hpp>
#include <verifier/worker/workplace.hpp>

namespace assay::worker {
namespace {

bool challenge_availability(Workplace& at, const roles::intent::ChallengeAvailability& intent, contracts::Role role) {
    const bool sent = at.chain.send(contracts::ChallengeAvailability{
        .task = intent.task, .checkpoint = intent.checkpoint, .tensor = 0, .tile = 0, .role = role});
    if (sent) {
        at.journal.note_challenge({intent.task, intent.checkpoint});
        at.reporter.event(
            {{"event", "challenge"}, {"task", to_hex(intent.task.view())}, {"checkpoint", intent.checkpoint}}
        );
    }
    return sent;
}

/// Judges the segments that it was drawn for, and accuses where it rejects.
class Verifier final : public Role {
  public:
    explicit Verifier(Workplace& workplace) : at_(workplace), checker_(workplace), disputes_(workplace) {}

    bool step() override {
        bool busy = false;
        for (const auto& [id, task] : at_.chain.tasks()) {
            busy = disputes_.attend(task) || busy;
            if (task.state != contracts::TaskState::kVerifying) {
                continue;
            }
            for (const contracts::Assignment& assignment : task.assignments) {
                if (assignment.verifier == at_.chain.self() && !at_.stop) {
                    busy = act(task, roles::decide_verifier(view_of(task, assignment))) || busy;
                }
            }
        }
        return busy;
    }

    void forget(const contracts::TaskId& /*task*/) override {}

  private:
    roles::VerifierView view_of(const contracts::Task& task, const contracts::Assignment& assignment) {
        const Journal::Place place{task.id, assignment.segment};
        roles::VerifierView view;
        view.task = task;
        view.assignment = assignment;
        view.claimed = at_.chain.checkpoint(task.id, assignment.segment).state_root;
        view.replays = at_.journal.replays(place);
        view.has_kept_verdict = at_.journal.verdict(place).has_value();
        if (view.replays.missing_checkpoint) {
            const auto challenged = at_.journal.challenged(task.id);
            view.has_challenged =
                std::find(challenged.begin(), challenged.end(), *view.replays.missing_checkpoint) != challenged.end();
        }
        view.free_stake = at_.chain.free_stake(contracts::Role::kVerifier);
        view.challenger_bond = contracts::challenger_bond(at_.chain.params(), contracts::task_value(task.spec));
        view.is_breaker_open = at_.journal.breaker().has_value();
        return view;
    }

    bool act(const contracts::Task& task, const roles::Intent& intent) {
        if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
            return checker_.replay(task, replay->segment);
        }
        if (const auto* commit = std::get_if<roles::intent::Commit>(&intent)) {
            return this->commit(task, commit->segment);
        }
        if (const auto* reveal = std::get_if<roles::intent::Reveal>(&intent)) {
            return this->reveal(task, reveal->segment);
        }
        if (const auto* challenge = std::get_if<roles::intent::ChallengeAvailability>(&intent)) {
            return challenge_availability(at_, *challenge, contracts::Role::kVerifier);
        }
        return false;
    }

    bool commit(const contracts::Task& task, std::uint32_t segment) {
        const Journal::Place place{task.id, segment};
        auto verdict = at_.journal.verdict(place);
        if (!verdict) {
            verdict = Journal::Verdict{.state_root = at_.journal.replays(place).first.value(), .salt = {}};
            crypto::fill_random(verdict->salt.data);
            at_.journal.keep_verdict(place, *verdict);
        }
        const Hash256 commitment = contracts::verdict_commitment(
            task.id, segment, at_.chain.self(), verdict->state_root, verdict->salt
        );
        return note("commit", task, segment, at_.chain.send(contracts::CommitVerdict{
            .task = task.id, .segment = segment, .commitment = commitment}));
    }

    bool reveal(const contracts::Task& task, std::uint32_t segment) {
        const auto verdict = at_.journal.verdict({task.id, segment}).value();
        return note("reveal", task, segment, at_.chain.send(contracts::RevealVerdict{
            .task = task.id, .segment = segment, .state_root = verdict.state_root, .salt = verdict.salt}));
    }

    bool note(const char* event, const contracts::Task& task, std::uint32_t segment, bool sent) {
        if (sent) {
            at_.reporter.event({{"event", event}, {"task", to_hex(task.id.view())}, {"segment", segment}});
        }
        return sent;
    }

    Workplace& at_;
    Checker checker_;
    DisputeDesk disputes_;
};

/// Checks what solvers completed and verifiers accepted.
class Whistleblower final : public Role {
  public:
    explicit Whistleblower(Workplace& workplace) : at_(workplace), checker_(workplace), disputes_(workplace) {}

    bool step() override {
        bool busy = false;
        for (const auto& [id, task] : at_.chain.tasks()) {
            busy = disputes_.attend(task) || busy;
            if (task.state >= contracts::TaskState::kCompleted && !at_.stop) {
                busy = act(task, roles::decide_whistleblower(view_of(task))) || busy;
            }
        }
        return busy;
    }

    void forget(const contracts::TaskId& /*task*/) override {}

  private:
    roles::WatchView view_of(const contracts::Task& task) {
        roles::WatchView view;
        view.self = at_.chain.self();
        view.task = task;
        for (std::uint32_t index = 0; index <= contracts::segment_count(task); ++index) {
            view.claimed.push_back(at_.chain.checkpoint(task.id, index).state_root);
            view.replays.push_back(at_.journal.replays({task.id, index}));
        }
        view.challenged = at_.journal.challenged(task.id);
        view.has_disputed = at_.journal.has_disputed(task.id);
        view.seed = at_.options.seed;
        view.free_stake = at_.chain.free_stake(contracts::Role::kWhistleblower);
        view.challenger_bond = contracts::challenger_bond(at_.chain.params(), contracts::task_value(task.spec));
        view.is_breaker_open = at_.journal.breaker().has_value();
        return view;
    }

    bool act(const contracts::Task& task, const roles::Intent& intent) {
        if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
            return checker_.replay(task, replay->segment);
        }
        if (const auto* accusation = std::get_if<roles::intent::OpenDispute>(&intent)) {
            return accuse(task, accusation->segment);
        }
        if (const auto* challenge = std::get_if<roles::intent::ChallengeAvailability>(&intent)) {
            return challenge_availability(at_, *challenge, contracts::Role::kWhistleblower);
        }
        return false;
    }

    bool accuse(const contracts::Task& task, std::uint32_t segment) {
        const bool sent = at_.chain.send(contracts::OpenDispute{
            .task = task.id, .segment = segment, .role = contracts::Role::kWhistleblower});
        if (sent) {
            at_.journal.note_dispute(task.id);
            at_.reporter.event({{"event", "accuse"}, {"task", to_hex(task.id.view())}, {"segment", segment}});
        }
        return sent;
    }

    Workplace& at_;
    Checker checker_;
    DisputeDesk disputes_;
};

}  // namespace

std::unique_ptr<Role> make_verifier(Workplace& workplace) { return std::make_unique<Verifier>(workplace); }
std::unique_ptr<Role> make_whistleblower(Workplace& workplace) { return std::make_unique<Whistleblower>(workplace); }

}  // namespace assay::worker
