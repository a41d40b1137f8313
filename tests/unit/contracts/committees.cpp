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
    const AskedTile asked = asked_tile(task, place);
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

}  // namespace assay::contracts::test
