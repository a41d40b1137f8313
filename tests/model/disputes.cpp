// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <map>

#include <contracts/arbitration/arbitration.hpp>

/// How disputes end, and who is paid and slashed for that.
namespace assay::model {

using contracts::DisputeState;
using contracts::ProfileStatus;
using contracts::Reason;
using contracts::VerdictStatus;

void Model::close_dispute(const DisputeId& id, DisputeState state, Reason reason) {
    Dispute& dispute = world_.disputes.at(id);
    dispute.state = state;
    dispute.reason = reason;
    dispute.ended_at = height_;
    dispute.responder_clock = dispute.challenger_clock = dispute.last_move_at = 0;
    dispute.lane = 0;
    set_deadline({contracts::DueKind::kDispute, Hash256{id.data}, {}}, dispute.deadline, 0);
    std::erase(at(dispute.task).disputes, id);
}

void Model::return_bond(Dispute& dispute) {
    if (dispute.state == DisputeState::kMoot && flaw_ == Flaw::kMootKeepsBond) {
        return;
    }
    unlock(dispute.role, dispute.challenger, dispute.bond);
    dispute.bond = 0;
}

void Model::drop_disputes_over(const TaskId& id, const std::function<bool(const Dispute&)>& is_over_it) {
    const std::vector<DisputeId> open = at(id).disputes;
    for (const DisputeId& other : open) {
        if (is_over_it(world_.disputes.at(other))) {
            close_dispute(other, DisputeState::kMoot, Reason::kMoot);
            return_bond(world_.disputes.at(other));
        }
    }
}

/// SET-10: whoever is paid for what `won` refutes, in order.
std::vector<AccountId> Model::accusers(const DisputeId& won) const {
    const Dispute& ended = world_.disputes.at(won);
    const Task& task = world_.tasks.at(ended.task);
    std::vector<AccountId> out;
    const auto add = [&](const Dispute& dispute) {
        if (std::find(out.begin(), out.end(), dispute.challenger) == out.end()) {
            out.push_back(dispute.challenger);
        }
    };
    if (flaw_ == Flaw::kEnderIsFirst) {
        add(ended);
    }
    for (const bool same : {true, false}) {
        std::map<std::uint64_t, std::vector<const Dispute*>> by_block;
        for (const DisputeId& id : task.disputes) {
            const Dispute& dispute = world_.disputes.at(id);
            const bool over_verdicts = dispute.verdict && ended.verdict && dispute.segment == ended.segment;
            const bool over_profiles = dispute.profile && ended.profile;
            const bool over_claims = is_over_claim(dispute) && is_over_claim(ended);
            const bool is_same = dispute.segment == ended.segment && dispute.verdict == ended.verdict &&
                                 dispute.profile == ended.profile;
            if (dispute.responder == ended.responder && is_same == same &&
                (over_verdicts || over_profiles || over_claims)) {
                by_block[dispute.opened_at].push_back(&dispute);
            }
        }
        for (const auto& [height, disputes] : by_block) {
            for (const bool drawn : {true, false}) {
                for (const Dispute* dispute : disputes) {
                    const bool is_drawn =
                        dispute->role == Role::kVerifier &&
                        std::any_of(task.duties.begin(), task.duties.end(), [&](const Duty& duty) {
                            return duty.segment == dispute->segment && duty.verifier == dispute->challenger;
                        });
                    if (is_drawn == drawn) {
                        add(*dispute);
                    }
                }
            }
        }
    }
    return out;
}

void Model::refute_verdict(
    const TaskId& id, Duty& duty, VerdictStatus status, Reason reason, const std::optional<DisputeId>& won
) {
    // DSP-43, VER-14
    std::vector<AccountId> winners;
    if (won) {
        winners = {accusers(*won).front()};
        close_dispute(*won, DisputeState::kRefuted, reason);
        return_bond(world_.disputes.at(*won));
    }
    const Loss loss = slash(id, Role::kVerifier, duty.verifier, duty.bond, reason, winners);
    duty.bond = 0;
    duty.status = status;
    if (won) {
        Dispute& dispute = world_.disputes.at(*won);
        dispute.slashed = loss.slashed;
        dispute.paid = loss.paid;
        dispute.burned = loss.burned;
    }
    drop_disputes_over(id, [&](const Dispute& other) {
        return other.verdict && other.verdict->verifier == duty.verifier && other.segment == duty.segment;
    });
    resume(id);
}

void Model::refute_profile(const DisputeId& won, Reason reason) {
    // PRF-5
    const TaskId id = world_.disputes.at(won).task;
    const AccountId winner = accusers(won).front();
    close_dispute(won, DisputeState::kRefuted, reason);
    Dispute& dispute = world_.disputes.at(won);
    return_bond(dispute);
    for (Profiler& profiler : at(id).profiling->profilers) {
        if (profiler.account == dispute.responder) {
            const Loss loss = slash(id, Role::kVerifier, profiler.account, profiler.bond, reason, {winner});
            profiler.bond = 0;
            profiler.status = ProfileStatus::kRefuted;
            dispute.slashed = loss.slashed;
            dispute.paid = loss.paid;
            dispute.burned = loss.burned;
        }
    }
    drop_disputes_over(id, [&](const Dispute& other) { return other.responder == dispute.responder; });
    resume(id);
}

/// SET-2, STM-10: the claim of a segment was wrong, by whose fault ever.
void Model::refute_segment(const DisputeId& id, Reason reason, const std::optional<AccountId>& culprit) {
    const Dispute& dispute = world_.disputes.at(id);
    const std::vector<AccountId> winners = accusers(id);
    close_dispute(id, DisputeState::kRefuted, reason);
    return_bond(world_.disputes.at(id));
    const Loss loss = convict(dispute.task, {reason, winners, dispute.segment, culprit});
    Dispute& ended = world_.disputes.at(id);
    ended.slashed = loss.slashed;
    ended.paid = loss.paid;
    ended.burned = loss.burned;
}

/// A proof was judged, or a clock has run out.
void Model::rule(const DisputeId& id, bool refuted, Reason reason) {
    const Dispute dispute = world_.disputes.at(id);
    if (dispute.blame) {
        end_accusation(id, !refuted, reason);
    } else if (!refuted) {
        close_dispute(id, DisputeState::kUpheld, reason);
        Task& task = at(dispute.task);
        std::uint64_t lost = dispute.bond;
        if (is_solvers(dispute)) {
            lost = std::min(challenge_bond(task), task.solver_bond);  // DSP-46
            task.solver_bond -= lost;
        }
        const Loss loss = slash(dispute.task, dispute.role, dispute.challenger, lost, reason, {dispute.responder});
        Dispute& ended = world_.disputes.at(id);
        ended.bond = 0;
        ended.slashed = loss.slashed;
        ended.paid = loss.paid;
        ended.burned = loss.burned;
        resume(dispute.task);
    } else if (dispute.verdict) {
        Duty* duty = find_duty(at(dispute.task), dispute.segment, dispute.responder);
        refute_verdict(dispute.task, *duty, VerdictStatus::kRefuted, reason, id);
    } else if (dispute.profile) {
        refute_profile(id, reason);
    } else {
        refute_segment(id, reason, std::nullopt);
    }
}

}  // namespace assay::model
