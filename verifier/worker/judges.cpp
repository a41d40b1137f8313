// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <core/base/assert.hpp>
#include <contracts/arbitration/arbitration.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/verification/lottery.hpp>
#include <verifier/roles/order.hpp>
#include <verifier/roles/verifier.hpp>
#include <verifier/roles/watch.hpp>
#include <verifier/roles/whistleblower.hpp>
#include <verifier/worker/attester.hpp>
#include <verifier/worker/checker.hpp>
#include <verifier/worker/dispute_player.hpp>
#include <verifier/worker/profiler.hpp>
#include <verifier/worker/verdict_watch.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {
namespace {

/// Where the verdict on a segment is kept. One from before the task was cut (GRP-7) has other marks, and is not used
/// again.
Journal::Place verdict_place(const contracts::Task& task, std::uint32_t segment) {
    static_assert(contracts::kMaxSegments + 2 < 1U << 16U);
    const std::uint32_t cut = task.group && task.group->counted ? *task.group->counted + 1 : 0;
    return {task.id, cut << 16U | segment};
}

/// Judges the segments that it was drawn for, and accuses where it rejects.
class Verifier final : public Role {
  public:
    explicit Verifier(WorkerContext& context)
        : context_(context),
          checker_(context),
          disputes_(context),
          watch_(context, contracts::Role::kVerifier),
          profiler_(context),
          profiles_(context, contracts::Role::kVerifier),
          attester_(context) {}

    bool disputes() override { return disputes_.attend(roles::by_deadline(context_.chain.tasks())); }

    bool prompt() override {
        const auto tasks = roles::by_deadline(context_.chain.tasks());
        bool busy = disputes_.attend(tasks);
        for (const contracts::Task& task : tasks) {
            busy = profiler_.send(task) || busy;
            attester_.want(task);
            for (const roles::Intent& intent : intents(task)) {
                if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
                    checker_.want(task, replay->segment);
                } else if (!context_.stop) {
                    busy = act(task, intent) || busy;
                }
            }
        }
        return busy;
    }

    bool labour() override {
        for (const contracts::Task& task : roles::by_deadline(context_.chain.tasks())) {
            if (watch_.attend(task) || profiler_.attend(task) || profiles_.attend(task) || attester_.attend(task)) {
                return true;
            }
            for (const roles::Intent& intent : intents(task)) {
                if (roles::is_long(intent) && !context_.stop && act(task, intent)) {
                    return true;
                }
            }
        }
        return false;
    }

    void forget(const contracts::TaskId& task) override { attester_.forget(task); }

  private:
    /// What our assignments in the task ask for now.
    std::vector<roles::Intent> intents(const contracts::Task& task) {
        std::vector<roles::Intent> out;
        for (const contracts::Assignment& assignment : task.assignments) {
            if (assignment.verifier == context_.chain.self()) {
                out.push_back(roles::decide_verifier(view_of(task, assignment)));
            }
        }
        return out;
    }

    /// Whether a challenge of our verdict waits for its disclosure, which the next block may have.
    bool is_challenged(const contracts::Task& task, const contracts::Assignment& assignment) {
        if (task.open_disputes == 0 || !contracts::is_secret(assignment)) {
            return false;
        }
        const auto ids = context_.chain.rpc().disputes(task.id);
        return std::any_of(ids.begin(), ids.end(), [&](const contracts::DisputeId& id) {
            const auto dispute = context_.chain.rpc().dispute(id);
            return dispute && dispute->state() == contracts::DisputeState::kAwaiting &&
                   dispute->responder == context_.chain.self() && dispute->segment == assignment.segment &&
                   context_.chain.height() + 1 >=
                       contracts::disclosed_from(context_.chain.params(), task.spec, *dispute).value;
        });
    }

    roles::VerifierView view_of(const contracts::Task& task, const contracts::Assignment& assignment) {
        const Journal::Place place{task.id, assignment.segment};
        roles::VerifierView view;
        view.task = task;
        view.assignment = assignment;
        view.claimed = context_.chain.claimed_root(task, assignment.segment);
        view.replays = context_.journal.replays(place);
        if (!contracts::is_exact(task, assignment.segment)) {
            // Whatever its end, a replay that was measured is all that a verdict takes.
            if (!context_.judged.contains(place)) {
                view.replays.first.reset();
                view.replays.second.reset();
            }
            view.claimed = view.replays.first.value_or(Hash256{});
            view.replays.second.reset();
        }
        view.has_kept_verdict = has_opening(task, assignment);
        const bool lacks_report = view.replays.first && !view.replays.unable && !task.spec.checks.empty() &&
                                  !context_.checked.contains(place);  // lost by a restart
        if (!view.has_kept_verdict && (lacks_report || lacks_marks(task, assignment, view))) {
            view.replays = {};
        }
        view.is_challenged = is_challenged(task, assignment);
        view.is_breaker_open = context_.journal.breaker().has_value();
        return view;
    }

