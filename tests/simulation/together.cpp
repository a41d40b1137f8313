// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/together.hpp>

#include <algorithm>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <verifier/group/first_wrong.hpp>
#include <verifier/roles/answers.hpp>

namespace assay::simulation {

using contracts::Task;
using contracts::TaskId;
using contracts::test::ToyReplay;
using model::Way;

namespace {

constexpr std::uint64_t kMeetingMs = 6'000;  ///< for members that do not come
constexpr std::uint32_t kBreaksMax = 10;     ///< of sessions within a segment, after which it is trained alone
constexpr std::uint32_t kAuditPercent = 40;  ///< of segments that have ended
constexpr std::uint64_t kAuditMs = 4'000;    ///< for a replay, at most
constexpr std::uint64_t kQuits = 301;        ///< purposes of their own
constexpr std::uint64_t kJoins = 302;
constexpr std::uint64_t kConfesses = 303;

bool is_together(const Task& task) { return task.group && task.group->is_together; }

dispute::Claim claim_of(const contracts::StateView& state, const Task& task, std::uint32_t segment) {
    dispute::Claim claim = contracts::base_claim(task.spec, segment);
    claim.before = contracts::find_checkpoint(state, task.id, segment - 1).value().state_root;
    return claim;
}

}  // namespace

Together::Together(Events& events, Company& company, model::Workshop& shop, Self self, const bool& is_down)
    : events_(events),
      company_(company),
      shop_(shop),
      self_(std::move(self)),
      id_(self_.key.account()),
      is_down_(is_down) {
    company_.fellows[id_] = this;
}

std::uint64_t Together::fixed(const TaskId& task, std::uint64_t purpose, std::uint64_t bound) const {
    return contracts::to_seed(model::mix(Hash256{task.data}, id_, purpose)) % bound;
}

void Together::forget() {
    for (auto& [task, team] : teams_) {
        if (team.session) {
            team.session->close();
        }
    }
    teams_.clear();
    told_.clear();
    findings_.clear();
    audits_.clear();
    answers_.clear();
}

void Together::hear(const TaskId& task, std::uint64_t first_step, const std::shared_ptr<const group::Told>& told) {
    told_[{task, first_step}].push_back(told);
}

void Together::find(const TaskId& task, const AccountId& author, const group::Equivocation& found) {
    findings_[task].emplace_back(author, found);
    if (self_.wrong == Wrong::kNothing && !is_down_) {
        company_.caught.emplace(task, author);
    }
}

// --- the lead ------------------------------------------------------------------------------------------------

bool Together::can_reach(const Fellow& other) const {
    return other.is_there() && !events_.is_cut(self_.place, other.network_place());
}

std::set<AccountId> Together::gone(const Task& task) const {
    const auto team = teams_.find(task.id);
    std::set<AccountId> out = team == teams_.end() ? std::set<AccountId>() : team->second.losses.left_out();
    for (const contracts::Partner& partner : task.group->partners) {
        const Fellow& fellow = *company_.fellows.at(partner.account);
        if (fellow.has_quit(task) && can_reach(fellow)) {
            out.insert(partner.account);
        }
    }
    return out;
}

void Together::leave_out_culprits(const Task& task, Team& team) {
    for (const contracts::Partner& partner : task.group->partners) {
        if (!contracts::is_culprit(task, partner.account)) {
            continue;
        }
        team.losses.leave_out(partner.account);
        if (team.session && team.session->has(partner.account)) {
            team.session->close();
            team.session.reset();  // the segment begins again without it
        }
    }
}

std::optional<std::vector<Fellow*>> Together::gather(const Task& task, Team& team, std::uint32_t segment) {
    team.asked_at_ms = team.asked_at_ms.value_or(events_.now());
    const std::set<AccountId> left = gone(task);
    std::vector<Fellow*> there;
    std::vector<AccountId> missing;
    for (const AccountId& member : roles::seated(task, segment)) {
        Fellow* fellow = company_.fellows.at(member);
        if (left.contains(member)) {
            continue;
        }
        if (can_reach(*fellow)) {
            there.push_back(fellow);
        } else {
            missing.push_back(member);
        }
    }
    if (!missing.empty() && events_.now() < *team.asked_at_ms + kMeetingMs) {
        return std::nullopt;
    }
    if (team.broke && !left.contains(*team.broke)) {
        note_lost(team, *team.broke);
    }
    team.broke.reset();
    for (const AccountId& member : missing) {
        note_lost(team, member);
    }
    std::erase_if(there, [&](const Fellow* fellow) { return team.losses.is_left_out(fellow->account()); });
    return there;
}

void Together::note_lost(Team& team, const AccountId& member) {
    ++company_.counts["members lost in a session"];
    if (roles::Losses::is_demanded(team.losses.note(member)) && demands) {
        ++team.demanded[member];
    }
}

void Together::note_break(Team& team, std::uint32_t segment) {
    ++company_.counts["sessions that broke off"];
    team.session->close();
    team.session.reset();
    if (++team.breaks == kBreaksMax) {
        team.breaks = 0;
        team.alone = segment;
    }
}

bool Together::open(const Task& task, Team& team, std::uint32_t segment, const Hash256& before) {
    const auto there = gather(task, team, segment);
    if (!there) {
        return false;
    }
    team.asked_at_ms.reset();
    if (there->empty()) {
        team.alone = segment;
        ++company_.counts["segments trained alone"];
        return false;
    }
    std::vector<Fellow*> members{this};
    members.insert(members.end(), there->begin(), there->end());
    const dispute::Claim claim = contracts::base_claim(task.spec, segment);
    team.segment = segment;
    team.session = std::make_shared<Session>(
        events_, company_, shop_.run(Way::kTruth),
        SessionTerms{
            .task = task.id,
            .chain_id = self_.chain_id,
            .segment = segment,
            .first_step = claim.first_step,
            .steps = claim.step_count,
            .before = before,
            .state = shop_.state(before)},
        std::move(members)
    );
    team.session->begin();
    return true;
}

Together::Progress Together::train(const Task& task, std::uint32_t segment, const Hash256& before) {
    using State = Progress::State;
    Team& team = teams_[task.id];
    if (team.alone == segment) {
        return {State::kAlone};
    }
    leave_out_culprits(task, team);
    if (team.session && team.segment != segment) {
        team.session.reset();
    }
    if (!team.session && !open(task, team, segment, before)) {
        return {team.alone == segment ? State::kAlone : State::kWaits};
    }
    if (team.session->phase() == Session::Phase::kFinished) {
        return finish(task, team, segment);
    }
    if (team.session->phase() == Session::Phase::kBroken) {
        team.broke = team.session->blamed();
        note_break(team, segment);
    }
    return {State::kWaits};
}

Together::Progress Together::finish(const Task& task, Team& team, std::uint32_t segment) {
    bool is_told_alike = true;
    for (const auto& [member, evidence] : findings_[task.id]) {
        if (team.session->has(member)) {
            team.losses.leave_out(member);
            is_told_alike = false;
        }
    }
    if (!is_told_alike) {
        ++company_.counts["segments begun again without an equivocator"];
        note_break(team, segment);
        return {};
    }
    if (!team.session->caught().empty() && self_.wrong == Wrong::kNothing) {
        company_.missed.insert(task.id);
    }
    const Hash256 root = shop_.keep(team.session->result());
    team.session.reset();
    team.breaks = 0;
    return {Progress::State::kFinished, root};
}

// --- seats ---------------------------------------------------------------------------------------------------

bool Together::has_quit(const Task& task) const {
    const bool may_quit = task.solver != id_ && fixed(task.id, kQuits, 5) == 0;
    return may_quit && task.checkpoints > 1 + fixed(task.id, kQuits + 10, 3);
}

bool Together::wants_seat(const contracts::StateView& state, const Task& task) const {
    if (is_down_ || contracts::is_member(task, id_) || task.submitter == id_ || fixed(task.id, kJoins, 2) == 0) {
        return false;
    }
    const contracts::Stake stake = contracts::get_stake(state, contracts::Role::kSolver, id_);
    const Amount bond = contracts::member_bond(contracts::get_params(state), contracts::task_value(task.spec));
    return !stake.is_unlisted && stake.free >= bond;
}

std::optional<Signature> Together::sign_seats(
    const contracts::StateView& state, const Task& task, const contracts::SeatsTerms& terms
) const {
    const bool may_sit = contracts::is_member(task, id_) || wants_seat(state, task);
    if (!may_sit || !roles::are_offered(task, terms, id_) ||
        !roles::is_fair_share(task, terms.seats, id_, {.admits = admits, .share_min = 0})) {
        return std::nullopt;
    }
    return sign(contracts::seats_claim(self_.chain_id, terms));
}

void Together::tend(const contracts::StateView& state, const Task& task, Actions& out) {
    std::vector<AccountId> joining;
    for (const auto& [account, fellow] : company_.fellows) {
        if (can_reach(*fellow) && fellow->wants_seat(state, task)) {
            joining.push_back(account);
        }
    }
    contracts::Reseat next{
        .task = task.id,
        .from = contracts::segment_in_training(task) + 1,
        .seats = roles::next_seats(task, gone(task), joining),
        .signatures = {}};
    if (next.seats.empty()) {
        return;
    }
    const contracts::SeatsTerms terms{.task = task.id, .seats = next.seats, .is_together = true, .from = next.from};
    for (const AccountId& partner : contracts::partners_of(next.seats)) {
        const Fellow& fellow = *company_.fellows.at(partner);
        const auto signature = can_reach(fellow) ? fellow.sign_seats(state, task, terms) : std::nullopt;
        if (!signature) {
            return;
        }
        next.signatures.push_back(*signature);
    }
    out.push_back(next);
}

// --- what all members do -------------------------------------------------------------------------------------

void Together::attend(const contracts::StateView& state, const Task& task, Actions& out) {
    if (!is_together(task) || !contracts::is_member(task, id_) || contracts::is_terminal(task.state)) {
        return;
    }
    report(task, out);
    if (task.state != contracts::TaskState::kTraining) {
        return;
    }
    audit(state, task, out);
    if (task.solver != id_ || contracts::segment_in_training(task) > contracts::segment_count(task)) {
        return;
    }
    for (const auto& [member, times] : teams_[task.id].demanded) {
        const auto number = contracts::find_member(task, member);
        const auto& seats = contracts::seats_for(task, contracts::segment_in_training(task));
        const bool is_seated = number && std::find(seats.begin(), seats.end(), *number) != seats.end();
        if (is_seated && contracts::times_demanded(*task.group, *number) < times) {
            out.push_back(contracts::Demand{task.id, member});
        }
    }
    tend(state, task, out);
}

/// STM-11
void Together::report(const Task& task, Actions& out) {
    if (task.state > contracts::TaskState::kDisclosure) {
        return;
    }
    for (const auto& [member, found] : findings_[task.id]) {
        if (member != id_ && !contracts::is_culprit(task, member)) {
            out.push_back(contracts::ReportEquivocation{
                task.id, member, found.one, found.one_signature, found.other, found.other_signature});
            return;
        }
    }
}

Way Together::accusing_way(const dispute::Claim& claim) const {
    if (self_.wrong != Wrong::kSlanders) {
        return Way::kTruth;
    }
    // Where it differs from the truth in these steps.
    for (const auto& [step, way] :
         {std::pair{1U, Way::kLieInCommit}, std::pair{4U, Way::kLieInStep}, std::pair{8U, Way::kLieLate}}) {
        if (step >= claim.first_step && step < claim.first_step + claim.step_count) {
            return way;
        }
    }
    return Way::kTruth;
}

std::optional<contracts::Accuse> Together::look(
    const contracts::StateView& state, const Task& task, std::uint32_t segment
) {
    const dispute::Claim claim = claim_of(state, task, segment);
    const auto told = told_.find({task.id, claim.first_step});
    if (told == told_.end() || !shop_.knows(claim.before)) {
        return std::nullopt;
    }
    ToyReplay replay(shop_.run(accusing_way(claim)), claim, shop_.state(claim.before));
    const auto wrong = group::find_first_wrong(told->second, claim, replay);
    return wrong
               ? roles::accuse(
                     task, self_.chain_id, id_, claim, {.stated = wrong->stated, .signature = wrong->signature}, replay
                 )
               : std::nullopt;
}

/// STM-8: replays some of the segments that have ended.
void Together::audit(const contracts::StateView& state, const Task& task, Actions& out) {
    Audit& audit = audits_[task.id];
    const std::uint32_t ended = task.checkpoints == 0 ? 0 : task.checkpoints - 1;
    for (; audit.considered < ended && !audit.segment; ++audit.considered) {
        if (events_.chance(kAuditPercent)) {
            audit.segment = audit.considered + 1;
            audit.ready_at_ms = events_.now() + events_.below(kAuditMs);
        }
    }
    if (audit.segment && events_.now() >= audit.ready_at_ms) {
        ++company_.counts["segments audited by members"];
        if (auto found = look(state, task, *audit.segment)) {
            audit.found.push_back(*std::move(found));
        }
        audit.segment.reset();
    }
    for (const contracts::Accuse& accuse : audit.found) {
        const std::uint64_t step = accuse.contradiction.stated.statement.step;
        const auto segment = static_cast<std::uint32_t>(step / task.spec.checkpoint_interval) + 1;
        const auto id = contracts::accusation_id(task.id, segment, accuse.member, id_);
        if (!contracts::is_culprit(task, accuse.member) && !contracts::find_dispute(state, id)) {
            out.push_back(accuse);
            return;  // one at a time (STM-8)
        }
    }
}

std::optional<contracts::Accuse> Together::answer(const Task& task, const contracts::Dispute& dispute) {
    if (!roles::may_answer(task, dispute, id_)) {
        return std::nullopt;
    }
    if (const auto made = answers_.find(dispute.id); made != answers_.end()) {
        return made->second;
    }
    auto& out = answers_[dispute.id];
    const dispute::Claim claim = roles::replayed_claim(dispute);
    const auto told = told_.find({task.id, claim.first_step});
    // Of those who lie some keep what they know to themselves.
    const bool is_mute = self_.wrong != Wrong::kNothing && fixed(task.id, kConfesses, 3) == 0;
    if (told == told_.end() || is_mute || !shop_.knows(claim.before)) {
        return out;
    }
    ToyReplay replay(shop_.run(accusing_way(claim)), claim, shop_.state(claim.before));
    const auto wrong =
        roles::has_to_answer(dispute, replay) ? group::find_first_wrong(told->second, claim, replay) : std::nullopt;
    if (wrong) {
        out = roles::answer(
            task, dispute, self_.chain_id, id_, {.stated = wrong->stated, .signature = wrong->signature}, replay
        );
    }
    return out;
}

}  // namespace assay::simulation
