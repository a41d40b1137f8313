// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/committees.hpp>

#include <doctest/doctest.h>

#include <contracts/availability/availability.hpp>

namespace assay::contracts::test {

TaskId unjudged_task(Chain& chain, std::size_t others) {
    chain.add_verifiers(others);
    const TaskId id = complete_toy_task(chain, honest());
    chain.skip(1);
    give_no_verdict(chain, id);
    return id;
}

Committee await_committee(Chain& chain, const TaskId& id) {
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    for (int i = 0; i < 100 && !is_sitting(chain.task(id)); ++i) {
        chain.skip(1);
    }
    REQUIRE(is_sitting(chain.task(id)));
    return chain.task(id).committee.value();
}

AttestAvailability make_attestation(const Chain& chain, const ToyRun& run, const TaskId& id, const AccountId& who) {
    const Task task = chain.task(id);
    const auto& members = task.committee.value().members;
    std::size_t place = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
        place = members[i].account == who ? i : place;
    }
    const DrawnTile asked = asked_tile(task, place);
    return {id, open_toy_tile(run, asked.checkpoint, asked.tensor, asked.number)};
}

void attest(Chain& chain, const ToyRun& run, const TaskId& id, std::size_t count) {
    const Committee committee = chain.task(id).committee.value();
    for (const CommitteeMember& member : committee.members) {
        if (member.has_attested || count == 0 || !is_sitting(chain.task(id))) {
            continue;
        }
        REQUIRE(chain.run(chain.actor_of(member.account), make_attestation(chain, run, id, member.account)) == 0);
        --count;
    }
}

void end_sitting(Chain& chain, const TaskId& id) {
    for (std::uint32_t i = 0; i <= chain.params.attest_blocks && is_sitting(chain.task(id)); ++i) {
        chain.skip(1);
    }
    REQUIRE(!is_sitting(chain.task(id)));
}

void redraw(Chain& chain, const TaskId& id, const ToyRun& run) {
    await_committee(chain, id);
    attest(chain, run, id);
    for (int i = 0; i < 100 && chain.task(id).state == TaskState::kCompleted; ++i) {
        chain.skip(1);
    }
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
}

void give_no_verdict(Chain& chain, const TaskId& id) {
    REQUIRE(chain.task(id).state == TaskState::kVerifying);
    for (std::uint32_t i = 0; i < chain.params.commit_blocks; ++i) {
        chain.skip(chain.task(id).state == TaskState::kVerifying ? 1 : 0);
    }
    REQUIRE(chain.task(id).state == TaskState::kChallenge);
    for (std::uint32_t i = 0; i < chain.params.challenge_blocks; ++i) {
        chain.skip(chain.task(id).state == TaskState::kChallenge ? 1 : 0);
    }
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
}

Params params_of_five() {
    Params params = quick_params();
    params.committee_seats = 5;
    params.attest_blocks = 12;
    params.draw_blocks = 60;
    return params;
}

std::uint64_t locked_of_verifiers(const Chain& chain) {
    std::uint64_t total = 0;
    for (const Actor* actor : chain.actors()) {
        total += chain.stake(Role::kVerifier, *actor).locked.grains;
    }
    return total;
}

std::size_t attesters(const Chain& chain, const TaskId& id) {
    const auto members = chain.task(id).committee.value().members;
    return static_cast<std::size_t>(std::count_if(members.begin(), members.end(), [](const CommitteeMember& each) {
        return each.has_attested;
    }));
}

void attest_by_majority(Chain& chain, const TaskId& id) {
    const Committee committee = await_committee(chain, id);
    std::uint32_t seats = 0;
    for (const CommitteeMember& each : committee.members) {
        if (2 * seats <= chain.params.committee_seats) {
            attest(chain, honest(), id, 1);
            seats += each.seats;
        }
    }
    end_sitting(chain, id);
    REQUIRE(chain.task(id).committee->state == CommitteeState::kAvailable);
}

void disarm_attesters(Chain& chain, const TaskId& id) {
    std::vector<Bytes> txs;
    const Committee committee = chain.task(id).committee.value();
    for (const CommitteeMember& each : committee.members) {
        if (each.has_attested) {
            const Actor& actor = chain.actor_of(each.account);
            txs.push_back(chain.make_tx(actor, Unbond{Role::kVerifier, chain.stake(Role::kVerifier, actor).free}));
        }
    }
    for (const Receipt& receipt : chain.run_block(txs).receipts) {
        REQUIRE(receipt.code == 0);
    }
}

}  // namespace assay::contracts::test
