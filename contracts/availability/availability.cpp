// SPDX-License-Identifier: Apache-2.0
#include <contracts/availability/availability.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/duties/lane.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/settlement/settlement.hpp>
#include <contracts/stake/staking.hpp>
#include <contracts/beacon/draw.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/work.hpp>
#include <contracts/lifecycle/waiting.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint32_t kSittings = 3;  ///< AVL-5

/// Position among the members; the end where the account is none.
std::size_t place_of(const Committee& committee, const AccountId& account) {
    const auto member =
        std::find_if(committee.members.begin(), committee.members.end(), [&](const CommitteeMember& each) {
            return each.account == account;
        });
    return static_cast<std::size_t>(std::distance(committee.members.begin(), member));
}

void add_seat(Committee& committee, const AccountId& account) {
    const std::size_t place = place_of(committee, account);
    if (place == committee.members.size()) {
        committee.members.push_back({.account = account});
    } else {
        ++committee.members[place].seats;
    }
}

/// AVL-4
bool has_majority(const Committee& committee) {
    std::uint64_t seats = 0;
    std::uint64_t attested = 0;
    for (const CommitteeMember& member : committee.members) {
        seats += member.seats;
        attested += member.has_attested ? member.seats : 0;
    }
    return 2 * attested > seats;
}

std::vector<AccountId> attesters_of(const Committee& committee) {
    std::vector<AccountId> out;
    for (const CommitteeMember& member : committee.members) {
        if (member.has_attested) {
            out.push_back(member.account);
        }
    }
    return out;
}

/// AVL-8: what verifiers that are still to be judged have lost, now that they could have fetched: no more than the
/// responder has left.
Amount charge_verifiers(Context& context, Task& task) {
    const auto& judged = task.committee.value().segments;
    Amount left = bond_of(task, responder_of(task, judged.front()));
    Amount total;
    for (Assignment& assignment : task.assignments) {
        const bool is_judged = std::find(judged.begin(), judged.end(), assignment.segment) != judged.end();  // GRP-10
        if (is_judged && assignment.status == VerdictStatus::kMissed && assignment.bond.grains != 0) {
            const Amount lost = std::min(assignment.bond, left);
            charge_miss(context, task, assignment, lost);
            left = subtract(left, lost);
            total = add(total, lost);
        }
    }
    return total;
}

/// AVL-6: the responder loses as much as those verifiers, and at least what the attestations cost.
void charge_responder(Context& context, Task& task, Amount shared) {
    const std::vector<AccountId> attesters = attesters_of(task.committee.value());
    const Amount fee = attestation_fee(context.params, task_value(task.spec));
    const Amount fees{fee.grains * attesters.size()};                                  // PAR-10
    const AccountId responder = responder_of(task, task.committee->segments.front());  // GRP-10
    Amount& bond = bond_of(task, responder);
    Penalty penalty{
        .role = Role::kSolver,
        .from = responder,
        .amount = std::min(std::max(shared, fees), bond),
        .reason = Reason::kUnserved,
        .winners = attesters,
        .winner_reason = Reason::kAttestation};
    penalty.each = Amount{std::min(fee.grains, penalty.amount.grains / attesters.size())};
    bond = subtract(bond, penalty.amount);
    slash(context, task, penalty);
}

/// AVL-7: in place of what earlier committees found about the same segments.
void note_available(Task& task) {
    const Committee& committee = task.committee.value();
    for (Available& earlier : task.available) {
        std::erase_if(earlier.segments, [&](std::uint32_t segment) {
            return std::binary_search(committee.segments.begin(), committee.segments.end(), segment);
        });
    }
    std::erase_if(task.available, [](const Available& each) { return each.segments.empty(); });
    task.available.push_back({.segments = committee.segments, .attesters = attesters_of(committee)});
}

/// AVL-4: the verifiers of the open segments are drawn anew (AVL-7).
void conclude_available(Context& context, Task& task) {
    task.committee->state = CommitteeState::kAvailable;
    note_available(task);
    record(context, task, history::CommitteeEnded{true});
    charge_responder(context, task, charge_verifiers(context, task));
    await_verifiers(context, task);
}

}  // namespace

