// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/arbitration/ending.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/availability/availability.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/params/by_value.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/committees.hpp>

/// What a committee's end does: who pays, who is drawn anew, and who is convicted (AVL-4 to AVL-8).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint64_t kTenth = kCoin / 10;  ///< of a verifier's bond
const Tamper kTamper{false, 4, 2, 2};

/// As unjudged_task, but verdicts were committed and not published: nothing is held.
TaskId unpublished_task(Chain& chain) {
    chain.add_verifiers(4);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    chain.commit_all(id);
    while (chain.task(id).state != TaskState::kCompleted) {
        chain.skip(1);
    }
    return id;
}

std::uint64_t sum(const std::vector<std::uint64_t>& amounts) {
    return std::accumulate(amounts.begin(), amounts.end(), std::uint64_t{0});
}

/// Whether the account was drawn for the segment before the assignments that begin at `first_new`.
bool was_drawn(const Task& task, std::uint32_t segment, const AccountId& account, std::size_t first_new) {
    const auto end = task.assignments.begin() + static_cast<std::ptrdiff_t>(first_new);
    return std::any_of(task.assignments.begin(), end, [&](const Assignment& each) {
        return each.segment == segment && each.verifier == account;
    });
}

}  // namespace

TEST_CASE("AVL-8: where nobody of a segment commits a tenth of the bond is held, and the solver loses nothing yet") {
    Chain chain(params_of_five());
    chain.add_verifiers(2);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    chain.skip(chain.params.commit_blocks - 1);
    CHECK(chain.task(id).assignments[0].bond.grains == kCoin);
    chain.skip(1);
    for (const Assignment& assignment : chain.task(id).assignments) {
        CHECK(assignment.status == VerdictStatus::kMissed);
        CHECK(assignment.bond.grains == kTenth);
        CHECK(assignment.reserve.grains == 0);
    }
    CHECK(locked_of_verifiers(chain) == 2 * kTenth);
    CHECK(chain.task(id).solver_bond == chain.params.solver_bond);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());
    CHECK(chain.slashed(id, Reason::kUnserved).empty());
    CHECK(chain.burned() == 0);
}

TEST_CASE("AVL-6, AVL-8: available segments burn the held tenths, the solver loses as much, and fees are paid of it") {
    Chain chain(params_of_five());
    const TaskId id = unjudged_task(chain, 4);
    await_committee(chain, id);
    const std::uint64_t held = locked_of_verifiers(chain);
    REQUIRE(held == 2 * kTenth);
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    const std::size_t count = attesters(chain, id);
    const std::uint64_t fee = chain.params.attest_fee.grains;
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(2, kTenth));
    CHECK(chain.slashed(id, Reason::kUnserved) == std::vector{held});
    CHECK(chain.paid(id, Reason::kAttestation) == std::vector(count, fee));
    CHECK(chain.burned() == 2 * held - count * fee);
    CHECK(chain.task(id).solver_bond.grains == chain.params.solver_bond.grains - held);
    CHECK(locked_of_verifiers(chain) == 0);
    for (const HistoryRecord& entry : chain.history) {
        const auto* paid = std::get_if<history::Paid>(&entry.event);
        CHECK(
            (paid == nullptr || paid->reason != Reason::kAttestation ||
             has_attested(chain.task(id), paid->to, chain.task(id).committee->segments.front()))
        );
    }
}

TEST_CASE("AVL-6: an attestation's fee grows with the verifier's bond, and all seats are never more than a tenth of it"
) {
    Params params = params_of_five();
    params.committee_seats = 5;
    params.verifier_bond_bps = 1'000;
    params.attest_fee = {params.verifier_bond.grains / 10 / params.committee_seats};  // the most that a chain takes
    REQUIRE(are_valid(params));
    for (const std::uint64_t value : {std::uint64_t{0}, 10 * kCoin - 1, 10 * kCoin, 23 * kCoin, 200 * kCoin + 7}) {
        INFO("a value of ", value);
        const std::uint64_t bond = verifier_bond(params, {value}).grains;
        const std::uint64_t fee = attestation_fee(params, {value}).grains;
        CHECK(fee == params.attest_fee.grains * std::max(kCoin, value / 10) / kCoin);
        CHECK(fee * params.committee_seats <= bond / 10);
    }
    // A bond that nobody can lock has a fee as well.
    CHECK(attestation_fee(params, {~std::uint64_t{0}}).grains <= ~std::uint64_t{0} / 50);
    params.verifier_bond_bps = 1'000'000;
    CHECK(attestation_fee(params, {~std::uint64_t{0}}).grains <= ~std::uint64_t{0} / 50);

    params.attest_fee = {10'000'001};
    params.verifier_bond_bps = 1'000;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 4);  // of 23 ASY
    await_committee(chain, id);
    const std::uint64_t held = locked_of_verifiers(chain);
    attest(chain, honest(), id);
    CHECK(chain.paid(id, Reason::kAttestation) == std::vector<std::uint64_t>(attesters(chain, id), 23'000'002));
    CHECK(chain.slashed(id, Reason::kUnserved) == std::vector{held});
}

