// SPDX-License-Identifier: Apache-2.0
#include <contracts/settlement/settlement.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include <contracts/state/members.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/params/retention.hpp>
#include <contracts/lifecycle/lifecycle.hpp>
#include <contracts/lifecycle/lineage.hpp>
#include <contracts/lifecycle/waiting.hpp>
#include <contracts/lifecycle/disputes.hpp>
#include <contracts/settlement/cut.hpp>
#include <contracts/settlement/fees.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kRefusedShare = 3;  ///< PRF-7: a task that is refused pays one part of so many

void pay(Context& context, Task& task, const AccountId& to, Amount amount, Reason reason) {
    if (amount.grains == 0) {
        return;
    }
    task.escrow = subtract(task.escrow, amount);
    credit(context.state, to, amount);
    record(context, task, history::Paid{to, amount, reason});
}

/// SET-8: takes the treasury's part of a payment out of the escrow; what is left of it.
Amount pay_tax(Context& context, Task& task, Amount amount) {
    const Amount tax{checked_mul_div(amount.grains, context.params.tax_bps, kBasisPoints).value()};
    if (tax.grains != 0) {
        task.escrow = subtract(task.escrow, tax);
        pay_treasury(context.state, tax);
        record(context, task, history::Paid{AccountId{}, tax, Reason::kTax});
    }
    return subtract(amount, tax);
}

bool is_standing(const Profile& profile) { return profile.status == ProfileStatus::kStanding; }

/// SET-9: what of the verification fee is the profilers'.
Amount profiling_fee(const Context& context, const Task& task) {
    const bool anybody =
        task.tolerance && std::any_of(task.tolerance->profiles.begin(), task.tolerance->profiles.end(), is_standing);
    const std::uint64_t fee = task.spec.verification_fee.grains;
    return Amount{anybody ? checked_mul_div(fee, context.params.profiling_fee_bps, kBasisPoints).value() : 0};
}

/// Pays it, over `divisor`, in equal shares, of a task that settles less the tax.
void pay_profilers(Context& context, Task& task, bool is_taxed, std::uint64_t divisor = 1) {
    const Amount fee{profiling_fee(context, task).grains / divisor};
    if (fee.grains == 0) {
        return;
    }
    const std::vector<Profile> profiles = task.tolerance->profiles;
    const auto standing = static_cast<std::uint64_t>(std::count_if(profiles.begin(), profiles.end(), is_standing));
    const Amount share{(is_taxed ? pay_tax(context, task, fee) : fee).grains / standing};
    for (const Profile& profile : profiles) {
        if (is_standing(profile)) {
            pay(context, task, profile.profiler, share, Reason::kProfilingFee);
        }
    }
}

/// Pays what verifiers have of the verification fee in equal shares, of a task that settles less the tax; returns how
/// many shared it.
std::size_t pay_verifiers(
    Context& context, Task& task, const std::optional<std::uint32_t>& refuted_segment, bool is_taxed
) {
    std::vector<AccountId> earners;
    for (const Assignment& assignment : task.assignments) {
        if (has_earned_fee(context.state, task, assignment, refuted_segment)) {
            earners.push_back(assignment.verifier);
        }
    }
    if (!earners.empty()) {
        const Amount fee = subtract(task.spec.verification_fee, profiling_fee(context, task));
        const Amount share{(is_taxed ? pay_tax(context, task, fee) : fee).grains / earners.size()};
        for (const AccountId& verifier : earners) {
            pay(context, task, verifier, share, Reason::kVerificationFee);
        }
    }
    return earners.size();
}

/// STM-12: whoever was convicted of a statement gets nothing back.
void burn_culprits(Context& context, Task& task) {
    if (!task.group) {
        return;
    }
    for (const std::uint8_t number : std::vector(task.group->culprits)) {
        const AccountId member = member_account(task, number);
        Amount& bond = bond_of(task, member);
        if (bond.grains != 0) {
            const Penalty penalty{
                .role = Role::kSolver,
                .from = member,
                .amount = bond,
                .reason = Reason::kFalseStatement,
                .winners = {}};
            bond = {};
            slash(context, task, penalty);
        }
    }
}

/// Returns all bonds, but for `kept` of the solver's (RET-3).
void return_bonds(Context& context, Task& task, Amount kept = {}) {
    burn_culprits(context, task);
    if (task.solver && task.solver_bond > kept) {
        unlock_stake(context, Role::kSolver, *task.solver, subtract(task.solver_bond, kept));
        task.solver_bond = kept;
    }
    if (task.group) {
        for (Partner& partner : task.group->partners) {
            unlock_stake(context, Role::kSolver, partner.account, partner.bond);
            partner.bond = {};
        }
    }
    for (Assignment& assignment : task.assignments) {
        return_assignment(context, assignment);
    }
    if (task.tolerance) {
        return_profile_bonds(context, task);
    }
}

