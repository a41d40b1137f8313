// SPDX-License-Identifier: Apache-2.0
#include <tests/model/model.hpp>

#include <algorithm>
#include <utility>

/// What becomes of segments that have no accepting verdict: who may attest that they could have been replayed, what a
/// committee's end does, and what silence costs (AVL rules).
namespace assay::model {

using contracts::CommitteeState;
using contracts::DrawKind;
using contracts::Reason;
using contracts::TaskState;
using contracts::TxError;
using contracts::VerdictStatus;

bool is_sitting(const Task& task) {
    return task.state == TaskState::kCompleted && task.committee && task.committee->state == CommitteeState::kSitting;
}

Asked asked_of(const TaskId& id, const Task& task, std::size_t place) {
    // AVL-3
    const Committee& committee = task.committee.value();
    const auto drawn = [&](std::uint32_t part) {
        const auto index = static_cast<std::uint32_t>(place);
        return contracts::draw_randomness(committee.seed, {id, DrawKind::kTile, part, index});
    };
    const std::uint32_t segment = committee.segments.at(contracts::reduce(drawn(0), committee.segments.size()));
    Asked out;
    out.checkpoint = segment < 2 ? 0 : segment - 1;
    out.tensor = static_cast<std::uint32_t>(contracts::reduce(drawn(1), groups_of(task.spec)));
    out.number = contracts::to_seed(drawn(2));
    return out;
}

bool Model::has_attested(const Task& task, const AccountId& account, std::uint32_t segment) {
    const auto found = task.attested.find(segment);
    return found != task.attested.end() && found->second.contains(account);
}

// --- draws ---------------------------------------------------------------------------------------------------

/// AVL-1: whether there is a segment that is open and was not found available, or that somebody was silent about since
/// who had not attested.
bool Model::needs_committee(const Task& task) {
    std::set<std::uint32_t> open = unaccepted(task);
    const bool is_found = task.committee && task.committee->state == CommitteeState::kAvailable;
    const bool is_held = std::any_of(task.duties.begin(), task.duties.end(), [](const Duty& duty) {
        return duty.status == VerdictStatus::kMissed && duty.bond != 0;  // AVL-8
    });
    if (is_found && task.team) {
        return !open.empty() && is_held;  // GRP-10
    }
    if (is_found && !is_held) {
        for (const std::uint32_t segment : task.committee->segments) {
            open.erase(segment);
        }
    }
    return !open.empty();
}

std::vector<std::uint32_t> covered_next(const Task& task, const std::set<std::uint32_t>& open) {
    std::vector<std::uint32_t> out;
    std::optional<AccountId> whose;
    for (const bool held : {true, false}) {
        for (const std::uint32_t segment : open) {
            const bool is_held = std::any_of(task.duties.begin(), task.duties.end(), [&](const Duty& duty) {
                return duty.segment == segment && duty.status == VerdictStatus::kMissed && duty.bond != 0;
            });
            if (!whose && is_held == held) {
                whose = who_answers(task, segment);
            }
        }
    }
    for (const std::uint32_t segment : open) {
        if (who_answers(task, segment) == whose) {
            out.push_back(segment);
        }
    }
    return out;
}

void Model::draw_committee(const TaskId& id) {
    // AVL-2
    Task& task = at(id);
    Pool able = pool(Role::kVerifier);
    std::erase_if(able, [&](const auto& candidate) {
        return candidate.second == 0 || candidate.first == task.submitter || is_in_team(task, candidate.first);
    });
    if (able.empty()) {
        fail_draw(id);
        return;
    }
    Committee next;
    next.segments = covered_next(task, unaccepted(task));
    if (task.committee && task.committee->state == CommitteeState::kWithheld &&
        task.committee->segments == next.segments) {
        next.sitting = task.committee->sitting + 1;
    }
    next.seed = seed_;
    for (std::uint32_t seat = 0; seat < params_.committee_seats; ++seat) {
        const AccountId drawn = pick(able, random({id, DrawKind::kMember, 0, seat})).value();
        std::size_t place = 0;
        while (place < next.members.size() && next.members[place].account != drawn) {
            ++place;
        }
        next.members.resize(std::max(next.members.size(), place + 1));
        next.members[place].account = drawn;
        ++next.members[place].seats;
    }
    task.committee = std::move(next);
    task.suspended = false;
    set_task_deadline(id, height_ + params_.attest_blocks + delay_of(task.spec));
}

// --- attestations --------------------------------------------------------------------------------------------

Model::Why Model::why(const contracts::AttestAvailability& a) const {
    if (is_malformed(a.opening)) {
        return {TxError::kFieldOutOfRange};
    }
    const Task* task = find(a.task);
    if (task == nullptr) {
        return {TxError::kTaskUnknown};
    }
    if (task->state != TaskState::kCompleted) {
        return {TxError::kTaskState};
    }
    if (!is_sitting(*task)) {
        return {TxError::kPhase};
    }
    const std::vector<Member>& members = task->committee->members;
    for (std::size_t place = 0; place < members.size(); ++place) {
        if (members[place].account != who_) {
            continue;
        }
        Why out;
        if (members[place].has_attested) {
            out.insert(TxError::kAlreadyAttested);
        }
        if (!is_what_was_asked(*task, asked_of(a.task, *task, place), a.opening)) {
            out.insert(TxError::kTileInvalid);
        }
        return out;
    }
    return {TxError::kNotOnCommittee};
}

void Model::act(const contracts::AttestAvailability& a) {
    Committee& committee = at(a.task).committee.value();
    seen_["attested by a piece"] += at(a.task).secret ? 1U : 0U;
    bool is_any_silent = false;
    for (Member& member : committee.members) {
        member.has_attested = member.has_attested || member.account == who_;
        is_any_silent = is_any_silent || !member.has_attested;
    }
    if (!is_any_silent) {
        find_available(a.task);  // AVL-4
    }
}

void Model::find_available(const TaskId& id) {
    // AVL-4
    at(id).committee->state = CommitteeState::kAvailable;
    // AVL-8: the tenths that stayed locked are burned now.
    std::uint64_t tenths = 0;
    const std::uint64_t most = bond_in(at(id), who_answers(at(id), at(id).committee->segments.front()));
    const std::vector<std::uint32_t> covered = at(id).committee->segments;
    for (const std::uint32_t segment : covered) {
        std::set<AccountId>& attested = at(id).attested[segment];
        attested.clear();
        for (const Member& member : at(id).committee->members) {
            if (member.has_attested) {
                attested.insert(member.account);
            }
        }
    }
    seen_["segments of several committees"] += at(id).attested.size() > covered.size() ? 1U : 0U;
    for (Duty& duty : at(id).duties) {
        const bool is_covered = std::count(covered.begin(), covered.end(), duty.segment) != 0;
        if (!is_covered || duty.status != VerdictStatus::kMissed) {
            continue;
        }
        const std::uint64_t held = std::exchange(duty.bond, 0);
        const std::uint64_t tenth = std::min(held, most - tenths);  // nobody loses more than the other can
        unlock(Role::kVerifier, duty.verifier, held - tenth);
        tenths += tenth;
        if (flaw_ == Flaw::kReturnsTenths) {
            unlock(Role::kVerifier, duty.verifier, tenth);
        } else {
            slash(id, Role::kVerifier, duty.verifier, tenth, Reason::kMissedVerdict, {});
        }
    }
    charge_responder(id, tenths);
    complete(id);  // AVL-7
}

/// AVL-6, GRP-10: who answers for the segments loses `least`, and at least the fees of those who have attested.
void Model::charge_responder(const TaskId& id, std::uint64_t least) {
    Task& task = at(id);
    std::vector<AccountId> attesters;
    for (const Member& member : task.committee->members) {
        if (member.has_attested) {
            attesters.push_back(member.account);
        }
    }
    // In proportion to the verifier's bond.
    const std::uint64_t fee =
        flaw_ == Flaw::kFlatFees
            ? params_.attest_fee.grains
            : part_of(params_.attest_fee.grains, bond_of(Role::kVerifier, task), params_.verifier_bond.grains);
    const std::uint64_t fees = fee * attesters.size();
    const AccountId charged = who_answers(task, task.committee->segments.front());
    const std::uint64_t lost = std::min(std::max(least, fees), bond_in(task, charged));
    const std::uint64_t each = lost < fees ? lost / attesters.size() : fee;
    if (lost == 0) {
        return;
    }
    const std::uint64_t burned = lost - each * attesters.size();
    bond_in(task, charged) -= lost;
    world_.stakes[{Role::kSolver, charged}].locked -= lost;
    world_.burned += burned;
    money_.push_back({id, true, charged, lost, burned, Reason::kUnserved});
    for (const AccountId& attester : attesters) {
        if (each != 0) {
            world_.people[attester].balance += each;
            money_.push_back({id, false, attester, each, 0, Reason::kAttestation});
        }
    }
}

// --- deadlines -----------------------------------------------------------------------------------------------

void Model::lapse_committee(const TaskId& id) {
    std::uint64_t attested = 0;
    std::uint64_t others = 0;
    for (const Member& member : at(id).committee->members) {
        (member.has_attested ? attested : others) += member.seats;
    }
    if (attested > others || (attested == others && flaw_ == Flaw::kHalfSuffices)) {
        find_available(id);
        return;
    }
    // AVL-5
    at(id).committee->state = CommitteeState::kWithheld;
    if (at(id).committee->sitting == 3) {
        convict(id, {Reason::kUnavailable, {}, at(id).committee->segments.front()});
    } else {
        complete(id);
    }
}

/// AVL-8: what becomes of those who have not committed in time.
void Model::lapse_commitments(const TaskId& id) {
    Task& task = at(id);
    std::set<std::uint32_t> answered;  // segments that somebody has committed a verdict on
    for (const Duty& duty : task.duties) {
        if (duty.status == VerdictStatus::kCommitted) {
            answered.insert(duty.segment);
        }
    }
    for (Duty& duty : task.duties) {
        if (duty.status != VerdictStatus::kDue) {
            continue;
        }
        duty.status = VerdictStatus::kMissed;
        const std::uint64_t tenth = duty.bond / 10;
        const std::uint64_t reserve = std::exchange(duty.reserve, 0);
        const bool had_it = has_attested(task, duty.verifier, duty.segment);
        if (!had_it && !answered.contains(duty.segment)) {
            unlock(Role::kVerifier, duty.verifier, duty.bond - tenth + reserve);
            duty.bond = tenth;
            continue;
        }
        const AccountId charged = who_answers(task, duty.segment);
        const std::uint64_t lost = had_it ? tenth : std::min(tenth, bond_in(task, charged));
        slash(id, Role::kVerifier, duty.verifier, lost, Reason::kMissedVerdict, {});
        unlock(Role::kVerifier, duty.verifier, std::exchange(duty.bond, 0) - lost + reserve);
        if (!had_it) {
            bond_in(task, charged) -= lost;
            slash(id, Role::kSolver, charged, lost, Reason::kUnserved, {});
        }
    }
}

}  // namespace assay::model