TEST_CASE("AVL-6: where no tenth is held the solver pays the fees, and nothing is burned") {
    Chain chain(params_of_five());
    const TaskId id = unpublished_task(chain);
    const std::uint64_t burned = chain.burned();
    CHECK(burned == 2 * kTenth);  // VER-5
    await_committee(chain, id);
    attest(chain, honest(), id);
    const std::uint64_t fees = attesters(chain, id) * chain.params.attest_fee.grains;
    CHECK(chain.slashed(id, Reason::kUnserved) == std::vector{fees});
    CHECK(sum(chain.paid(id, Reason::kAttestation)) == fees);
    CHECK(chain.burned() == burned);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).size() == 2);
}

TEST_CASE("AVL-6, AVL-8: nobody loses more than what is left of the solver's bond, which is paid in equal parts") {
    Params params = params_of_five();
    params.solver_bond = {1'000'003};
    SUBCASE("the fees are more") {
        Chain chain(params);
        const TaskId id = unpublished_task(chain);
        const std::uint64_t burned = chain.burned();
        await_committee(chain, id);
        attest(chain, honest(), id);
        const std::size_t count = attesters(chain, id);
        CHECK(chain.slashed(id, Reason::kUnserved) == std::vector<std::uint64_t>{1'000'003});
        CHECK(chain.paid(id, Reason::kAttestation) == std::vector<std::uint64_t>(count, 1'000'003 / count));
        CHECK(chain.burned() - burned == 1'000'003 % count);
        CHECK(chain.task(id).solver_bond.grains == 0);
    }
    SUBCASE("of the verifiers more is held") {
        Chain chain(params);
        const TaskId id = unjudged_task(chain, 4);
        await_committee(chain, id);
        const std::uint64_t held = locked_of_verifiers(chain);
        attest(chain, honest(), id);
        CHECK(chain.slashed(id, Reason::kUnserved) == std::vector<std::uint64_t>{1'000'003});
        CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>{1'000'003});
        CHECK(chain.task(id).solver_bond.grains == 0);
        CHECK(held == 2 * kTenth);
        CHECK(locked_of_verifiers(chain) == 0);
    }
    SUBCASE("less than a grain for each, and nothing at all") {
        params.solver_bond = {1};
        params.committee_seats = 9;
        Chain chain(params);
        const TaskId id = unjudged_task(chain, 4);
        await_committee(chain, id);
        attest(chain, honest(), id);
        REQUIRE(attesters(chain, id) > 1);
        CHECK(chain.paid(id, Reason::kAttestation).empty());
        CHECK(chain.burned() == 2);
    }
}

TEST_CASE("AVL-7: available segments are drawn for anew among those who have attested, and the task settles") {
    Chain chain(params_of_five());
    const TaskId id = unjudged_task(chain, 4);
    const std::size_t before = chain.task(id).assignments.size();
    await_committee(chain, id);
    attest(chain, honest(), id);
    const Committee committee = chain.task(id).committee.value();
    CHECK(chain.task(id).redraws == 0);
    CHECK(chain.task(id).deadline.value == chain.height.value + chain.params.draw_blocks);
    chain.skip(2);
    const Task task = chain.task(id);
    REQUIRE(task.state == TaskState::kVerifying);
    CHECK(task.redraws == 1);
    REQUIRE(task.assignments.size() == before + committee.segments.size());
    for (std::size_t i = before; i < task.assignments.size(); ++i) {
        const Assignment& drawn = task.assignments[i];
        CHECK(has_attested(task, drawn.verifier, drawn.segment));
        CHECK_FALSE(was_drawn(task, drawn.segment, drawn.verifier, before));
        CHECK(drawn.segment == committee.segments[i - before]);
    }
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector{20 * kCoin});
    CHECK(sum(chain.paid(id, Reason::kVerificationFee)) == 3 * kCoin);
    CHECK(chain.task(id).committee.has_value());
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
}

