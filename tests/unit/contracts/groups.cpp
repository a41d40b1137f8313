// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/groups.hpp>

#include <algorithm>

#include <doctest/doctest.h>

#include <contracts/params/by_value.hpp>
#include <contracts/state/members.hpp>
#include <contracts/tasks/seats.hpp>

namespace assay::contracts::test {

std::size_t add_partner(Chain& chain, Amount stake) {
    const std::size_t index = chain.others.size();
    chain.others.push_back(make_actor(static_cast<std::uint8_t>(60 + index)));
    REQUIRE(chain.run(chain.stranger, Transfer{chain.others[index].id, {stake.grains + 50 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.others[index], Bond{Role::kSolver, stake}) == 0);
    return index;
}

AcceptTask make_acceptance(const TaskId& id, const std::vector<const Actor*>& seats, bool is_together) {
    AcceptTask action{.task = id, .seats = {}, .signatures = {}, .is_together = is_together};
    for (const Actor* actor : seats) {
        action.seats.push_back(actor->id);
    }
    const Hash256 claim = seats_claim(kChainId, {.task = id, .seats = action.seats, .is_together = is_together});
    for (const AccountId& partner : partners_of(action.seats)) {
        for (const Actor* actor : seats) {
            if (actor->id == partner) {
                action.signatures.push_back(actor->key.sign(claim.view()));
                break;
            }
        }
    }
    return action;
}

Reseat make_reseat(const TaskId& id, std::uint32_t from, const std::vector<const Actor*>& seats) {
    Reseat action{.task = id, .from = from, .seats = {}, .signatures = {}};
    for (const Actor* actor : seats) {
        action.seats.push_back(actor->id);
    }
    const Hash256 claim = seats_claim(kChainId, {.task = id, .seats = action.seats, .is_together = true, .from = from});
    for (const AccountId& partner : partners_of(action.seats)) {
        const auto signer =
            std::find_if(seats.begin(), seats.end(), [&](const Actor* each) { return each->id == partner; });
        action.signatures.push_back((*signer)->key.sign(claim.view()));
    }
    return action;
}

TaskId drawn_group_task(Chain& chain, const TaskSpec& spec) {
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    chain.await_solver(id);
    REQUIRE(chain.task(id).solver == chain.solver.id);
    return id;
}

TaskId start_group(Chain& chain, TaskSpec spec, std::size_t partners, bool is_together) {
    spec.members = static_cast<std::uint8_t>(partners + 1);
    const TaskId id = drawn_group_task(chain, spec);
    std::vector<const Actor*> seats{&chain.solver};
    const std::size_t first = chain.others.size();
    for (std::size_t i = 0; i < partners; ++i) {
        add_partner(chain, member_bond(chain.params, task_value(spec)));
    }
    for (std::size_t i = 0; i < partners; ++i) {
        seats.push_back(&chain.others[first + i]);
    }
    REQUIRE(chain.run(chain.solver, make_acceptance(id, seats, is_together)) == 0);
    REQUIRE(chain.task(id).state == TaskState::kTraining);
    return id;
}

void post_by_turns(Chain& chain, const TaskId& id, const std::vector<Hash256>& roots) {
    for (std::uint32_t i = chain.task(id).checkpoints; i < roots.size(); ++i) {
        const AccountId owner = owner_of(chain.task(id), i);
        REQUIRE(chain.run(chain.actor_of(owner), PostCheckpoint{id, i, roots[i], {}}) == 0);
    }
}

TaskId complete_group_task(Chain& chain, const ToyRun& run, std::size_t partners, bool is_together) {
    chain.bond_all();
    const TaskId id = start_group(chain, run.spec(), partners, is_together);
    post_by_turns(chain, id, run.checkpoint_roots());
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    return id;
}

void await_state(Chain& chain, const TaskId& id, TaskState state) {
    for (int i = 0; i < 200 && chain.task(id).state != state; ++i) {
        chain.skip(1);
    }
    REQUIRE(chain.task(id).state == state);
}

}  // namespace assay::contracts::test