    /// Whether the opening of the assignment's commitment is on the disk. One that was lost is kept again as soon as a
    /// replay gives it.
    bool has_opening(const contracts::Task& task, const contracts::Assignment& assignment) {
        const auto kept = context_.journal.verdict(verdict_place(task, assignment.segment));
        if (kept && roles::is_opening_of(assignment, task.id, *kept)) {
            return true;
        }
        const bool is_owed =
            assignment.status == contracts::VerdictStatus::kCommitted || contracts::is_secret(assignment);
        const auto opening = is_owed ? make_verdict(task, assignment) : std::nullopt;
        if (!opening) {
            return false;
        }
        const bool is_ours = roles::is_opening_of(assignment, task.id, *opening);
        if (is_ours) {
            keep(task, assignment.segment, *opening);
        }
        if (is_ours || lost_.insert({task.id, assignment.segment}).second) {
            context_.reporter.event(
                {{"event", is_ours ? "reopened" : "lost"},
                 {"task", to_hex(task.id.view())},
                 {"segment", assignment.segment}}
            );
        }
        return is_ours;
    }

    void keep(const contracts::Task& task, std::uint32_t segment, const contracts::VerdictOpening& opening) {
        const bool shows = opening.verdict.diverged_after.has_value();
        context_.journal.keep_verdict(
            verdict_place(task, segment), opening,
            shows ? context_.judged.at({task.id, segment}).divergence : std::nullopt
        );
    }

    /// Whether the segment was replayed for other marks than those of the assignment, before the task was cut.
    bool lacks_marks(
        const contracts::Task& task, const contracts::Assignment& assignment, const roles::VerifierView& view
    ) const {
        if (assignment.status != contracts::VerdictStatus::kDue || view.replays.first != view.claimed) {
            return false;
        }
        const auto marks = contracts::marks_of(task, assignment);
        return std::any_of(marks.begin(), marks.end(), [&](std::uint32_t mark) {
            return !context_.journal.probe_replays({task.id, assignment.segment}, mark).first;
        });
    }