TEST_CASE("AVL-7: where nobody who has attested has the stake others are drawn, and the task settles") {
    Params params = params_of_five();
    params.attest_blocks = 30;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 7);
    const std::size_t before = chain.task(id).assignments.size();
    attest_by_majority(chain, id);
    disarm_attesters(chain, id);
    const Task task = chain.task(id);
    REQUIRE(task.state == TaskState::kVerifying);
    CHECK(task.redraws == 1);
    REQUIRE(task.assignments.size() == before + task.committee->segments.size());
    for (std::size_t i = before; i < task.assignments.size(); ++i) {
        const Assignment& drawn = task.assignments[i];
        CHECK_FALSE(has_attested(task, drawn.verifier, drawn.segment));
        CHECK_FALSE(was_drawn(task, drawn.segment, drawn.verifier, before));
    }
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
    CHECK(chain.paid(id, Reason::kReward) == std::vector{20 * kCoin});
}

TEST_CASE("AVL-1, AVL-7, AVL-8: who is silent without having attested has a tenth held, and another committee judges it"
) {
    Params params = params_of_five();
    params.attest_blocks = 30;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 7);
    attest_by_majority(chain, id);
    const std::uint64_t solver_bond = chain.task(id).solver_bond.grains;
    disarm_attesters(chain, id);
    REQUIRE(chain.task(id).redraws == 1);
    const std::uint64_t burned = chain.burned();
    give_no_verdict(chain, id);
    CHECK(locked_of_verifiers(chain) == 2 * kTenth);
    CHECK(chain.burned() == burned);
    CHECK(chain.task(id).solver_bond.grains == solver_bond);
    CHECK(await_committee(chain, id).sitting == 1);
    SUBCASE("it finds the segments available: verifiers and solver lose the same") {
        attest(chain, honest(), id);
        CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(4, kTenth));
        CHECK(chain.slashed(id, Reason::kUnserved) == std::vector<std::uint64_t>(2, 2 * kTenth));
        CHECK(locked_of_verifiers(chain) == 0);
    }
    SUBCASE("three find them withheld: the verifiers lose nothing") {
        for (int sitting = 1; sitting <= 3; ++sitting) {
            await_committee(chain, id);
            end_sitting(chain, id);
        }
        CHECK(chain.task(id).state == TaskState::kConvicted);
        CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(2, kTenth));
        CHECK(locked_of_verifiers(chain) == 0);
    }
}

TEST_CASE("AVL-7: where only those attest who were drawn before the draw fails, and the task expires") {
    Chain chain(params_of_five());
    const TaskId id = unjudged_task(chain, 0);  // there is one verifier
    await_committee(chain, id);
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    chain.skip(2 * chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.task(id).redraws == 0);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{23 * kCoin});
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin - 2 * kTenth);
}

TEST_CASE("AVL-7, AVL-8: whoever attested and is silent loses a tenth alone, and after the last draw the task expires"
) {
    Params params = params_of_five();
    params.redraws_max = 1;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 4);
    redraw(chain, id, honest());
    const std::uint64_t solver_bond = chain.task(id).solver_bond.grains;
    const std::uint64_t burned = chain.burned();
    chain.skip(params.commit_blocks);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(4, kTenth));
    CHECK(chain.slashed(id, Reason::kUnserved).size() == 1);  // that of the committee
    CHECK(chain.burned() == burned + 2 * kTenth);
    CHECK(chain.task(id).solver_bond.grains == solver_bond);
    CHECK(locked_of_verifiers(chain) == 0);
    chain.skip(params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{23 * kCoin});
    CHECK(chain.paid(id, Reason::kReward).empty());
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin - 2 * kTenth);
}

TEST_CASE("AVL-7: attesters that are silent are replaced by others who have attested, without another committee") {
    Params params = params_of_five();
    params.committee_seats = 21;
    params.attest_blocks = 30;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 5);
    redraw(chain, id, honest());
    const Committee first = chain.task(id).committee.value();
    const std::size_t drawn = chain.task(id).assignments.size();
    give_no_verdict(chain, id);
    for (int i = 0; i < 20 && chain.task(id).state == TaskState::kCompleted; ++i) {
        chain.skip(1);
    }
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    CHECK(chain.task(id).redraws == 2);
    CHECK(codec::encode(chain.task(id).committee.value()) == codec::encode(first));
    for (std::size_t i = drawn; i < chain.task(id).assignments.size(); ++i) {
        const Assignment again = chain.task(id).assignments[i];
        CHECK(has_attested(chain.task(id), again.verifier, again.segment));
        CHECK_FALSE(was_drawn(chain.task(id), again.segment, again.verifier, drawn));
    }
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
}