std::optional<Pause> draw_committee(Context& context, Task& task, const ClosedRound& round) {
    // AVL-2
    std::vector<Candidate> candidates = round.drawing.verifiers;
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.weight == 0 || candidate.account == task.submitter || is_member(task, candidate.account);
    });
    if (candidates.empty()) {
        return Pause::kDoubled;
    }
    std::vector<std::uint32_t> segments = committee_segments(task);
    const bool is_withheld =
        task.committee && task.committee->state == CommitteeState::kWithheld && task.committee->segments == segments;
    Committee committee{
        .segments = std::move(segments),
        .members = {},
        .sitting = is_withheld ? task.committee->sitting + 1 : 1,
        .seed = round.seed};
    history::CommitteeDrawn drawn{.sitting = committee.sitting, .segments = committee.segments, .seats = {}};
    for (std::uint32_t seat = 0; seat < context.params.committee_seats; ++seat) {
        const DrawName name{task.id, DrawKind::kMember, 0, seat};
        const std::size_t index = draw_weighted(candidates, draw_randomness(round.seed, name)).value();
        add_seat(committee, candidates[index].account);
        drawn.seats.push_back(candidates[index].account);
    }
    record_round(context, task, round);
    record(context, task, std::move(drawn));
    task.committee = std::move(committee);
    hold_lane(context, task);
    restart_deadline(context, task, context.height_after(attest_span(context.params, task.spec)));
    set_task(context.state, task);
    return std::nullopt;
}

void lapse_committee(Context& context, Task& task) {
    if (has_majority(*task.committee)) {
        conclude_available(context, task);
        return;
    }
    // AVL-5
    const bool is_last = task.committee->sitting == kSittings;
    task.committee->state = CommitteeState::kWithheld;
    record(context, task, history::CommitteeEnded{false});
    if (is_last) {
        convict(context, task, {.reason = Reason::kUnavailable, .segment = task.committee->segments.front()});
    } else {
        await_verifiers(context, task);
    }
}

bool has_attested(const Task& task, const AccountId& account, std::uint32_t segment) {
    return std::any_of(task.available.begin(), task.available.end(), [&](const Available& each) {
        return std::binary_search(each.segments.begin(), each.segments.end(), segment) &&
               std::find(each.attesters.begin(), each.attesters.end(), account) != each.attesters.end();
    });
}

DrawnTile asked_tile(const Task& task, std::size_t place) {
    // AVL-3
    const Committee& committee = task.committee.value();
    const auto draw = [&](std::uint32_t part) {
        const DrawName name{task.id, DrawKind::kTile, part, static_cast<std::uint32_t>(place)};
        return draw_randomness(committee.seed, name);
    };
    const std::uint64_t segment = reduce(draw(0), committee.segments.size());
    return {
        .checkpoint = checkpoint_before(committee.segments[segment]),
        .tensor = static_cast<std::uint32_t>(reduce(draw(1), drawn_among(task.spec))),
        .number = to_seed(draw(2))};
}

Result<void, TxError> check_stateless(const AttestAvailability& action) noexcept {
    return check_opening(action.opening);
}

Result<void, TxError> check_stateful(
    const StateView& view, const Params& /*params*/, const AccountId& sender, const AttestAvailability& action
) noexcept {
    // AVL-3
    TRY_ASSIGN(const Task task, require_task(view, action.task));
    TRY(require_state(task, TaskState::kCompleted, TaskState::kCompleted));
    if (!is_sitting(task)) {
        return Unexpected{TxError::kPhase};
    }
    const std::size_t place = place_of(*task.committee, sender);
    if (place == task.committee->members.size()) {
        return Unexpected{TxError::kNotOnCommittee};
    }
    if (task.committee->members[place].has_attested) {
        return Unexpected{TxError::kAlreadyAttested};
    }
    return check_drawn(view, task, asked_tile(task, place), action.opening);
}

Result<void, TxError> execute(Context& context, const AttestAvailability& action) noexcept {
    // AVL-3, AVL-4
    Task task = find_task(context.state, action.task).value();
    Committee& committee = task.committee.value();
    committee.members[place_of(committee, context.actor)].has_attested = true;
    record(context, task, history::Attested{});
    const bool have_all =
        std::all_of(committee.members.begin(), committee.members.end(), [](const CommitteeMember& member) {
            return member.has_attested;
        });
    if (have_all) {
        conclude_available(context, task);
    } else {
        set_task(context.state, task);
    }
    return {};
}

}  // namespace assay::contracts