    bool act(const contracts::Task& task, const roles::Intent& intent) {
        if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
            return checker_.replay(task, replay->segment);
        }
        if (const auto* commit = std::get_if<roles::intent::Commit>(&intent)) {
            return this->commit(task, commit->segment);
        }
        if (const auto* publish = std::get_if<roles::intent::Publish>(&intent)) {
            return this->publish(task, publish->segment);
        }
        if (const auto* disclose = std::get_if<roles::intent::Disclose>(&intent)) {
            return this->disclose(task, disclose->segment);
        }
        return false;
    }

    const contracts::Assignment& assignment_of(const contracts::Task& task, std::uint32_t segment) const {
        const auto found =
            std::find_if(task.assignments.begin(), task.assignments.end(), [&](const contracts::Assignment& item) {
                return item.segment == segment && item.verifier == context_.chain.self();
            });
        ASSERT(found != task.assignments.end());
        return *found;
    }

    /// The opening that our replay of the segment gives; nullopt before there is one, or if it lacks a mark.
    std::optional<contracts::VerdictOpening> make_verdict(
        const contracts::Task& task, const contracts::Assignment& assignment
    ) {
        const std::uint32_t segment = assignment.segment;
        const Journal::Place place{task.id, segment};
        contracts::VerdictOpening opening;
        const bool exact = contracts::is_exact(task, segment);
        const std::optional<Hash256> first = context_.journal.replays(place).first;
        const auto checked = context_.checked.find(place);
        const bool lacks_report = !task.spec.checks.empty() && checked == context_.checked.end();
        if (!first || lacks_report || (!exact && !context_.judged.contains(place))) {
            return std::nullopt;
        }
        opening.verdict = exact ? contracts::Verdict{*first, std::nullopt} : context_.judged.at(place).verdict;
        if (!task.spec.checks.empty()) {
            opening.verdict.failed_checks = checked->second;  // CHK-3
        }
        const bool has_marks = exact ? opening.verdict.end_root == context_.chain.claimed_root(task, segment)
                                     : !opening.verdict.diverged_after;
        const auto marks = has_marks ? contracts::marks_of(task, assignment) : std::vector<std::uint32_t>{};
        for (const std::uint32_t mark : marks) {
            const std::optional<Hash256> root = context_.journal.probe_replays(place, mark).first;
            if (!root) {
                return std::nullopt;
            }
            opening.marks.push_back(*root);
        }
        const roles::VerdictSecrets secrets = roles::verdict_secrets(
            context_.chain.key(), context_.chain.chain_id(), task.id, verdict_place(task, segment).second, assignment
        );
        opening.decoy_root = secrets.decoy_root;
        opening.salt = secrets.salt;
        return opening;
    }

    bool commit(const contracts::Task& task, std::uint32_t segment) {
        auto opening = context_.journal.verdict(verdict_place(task, segment));
        if (!opening) {
            opening = make_verdict(task, assignment_of(task, segment)).value();
            keep(task, segment, *opening);
        }
        const Hash256 commitment = contracts::verdict_commitment(task.id, segment, context_.chain.self(), *opening);
        return note(
            "commit", task, segment,
            context_.chain.send(contracts::CommitVerdict{.task = task.id, .segment = segment, .commitment = commitment})
        );
    }

    bool publish(const contracts::Task& task, std::uint32_t segment) {
        const auto opening = context_.journal.verdict(verdict_place(task, segment)).value();
        const std::uint32_t rate = context_.chain.params().forced_error_bps;
        const bool forced = contracts::is_forced(task, assignment_of(task, segment), opening, rate);
        const auto verdict = context_.behaviour.published(
            context_, task, segment, contracts::published_verdict(task, assignment_of(task, segment), opening, forced)
        );
        return verdict &&
               note(
                   "publish", task, segment,
                   context_.chain.send(contracts::PublishVerdict{
                       .task = task.id,
                       .segment = segment,
                       .verdict = *verdict,
                       .divergence = verdict->diverged_after ? context_.journal.divergence(verdict_place(task, segment))
                                                             : std::nullopt})
               );
    }

    bool disclose(const contracts::Task& task, std::uint32_t segment) {
        const auto opening = context_.journal.verdict(verdict_place(task, segment)).value();
        return note(
            "disclose", task, segment,
            context_.chain.send(contracts::DiscloseVerdict{.task = task.id, .segment = segment, .opening = opening})
        );
    }

    bool note(const char* event, const contracts::Task& task, std::uint32_t segment, bool sent) {
        if (sent) {
            context_.reporter.event({{"event", event}, {"task", to_hex(task.id.view())}, {"segment", segment}});
        }
        return sent;
    }

    WorkerContext& context_;
    Checker checker_;
    DisputePlayer disputes_;
    VerdictWatch watch_;
    Profiler profiler_;
    ProfileWatch profiles_;
    Attester attester_;
    std::set<Journal::Place> lost_;  ///< commitments that a replay did not give the opening of
};

/// Checks what solvers completed and verifiers accepted.
class Whistleblower final : public Role {
  public:
    explicit Whistleblower(WorkerContext& context)
        : context_(context),
          checker_(context),
          disputes_(context),
          watch_(context, contracts::Role::kWhistleblower),
          profiles_(context, contracts::Role::kWhistleblower) {}

    bool disputes() override { return disputes_.attend(roles::by_deadline(context_.chain.tasks())); }