TEST_CASE("AVL-5: withheld, another committee is drawn, and the third burns half of the solver's bond, and nobody wins"
) {
    Chain chain(params_of_five());
    const TaskId id = unjudged_task(chain, 4);
    const std::uint64_t submitter = chain.balance(chain.submitter);
    std::vector<Hash256> seeds;
    for (std::uint32_t sitting = 1; sitting <= 3; ++sitting) {
        const Committee committee = await_committee(chain, id);
        CHECK(committee.sitting == sitting);
        seeds.push_back(committee.seed);
        chain.skip(chain.params.attest_blocks - 1);
        CHECK(is_sitting(chain.task(id)));
        CHECK(locked_of_verifiers(chain) == 2 * kTenth);
        chain.skip(1);
        CHECK(chain.task(id).committee->state == CommitteeState::kWithheld);
        CHECK(chain.task(id).state == (sitting == 3 ? TaskState::kConvicted : TaskState::kCompleted));
    }
    CHECK(std::set<Hash256>(seeds.begin(), seeds.end()).size() == 3);
    const std::uint64_t half = chain.params.solver_bond.grains / 2;
    CHECK(chain.slashed(id, Reason::kUnavailable) == std::vector{half});
    CHECK(chain.burned() == half);
    CHECK(chain.paid(id, Reason::kWonDispute).empty());
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());  // AVL-8: the tenths are returned
    CHECK(locked_of_verifiers(chain) == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).locked.grains == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin - half);
    CHECK(chain.balance(chain.submitter) == submitter + 23 * kCoin);
}

TEST_CASE("AVL-5: a minority that attested is paid nothing when the segments are found withheld") {
    Params params = params_of_five();
    params.committee_seats = 9;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 4);
    const auto members = await_committee(chain, id).members;
    const auto few = std::min_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return a.seats < b.seats;
    });
    REQUIRE(2 * few->seats < 9);
    REQUIRE(chain.run(chain.actor_of(few->account), make_attestation(chain, honest(), id, few->account)) == 0);
    end_sitting(chain, id);
    CHECK(chain.task(id).committee->state == CommitteeState::kWithheld);
    CHECK(chain.paid(id, Reason::kAttestation).empty());
    CHECK(chain.slashed(id, Reason::kUnserved).empty());
    CHECK(await_committee(chain, id).sitting == 2);
    CHECK(attesters(chain, id) == 0);  // who attested before attests anew
}

TEST_CASE("AVL-5: what the second or third committee finds available is available, and the count begins anew") {
    Params params = params_of_five();
    params.committee_seats = 9;
    params.attest_blocks = 20;
    Chain chain(params);
    const TaskId id = unjudged_task(chain, 4);
    for (std::uint32_t sitting = 1; sitting <= 2; ++sitting) {
        await_committee(chain, id);
        end_sitting(chain, id);
    }
    CHECK(await_committee(chain, id).sitting == 3);
    attest(chain, honest(), id);
    CHECK(chain.task(id).committee->state == CommitteeState::kAvailable);
    CHECK(chain.slashed(id, Reason::kMissedVerdict) == std::vector<std::uint64_t>(2, kTenth));
    chain.skip(2);
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    chain.commit_all(id);
    chain.publish_all(id);
    chain.end_windows(id);
    CHECK(chain.task(id).state == TaskState::kSettled);
}

TEST_CASE("AVL-7, SET-2: a verdict that accepts stands while a committee sits, and is paid at a conviction") {
    Chain chain(params_of_five());
    chain.add_verifiers(4);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    const Assignment given = chain.task(id).assignments[0];
    const Actor& verifier = chain.actor_of(given.verifier);
    const Hash256 root = honest().checkpoint_root(given.segment);
    REQUIRE(chain.commit(verifier, id, given.segment, root) == 0);
    chain.skip(chain.params.commit_blocks);
    REQUIRE(chain.publish(verifier, id, given.segment, root) == 0);
    chain.end_windows(id);
    for (int sitting = 1; sitting <= 3; ++sitting) {
        await_committee(chain, id);
        CHECK(chain.task(id).assignments[0].status == VerdictStatus::kAccepted);
        end_sitting(chain, id);
    }
    REQUIRE(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.paid(id, Reason::kVerificationFee) == std::vector{3 * kCoin});
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{20 * kCoin});
    CHECK(chain.slashed(id, Reason::kWrongVerdict).empty());
    CHECK(locked_of_verifiers(chain) == 0);
}

TEST_CASE("AVL-8, SET-2: a dispute that convicts while a committee sits returns the tenths that are held") {
    const ToyRun fraud(kTamper);
    Chain chain(params_of_five());
    chain.add_verifiers(4);
    const TaskId id = complete_toy_task(chain, fraud);
    chain.skip(1);
    give_no_verdict(chain, id);
    await_committee(chain, id);
    REQUIRE(locked_of_verifiers(chain) == 2 * kTenth);
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 2, Role::kWhistleblower}) == 0);
    play_dispute(chain, dispute_id(id, 2, chain.whistleblower.id), fraud, honest(), chain.whistleblower);
    CHECK(chain.task(id).state == TaskState::kConvicted);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());
    CHECK(locked_of_verifiers(chain) == 0);
    chain.skip(20);
}