/// VER-16: how many verdicts a task like this has when nobody is drawn anew (AVL-7).
std::uint64_t places_of(const Params& params, const Task& task) {
    std::set<std::uint32_t> segments;
    for (const Assignment& assignment : task.assignments) {
        segments.insert(assignment.segment);
    }
    return std::uint64_t{segments.size()} * verifiers_per_segment(params, task_value(task.spec));
}

/// STM-10: what a conviction for a statement takes; something is left for the next one.
Amount half_of(Amount bond) { return Amount{bond.grains - bond.grains / 2}; }

/// SET-2, AVL-5, PRV-4, STM-10
Amount amount_lost(const Task& task, const Conviction& conviction, Amount bond) {
    if (conviction.reason == Reason::kUnavailable || conviction.reason == Reason::kKeysWithheld) {
        return Amount{bond.grains / 2};
    }
    const bool is_another = conviction.culprit && *conviction.culprit != responder_of(task, *conviction.segment);
    return is_another ? half_of(bond) : bond;
}

AccountId culprit_of(const Task& task, const Conviction& conviction) {
    if (conviction.culprit) {
        return *conviction.culprit;
    }
    return conviction.segment ? responder_of(task, *conviction.segment) : task.solver.value();  // GRP-5
}

void end_disputes(Context& context, Task& task) {
    TaskBookkeeping bookkeeping = get_bookkeeping(context.state, task.id);
    for (const NotedDispute& dispute : bookkeeping.disputes) {
        end_dispute_as_moot(context, task, dispute.id);
    }
    task.open_disputes = 0;
    if (!bookkeeping.disputes.empty()) {
        bookkeeping.disputes.clear();
        set_bookkeeping(context.state, task.id, bookkeeping);
    }
}

/// Ends as moot what is still open, and closes the task.
void finish(Context& context, Task& task, TaskState state) {
    end_disputes(context, task);
    return_bonds(context, task);
    return_room(context, task);
    close_task(context, task, state);
    set_task(context.state, task);
}

/// RET-3: what stays locked of the bond of a solver that keeps the result.
Amount keeping_bond(const Task& task) {
    return will_be_kept(task) ? std::min(retention_fee(task.spec), task.solver_bond) : Amount{};
}

/// RET-2: the fee is in escrow, and nothing else.
void begin_keeping(Context& context, Task& task) {
    end_disputes(context, task);
    return_room(context, task);
    task.room = std::min(show_draws_deposit(context.params), task.escrow);  // RET-4
    task.escrow = subtract(task.escrow, task.room);
    task.keeping = Keeping{.begun_at = context.height(), .shows_due = context.params.retention_shows, .seed = {}};
    record(context, task, history::KeepingBegun{task.escrow, task.solver_bond, task.keeping->shows_due});
    enter_state(context, task, TaskState::kKept, next_show(task));
    set_task(context.state, task);
}

}  // namespace

void settle(Context& context, Task& task) {
    // SET-1, SET-7
    return_bonds(context, task, keeping_bond(task));
    if (await_ancestors(context, task)) {
        return;
    }
    const Amount for_keeping = will_be_kept(task) ? retention_fee(task.spec) : Amount{};
    pay(context, task, task.submitter, subtract(retention_fee(task.spec), for_keeping), Reason::kRefund);  // RET-2
    for (const Share& share : reward_shares(task)) {
        pay(context, task, share.account, pay_tax(context, task, share.amount), Reason::kReward);
    }
    pay(context, task, task.submitter, subtract(task.spec.reward, earned_reward(task)), Reason::kRefund);
    pay_profilers(context, task, true);
    if (pay_verifiers(context, task, std::nullopt, true) == 0) {
        pay(context, task, task.submitter, subtract(task.escrow, for_keeping), Reason::kRefund);
    }
    pay_treasury(context.state, subtract(task.escrow, for_keeping));
    task.escrow = for_keeping;
    if (task.evaluation) {
        record(context, task, history::Scored{task.evaluation->score});  // EVL-6
    }
    if (will_be_kept(task)) {
        begin_keeping(context, task);
    } else {
        finish(context, task, TaskState::kSettled);
    }
}

Height next_show(const Task& task) noexcept {
    const Keeping& keeping = task.keeping.value();
    const std::uint64_t blocks = task.spec.retention.value().blocks;
    return Height{keeping.begun_at.value + blocks * (keeping.shows + 1ULL) / keeping.shows_due};
}

