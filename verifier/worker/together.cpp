// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/together.hpp>

#include <set>

#include <contracts/state/members.hpp>
#include <verifier/worker/told.hpp>

namespace assay::worker {
namespace {

bool is_together(const contracts::Task& task) { return task.group && task.group->is_together; }

}  // namespace

void Together::attend(const contracts::Task& task) {
    if (!is_together(task)) {
        return;
    }
    const bool is_lead = task.solver == context_.chain.self();
    report_findings(task);
    if (task.state == contracts::TaskState::kTraining) {
        audit_.attend(task);
    } else {
        audit_.forget(task.id);
    }
    if (task.state != contracts::TaskState::kTraining) {
        lead_.end(task.id);
        member_.finish(task.id);
    } else if (is_lead && !context_.options.together.empty()) {
        seats_.tend(task, lead_.gone(task.id), lead_.balance(task.id));
    } else if (const auto artifacts = is_lead ? nullptr : context_.artifacts(task)) {
        member_.serve(task, artifacts);
    }
}

// STM-11: whoever finds it reports it, and the first one wins. What the chain has refused is sent again in a later
// look, as Chain::send() has it: it pauses what was refused several times.
void Together::report_findings(const contracts::Task& task) {
    if (task.state < contracts::TaskState::kTraining || task.state > contracts::TaskState::kDisclosure) {
        return;
    }
    std::set<AccountId> convicted;  // in this look
    context_.statements->findings(task.id)->settle([&](const group::Finding& finding) {
        const auto& [member, evidence] = finding;
        const bool is_over = !contracts::find_member(task, member) || contracts::is_culprit(task, member) ||
                             member == context_.chain.self() || convicted.contains(member);
        if (is_over) {
            return true;
        }
        const bool is_reported = context_.chain.send(contracts::ReportEquivocation{
            .task = task.id,
            .member = member,
            .one = evidence.one,
            .one_signature = evidence.one_signature,
            .other = evidence.other,
            .other_signature = evidence.other_signature});
        if (is_reported) {
            convicted.insert(member);
            context_.reporter.event(
                {{"event", "report_equivocation"},
                 {"task", to_hex(task.id.view())},
                 {"member", to_hex(member.view())},
                 {"step", evidence.one.statement.step}}
            );
        }
        return is_reported;
    });
}

std::optional<TogetherLead::Progress> Together::train(
    const contracts::Task& task, std::uint32_t segment, std::chrono::milliseconds budget
) {
    const bool is_ours = is_together(task) && segment > 0 && task.solver == context_.chain.self();
    if (!is_ours || context_.options.together.empty()) {
        return std::nullopt;
    }
    const auto artifacts = context_.artifacts(task);
    if (!artifacts || task.checkpoints < segment) {
        return TogetherLead::Progress::kWaits;  // what members state is about a state that the chain has
    }
    const auto load = [&] {
        auto state = shelf_.load(*artifacts, segment - 1);
        if (!state) {
            shelf_.drop_damaged(task.id, segment - 1);
        }
        return state;
    };
    return lead_.advance(task, artifacts, segment, load, budget);
}

void Together::forget(const contracts::TaskId& task) {
    lead_.forget(task);
    seats_.forget(task);
    member_.end(task);
    audit_.forget(task);
    context_.statements->forget(task);
}

}  // namespace assay::worker