    bool prompt() override {
        const auto tasks = roles::by_deadline(context_.chain.tasks());
        bool busy = disputes_.attend(tasks);
        for (const contracts::Task& task : tasks) {
            const roles::Intent intent = next(task);
            if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
                checker_.want(task, replay->segment);
            } else if (!context_.stop) {
                busy = act(task, intent) || busy;
            }
        }
        return busy;
    }

    bool labour() override {
        for (const contracts::Task& task : roles::by_deadline(context_.chain.tasks())) {
            if (watch_.attend(task) || profiles_.attend(task)) {
                return true;
            }
            const roles::Intent intent = next(task);
            if (roles::is_long(intent) && !context_.stop && act(task, intent)) {
                return true;
            }
        }
        if (context_.options.join_grains != 0) {
            attend_membership();
        }
        return false;
    }

    void forget(const contracts::TaskId& /*task*/) override {}

  private:
    roles::Intent next(const contracts::Task& task) {
        const bool is_completed =
            task.state >= contracts::TaskState::kCompleted && task.state != contracts::TaskState::kProfiling;
        if (context_.closed()) {
            return roles::Wait::kNothingDue;  // nobody owes the replay of what it was not drawn for
        }
        if (!is_completed || context_.is_unreadable(task)) {
            return roles::Wait::kNothingDue;
        }
        return roles::decide_whistleblower(view_of(task));
    }

    bool has_disputed(const contracts::Task& task) {
        if (!context_.journal.has_disputed(task.id) || !contracts::is_shortened(task)) {
            return context_.journal.has_disputed(task.id);
        }
        // GRP-7: the task was cut, maybe at what we have disputed. Segments before that may be wrong too.
        for (std::uint32_t index = 0; index <= contracts::last_segment(task); ++index) {
            if (context_.chain.rpc().dispute(contracts::dispute_id(task.id, index, context_.chain.self()))) {
                return true;
            }
        }
        return false;
    }

    roles::WatchView view_of(const contracts::Task& task) {
        roles::WatchView view;
        view.self = context_.chain.self();
        view.task = task;
        for (std::uint32_t index = 0; index <= contracts::last_segment(task); ++index) {
            view.claimed.push_back(context_.chain.claimed_root(task, index));
            view.replays.push_back(context_.journal.replays({task.id, index}));
        }
        view.has_disputed = has_disputed(task);
        view.seed = context_.options.seed;
        view.free_stake = context_.chain.free_stake(contracts::Role::kWhistleblower);
        view.challenger_bond = contracts::challenger_bond(context_.chain.params(), contracts::task_value(task.spec));
        view.is_breaker_open = context_.journal.breaker().has_value();
        return view;
    }

    bool act(const contracts::Task& task, const roles::Intent& intent) {
        if (const auto* replay = std::get_if<roles::intent::Replay>(&intent)) {
            return checker_.replay(task, replay->segment);
        }
        if (const auto* accusation = std::get_if<roles::intent::OpenDispute>(&intent)) {
            return accuse(task, accusation->segment);
        }
        return false;
    }

    void attend_membership() {
        const auto stakers = context_.chain.stakers(contracts::Role::kWhistleblower);
        const bool is_member = std::find(stakers.begin(), stakers.end(), context_.chain.self()) != stakers.end();
        const std::uint32_t rate = std::max(context_.chain.params().forced_error_bps, 1U);
        roles::Registry registry;
        registry.others = static_cast<std::uint32_t>(stakers.size() - (is_member ? 1U : 0U));
        registry.others_max = context_.options.others_max;
        registry.checks = context_.journal.checks();
        registry.payout_checks = context_.options.payout_checks != 0 ? context_.options.payout_checks : 10'000 / rate;
        registry.is_member = is_member;
        const Amount free = context_.chain.free_stake(contracts::Role::kWhistleblower);
        const roles::Membership choice = roles::decide_membership(registry);
        const bool leaves = choice == roles::Membership::kLeave && free.grains != 0;
        const Amount stake{context_.options.join_grains};
        // Less would not make a member of us, and we would bond it in every block.
        const bool joins = choice == roles::Membership::kJoin && !context_.journal.breaker() &&
                           stake >= context_.chain.params().challenger_bond;
        if (!joins && !leaves) {
            return;
        }
        constexpr auto kRole = contracts::Role::kWhistleblower;
        const bool sent = leaves ? context_.chain.send(contracts::Unbond{.role = kRole, .amount = free})
                                 : context_.chain.send(contracts::Bond{.role = kRole, .amount = stake});
        if (sent) {
            context_.reporter.event({{"event", leaves ? "leave" : "join"}, {"others", registry.others}});
        }
    }

    bool accuse(const contracts::Task& task, std::uint32_t segment) {
        const bool sent = context_.chain.send(contracts::OpenDispute{
            .task = task.id, .segment = segment, .role = contracts::Role::kWhistleblower});
        if (sent) {
            context_.journal.note_dispute(task.id);
            context_.reporter.event({{"event", "accuse"}, {"task", to_hex(task.id.view())}, {"segment", segment}});
        }
        return sent;
    }

    WorkerContext& context_;
    Checker checker_;
    DisputePlayer disputes_;
    VerdictWatch watch_;
    ProfileWatch profiles_;
};

}  // namespace

std::unique_ptr<Role> make_verifier(WorkerContext& context) { return std::make_unique<Verifier>(context); }
std::unique_ptr<Role> make_whistleblower(WorkerContext& context) { return std::make_unique<Whistleblower>(context); }

}  // namespace assay::worker