void end_keeping(Context& context, Task& task, bool is_whole) {
    // RET-5, RET-6
    record(context, task, history::KeepingEnded{is_whole});
    if (!is_whole && task.solver_bond.grains != 0) {
        const Penalty penalty{
            .role = Role::kSolver,
            .from = task.solver.value(),
            .amount = task.solver_bond,
            .reason = Reason::kNotShown,
            .winners = {}};
        task.solver_bond = {};
        slash(context, task, penalty);
    }
    task.keeping->seed.reset();
    pay(context, task, task.submitter, task.escrow, Reason::kRefund);
    finish(context, task, TaskState::kSettled);
}

void pay_jackpots(Context& context, Task& task, const std::vector<AccountId>& winners) {
    // VER-16
    if (winners.empty()) {
        return;
    }
    const std::uint64_t places = places_of(context.params, task);
    const std::uint64_t share = task.spec.verification_fee.grains / places;
    const auto fair = checked_mul_div(share, kBasisPoints, context.params.forced_error_bps);
    const std::uint64_t most = tenth_of(context.params.contributor_bond).grains / places;
    const std::uint64_t third = get_supply(context.state).treasury.grains / 3;
    const std::uint64_t whole = std::min({third, most, fair ? *fair : most});
    const std::size_t halvings = winners.size() - 1;
    const Amount each{halvings < 64 ? whole >> halvings : 0};
    if (each.grains == 0) {
        return;
    }
    for (const AccountId& winner : winners) {
        draw_on_treasury(context.state, each);
        credit(context.state, winner, each);
        record(context, task, history::Paid{winner, each, Reason::kJackpot});
    }
}

void end_without_fraud(Context& context, Task& task, TaskState state) {
    // SET-4, PRF-7
    pay_profilers(context, task, false, state == TaskState::kRefused ? kRefusedShare : 1);
    pay(context, task, task.submitter, task.escrow, Reason::kRefund);
    finish(context, task, state);
}

PenaltyOutcome convict_member(
    Context& context, Task& task, const AccountId& member, Reason reason, const AccountId& winner
) {
    Amount& bond = bond_of(task, member);
    const Penalty penalty{
        .role = Role::kSolver, .from = member, .amount = half_of(bond), .reason = reason, .winners = {winner}};
    bond = subtract(bond, penalty.amount);
    note_culprit(task, member);
    record(context, task, history::MemberConvicted{member, reason});
    return slash(context, task, penalty);
}

PenaltyOutcome convict(Context& context, Task& task, const Conviction& conviction) {
    // SET-2; AVL-5: where nothing is shown, and nobody wins, it loses as much as any conviction burns at least.
    const bool is_withheld = conviction.reason == Reason::kUnavailable;
    const AccountId culprit = culprit_of(task, conviction);
    Amount& bond = bond_of(task, culprit);
    const Penalty penalty{
        .role = Role::kSolver,
        .from = culprit,
        .amount = amount_lost(task, conviction, bond),
        .reason = conviction.reason,
        .winners = conviction.winners};
    bond = subtract(bond, penalty.amount);
    if (conviction.culprit) {
        note_culprit(task, culprit);
    }
    const PenaltyOutcome outcome = slash(context, task, penalty);
    // Where a clock ran out nothing is known of the segment, and only the solver could have shown that it is right.
    const bool is_shown = conviction.reason != Reason::kDisputeTimeout && !conviction.culprit;
    for (Assignment& assignment : task.assignments) {
        const bool wrong =
            is_shown && assignment.status == VerdictStatus::kAccepted && conviction.segment == assignment.segment;
        if (wrong && assignment.bond.grains != 0) {
            const Penalty lost{
                .role = Role::kVerifier,
                .from = assignment.verifier,
                .amount = assignment.bond,
                .reason = Reason::kWrongVerdict,
                .winners = conviction.winners};
            assignment.bond = {};
            slash(context, task, lost);
        }
    }
    if (conviction.segment && can_cut(context.params, task, *conviction.segment)) {
        const bool waits = task.state == TaskState::kCompleted && !is_sitting(task) && !is_withheld;
        cut(context, task, *conviction.segment, culprit, waits);
        return outcome;
    }
    pay_profilers(context, task, false);
    pay_verifiers(context, task, conviction.segment, false);
    pay(context, task, task.submitter, task.escrow, Reason::kRefund);
    finish(context, task, TaskState::kConvicted);
    taint_descendants(context, task.id);
    return outcome;
}

}  // namespace assay::contracts
