// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <contracts/availability/availability.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/verification/verification.hpp>
#include <tests/unit/contracts/committees.hpp>

/// How committees are drawn, and who may attest what (AVL-1 to AVL-4, PAR-10).

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

std::uint32_t seats_of(const Committee& committee) {
    return std::accumulate(
        committee.members.begin(), committee.members.end(), 0U,
        [](std::uint32_t sum, const CommitteeMember& member) { return sum + member.seats; }
    );
}

const Actor& member(const Chain& chain, const TaskId& id, std::size_t place) {
    return chain.actor_of(chain.task(id).committee.value().members.at(place).account);
}

/// A chain whose task's committee has `count` members; tries several, for that is drawn.
struct Sitting {
    Chain chain;
    TaskId id;
    Sitting(const Params& params, std::size_t count, std::size_t others = 3) : chain(params) {
        for (std::uint64_t delay = 0; delay < 40; ++delay) {
            chain = Chain(params);
            chain.skip(delay);
            id = unjudged_task(chain, others);
            if (await_committee(chain, id).members.size() == count) {
                return;
            }
        }
        FAIL("no such committee");
    }
};

template <class Event>
std::vector<Event> events(const Chain& chain, const TaskId& id) {
    std::vector<Event> out;
    for (const HistoryRecord& entry : chain.history) {
        if (const auto* event = std::get_if<Event>(&entry.event); event != nullptr && entry.task == id) {
            out.push_back(*event);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("PAR-10: a committee has seats, and costs a solver no more than a verifier that is silent") {
    Params params;
    CHECK(are_valid(params));
    params.committee_seats = 0;
    CHECK_FALSE(are_valid(params));
    params.committee_seats = kMaxCommitteeSeats;
    params.attest_fee = {};
    params.block_gas_max *= 4;
    params.end_block_gas_max *= 4;
    CHECK(are_valid(params));
    params.committee_seats = kMaxCommitteeSeats + 1;
    CHECK_FALSE(are_valid(params));
    params = {};
    params.attest_fee = {params.verifier_bond.grains / 10 / params.committee_seats};
    CHECK(are_valid(params));
    ++params.attest_fee.grains;
    CHECK_FALSE(are_valid(params));
    params.attest_fee = {~std::uint64_t{0}};
    CHECK_FALSE(are_valid(params));
    params = {};
    params.attest_blocks = 0;
    CHECK_FALSE(are_valid(params));
}

TEST_CASE("AVL-1, AVL-2: without verdicts a committee is drawn for the open segments, without solver and submitter") {
    Params params = quick_params();
    params.committee_seats = 21;
    Chain chain(params);
    REQUIRE(chain.run(chain.submitter, Bond{Role::kVerifier, {200 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.solver, Bond{Role::kVerifier, {200 * kCoin}}) == 0);
    const TaskId id = unjudged_task(chain, 3);
    CHECK_FALSE(chain.task(id).committee.has_value());
    const Committee committee = await_committee(chain, id);
    CHECK(committee.state == CommitteeState::kSitting);
    CHECK(committee.sitting == 1);
    CHECK(committee.segments == open_segments(chain.task(id)));
    CHECK(committee.segments.size() == params.segments_checked);
    CHECK(seats_of(committee) == params.committee_seats);
    CHECK(chain.task(id).redraws == 0);
    CHECK(chain.task(id).deadline.value == chain.height.value + params.attest_blocks);
    std::set<AccountId> members;
    for (const CommitteeMember& each : committee.members) {
        CHECK(each.account != chain.submitter.id);
        CHECK(each.account != chain.solver.id);
        CHECK_FALSE(each.has_attested);
        CHECK(get_stake(chain.view, Role::kVerifier, each.account).locked.grains <= 2 * kCoin / 10);  // AVL-8
        CHECK(members.insert(each.account).second);
    }
    CHECK(members.size() == 4);  // of 21 seats everybody has some
    const auto drawn = events<history::CommitteeDrawn>(chain, id);
    REQUIRE(drawn.size() == 1);
    CHECK(drawn[0].sitting == 1);
    CHECK(drawn[0].segments == committee.segments);
    REQUIRE(drawn[0].seats.size() == params.committee_seats);
    for (const CommitteeMember& each : committee.members) {
        CHECK(std::count(drawn[0].seats.begin(), drawn[0].seats.end(), each.account) == each.seats);
    }
}

TEST_CASE("AVL-1: a segment with a verdict that accepts is not the committee's") {
    Chain chain;
    chain.add_verifiers(3);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    const Assignment given = chain.task(id).assignments[0];
    const Assignment missed = chain.task(id).assignments[1];
    const Actor& verifier = chain.actor_of(given.verifier);
    const Hash256 root = honest().checkpoint_root(given.segment);
    REQUIRE(chain.commit(verifier, id, given.segment, root) == 0);
    chain.skip(chain.params.commit_blocks);
    REQUIRE(chain.publish(verifier, id, given.segment, root) == 0);
    chain.end_windows(id);
    CHECK(await_committee(chain, id).segments == std::vector{missed.segment});
}

TEST_CASE("AVL-1: whoever may not be drawn anew needs no committee") {
    Params params = quick_params();
    params.redraws_max = 0;
    Chain chain(params);
    chain.add_verifiers(3);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1 + params.commit_blocks + params.challenge_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK_FALSE(chain.task(id).committee.has_value());
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);
    CHECK(chain.slashed(id, Reason::kMissedVerdict).empty());  // AVL-8: no committee has said whose fault it was
}

TEST_CASE("AVL-1: segments that nobody has accepted need a committee, and another where a tenth is held") {
    Task task;
    task.state = TaskState::kCompleted;
    const auto assign = [&task](std::uint32_t segment, VerdictStatus status) {
        Assignment assignment;
        assignment.segment = segment;
        assignment.status = status;
        task.assignments.push_back(assignment);
    };
    CHECK_FALSE(needs_committee(task));  // its first verifiers
    assign(1, VerdictStatus::kAccepted);
    CHECK_FALSE(needs_committee(task));
    assign(3, VerdictStatus::kMissed);
    CHECK(needs_committee(task));
    task.committee.emplace().segments = {2, 3};
    CHECK(needs_committee(task));
    task.committee->state = CommitteeState::kAvailable;
    CHECK_FALSE(needs_committee(task));
    task.assignments[1].bond = {1};  // AVL-8: held of a verifier that had not attested
    CHECK(needs_committee(task));
    task.assignments[1].bond = {};
    task.committee->state = CommitteeState::kWithheld;
    CHECK(needs_committee(task));
    task.committee->state = CommitteeState::kAvailable;
    assign(1, VerdictStatus::kMissed);
    CHECK_FALSE(needs_committee(task));  // another has accepted it
}

TEST_CASE("AVL-2: without a candidate the draw fails, and at last the task expires with every bond returned") {
    Chain chain;
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1 + chain.params.commit_blocks);
    const Amount held = chain.stake(Role::kVerifier, chain.verifier).locked;
    CHECK(held.grains == 2 * kCoin / 10);
    const Amount free = chain.stake(Role::kVerifier, chain.verifier).free;
    REQUIRE(chain.run(chain.verifier, Unbond{Role::kVerifier, free}) == 0);
    chain.skip(chain.params.challenge_blocks + 1);
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    CHECK(get_bookkeeping(chain.view, id).draws > 0);
    CHECK_FALSE(chain.task(id).committee.has_value());
    chain.skip(2 * chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.stake(Role::kVerifier, chain.verifier).free == held);
    CHECK(chain.stake(Role::kSolver, chain.solver).free.grains == 100 * kCoin);
    CHECK(chain.paid(id, Reason::kRefund) == std::vector{23 * kCoin});
    CHECK(chain.burned() == 0);
}

TEST_CASE("AVL-2: an account that is drawn for several seats is one member") {
    Chain chain;
    const TaskId id = unjudged_task(chain, 0);
    const Committee committee = await_committee(chain, id);
    REQUIRE(committee.members.size() == 1);
    CHECK(committee.members[0].account == chain.verifier.id);
    CHECK(committee.members[0].seats == chain.params.committee_seats);
    attest(chain, honest(), id);
    CHECK(chain.task(id).committee->state == CommitteeState::kAvailable);
    CHECK(chain.paid(id, Reason::kAttestation) == std::vector{chain.params.attest_fee.grains});  // not one per seat
}

TEST_CASE("AVL-2, AVL-7: free stake below a verifier's bond is enough for a seat, and not to be drawn after it") {
    Chain chain;
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    give_no_verdict(chain, id);
    const Amount free = chain.stake(Role::kVerifier, chain.verifier).free;
    REQUIRE(chain.run(chain.verifier, Unbond{Role::kVerifier, free}) == 0);  // before the next round
    chain.add_verifiers(1, chain.params.verifier_bond);                      // a reserve is needed besides (VER-1)
    const Committee committee = await_committee(chain, id);
    REQUIRE(committee.members.size() == 1);
    REQUIRE(committee.members[0].account == chain.others[0].id);
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    chain.skip(2 * chain.params.draw_blocks);
    CHECK(chain.task(id).state == TaskState::kExpired);
    CHECK(chain.task(id).redraws == 0);
}

TEST_CASE("AVL-3: the tile of the member's own draw is what attests") {
    Params params = quick_params();
    params.committee_seats = 5;
    params.attest_blocks = 40;
    params.segments_checked = 4;
    Sitting made(params, 3);
    Chain& chain = made.chain;
    const TaskId id = made.id;
    const Actor& who = member(chain, id, 0);
    const DrawnTile asked = asked_tile(chain.task(id), 0);
    const auto refuses = [&](const dispute::StateOpening& opening) {
        return chain.fail(who, AttestAvailability{id, opening}) == TxError::kTileInvalid;
    };
    const auto open = [](const ToyRun& run, const DrawnTile& tile) {
        return open_toy_tile(run, tile.checkpoint, tile.tensor, tile.number);
    };
    const dispute::StateOpening right = open(honest(), asked);
    CHECK(asked.tensor < 2);
    CHECK(asked.checkpoint < 4);
    CHECK(right.tile == asked.number % canonical::tile_count(right.type.shape));
    CHECK(refuses(open(honest(), {asked.checkpoint, asked.tensor, asked.number + 1})));
    CHECK(refuses(open(honest(), {asked.checkpoint, 1 - asked.tensor, asked.number})));
    CHECK(
        refuses(open(honest(), {(asked.checkpoint + 1) % 3, asked.tensor, asked.number})) ==
        (honest().state(0) != honest().state(4) || asked.tensor == 0)
    );
    const ToyRun other({}, 0.5F);
    const ToyRun skewed(Tamper{true, 0, 0, 0});
    CHECK(refuses(open(asked.checkpoint == 0 ? skewed : other, asked)));
    dispute::StateOpening broken = right;
    broken.opening.source_path.pop_back();
    CHECK(refuses(broken));
    broken = right;
    broken.opening.tile_path.push_back(hash_of("one more"));
    CHECK(refuses(broken));
    broken = right;
    broken.type.shape.rows -= 1;
    CHECK(refuses(broken));
    broken = right;
    broken.opening.tile.data[0] ^= 1U;
    CHECK(refuses(broken));
    CHECK_FALSE(chain.task(id).committee->members[0].has_attested);
    CHECK(chain.run(who, AttestAvailability{id, right}) == 0);
    CHECK(chain.task(id).committee->members[0].has_attested);
    CHECK(events<history::Attested>(chain, id).size() == 1);
    CHECK(chain.history.back().actor == who.id);
}

TEST_CASE("AVL-3: another member's tile attests nothing") {
    Params params = quick_params();
    params.committee_seats = 5;
    params.segments_checked = 4;
    Sitting made(params, 4, 5);
    Chain& chain = made.chain;
    const Task task = chain.task(made.id);
    std::size_t different = 0;
    for (std::size_t i = 1; i < 4; ++i) {
        const AttestAvailability theirs = make_attestation(chain, honest(), made.id, member(chain, made.id, i).id);
        const AttestAvailability mine = make_attestation(chain, honest(), made.id, member(chain, made.id, 0).id);
        if (codec::encode(theirs) != codec::encode(mine)) {
            CHECK(chain.fail(member(chain, made.id, 0), theirs) == TxError::kTileInvalid);
            ++different;
        }
    }
    CHECK(different > 0);
}

TEST_CASE("AVL-3: the tiles asked for fall on every open segment's checkpoint before it") {
    Task task;
    task.spec = honest().spec();
    task.committee.emplace().segments = {0, 1, 3};
    task.committee->seed = hash_of("a seed");
    std::set<std::uint32_t> checkpoints;
    std::set<std::uint32_t> tensors;
    std::set<std::uint64_t> numbers;
    for (std::size_t place = 0; place < 64; ++place) {
        const DrawnTile asked = asked_tile(task, place);
        checkpoints.insert(asked.checkpoint);
        tensors.insert(asked.tensor);
        numbers.insert(asked.number);
    }
    CHECK(checkpoints == std::set<std::uint32_t>{0, 2});
    CHECK(tensors == std::set<std::uint32_t>{0, 1});
    CHECK(numbers.size() == 64);
    CHECK(checkpoint_before(0) == 0);
    CHECK(checkpoint_before(1) == 0);
    CHECK(checkpoint_before(3) == 2);
}

TEST_CASE("AVL-3: only members attest, once, and while the committee sits") {
    Params params = quick_params();
    params.committee_seats = 5;
    params.draw_blocks = 100;
    Sitting made(params, 3);
    Chain& chain = made.chain;
    const TaskId id = made.id;
    const AttestAvailability right = make_attestation(chain, honest(), id, member(chain, id, 0).id);
    CHECK(chain.fail(chain.solver, right) == TxError::kNotOnCommittee);
    CHECK(chain.fail(chain.stranger, right) == TxError::kNotOnCommittee);
    const auto members = chain.task(id).committee->members;
    const std::size_t small = members[0].seats < 3 ? 0 : 1;  // not a majority alone
    const Actor& who = member(chain, id, small);
    const AttestAvailability mine = make_attestation(chain, honest(), id, who.id);
    REQUIRE(chain.run(who, mine) == 0);
    CHECK(chain.fail(who, mine) == TxError::kAlreadyAttested);
    const Actor& late = member(chain, id, small == 0 ? 1 : 0);
    const AttestAvailability theirs = make_attestation(chain, honest(), id, late.id);
    chain.skip(chain.task(id).deadline.value - chain.height.value);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kWithheld);
    CHECK(chain.fail(late, theirs) == TxError::kPhase);
}

TEST_CASE("AVL-3: nobody attests before a committee is drawn, nor once it has found the segments available") {
    Chain chain;
    chain.add_verifiers(3);
    const AttestAvailability any{{}, open_toy_tile(honest(), 0, 0, 0)};
    CHECK(chain.fail(chain.verifier, any) == TxError::kTaskUnknown);
    const TaskId id = complete_toy_task(chain, honest());
    CHECK(chain.task(id).state == TaskState::kCompleted);
    CHECK(chain.fail(chain.verifier, {AttestAvailability{id, any.opening}}) == TxError::kPhase);
    CHECK(chain.fail(chain.verifier, {AttestAvailability{id, any.opening}}) == TxError::kTaskState);
    give_no_verdict(chain, id);
    CHECK(chain.fail(chain.verifier, {AttestAvailability{id, any.opening}}) == TxError::kPhase);
    await_committee(chain, id);
    const Actor& who = chain.actor_of(chain.task(id).committee->members.back().account);
    const AttestAvailability last = make_attestation(chain, honest(), id, who.id);
    attest(chain, honest(), id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
    CHECK(chain.fail(who, last) == TxError::kPhase);
}

TEST_CASE("AVL-4: half of the seats are not enough, one more is when the time is over, and all end it at once") {
    Params params = quick_params();
    params.committee_seats = 4;
    params.attest_blocks = 30;
    Sitting made(params, 4, 5);  // a seat each
    Chain& chain = made.chain;
    const TaskId id = made.id;
    attest(chain, honest(), id, 2);
    CHECK(chain.task(id).committee->state == CommitteeState::kSitting);
    CHECK(is_sitting(chain.task(id)));
    CHECK(chain.paid(id, Reason::kAttestation).empty());
    std::size_t attested = 2;
    SUBCASE("half") {
        end_sitting(chain, id);
        CHECK(chain.task(id).committee->state == CommitteeState::kWithheld);
        return;
    }
    SUBCASE("one more") {
        attest(chain, honest(), id, 1);
        ++attested;
        CHECK(is_sitting(chain.task(id)));  // who is first does not choose who verifies
        end_sitting(chain, id);
    }
    SUBCASE("all") {
        attest(chain, honest(), id);
        attested = 4;
    }
    CHECK(chain.task(id).committee->state == CommitteeState::kAvailable);
    REQUIRE(events<history::CommitteeEnded>(chain, id).size() == 1);
    CHECK(events<history::CommitteeEnded>(chain, id)[0].is_available);
    CHECK(events<history::Attested>(chain, id).size() == attested);
    CHECK(chain.paid(id, Reason::kAttestation).size() == attested);
    CHECK(chain.task(id).state == TaskState::kCompleted);
}

TEST_CASE("AVL-4: seats are counted, not members") {
    Params params = quick_params();
    params.committee_seats = 5;
    params.attest_blocks = 30;
    for (std::uint64_t delay = 0;; ++delay) {
        REQUIRE(delay < 60);
        Chain chain(params);
        chain.skip(delay);
        const TaskId id = unjudged_task(chain, 2);
        const auto members = await_committee(chain, id).members;
        const auto most = std::max_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
            return a.seats < b.seats;
        });
        if (members.size() != 3 || most->seats != 3) {
            continue;  // 2, 2 and 1
        }
        SUBCASE("one member with three of five") {
            const AttestAvailability attestation = make_attestation(chain, honest(), id, most->account);
            REQUIRE(chain.run(chain.actor_of(most->account), attestation) == 0);
            end_sitting(chain, id);
            CHECK(chain.task(id).committee->state == CommitteeState::kAvailable);
        }
        SUBCASE("two members with two of five") {
            for (const CommitteeMember& each : members) {
                if (each.account != most->account) {
                    const AttestAvailability attestation = make_attestation(chain, honest(), id, each.account);
                    REQUIRE(chain.run(chain.actor_of(each.account), attestation) == 0);
                }
            }
            end_sitting(chain, id);
            CHECK(chain.task(id).committee->state == CommitteeState::kWithheld);
        }
        return;
    }
}
