// SPDX-License-Identifier: Apache-2.0
#include <tests/unit/contracts/contributors.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <contracts/arbitration/arbitration.hpp>
#include <contracts/beacon/contributing.hpp>
#include <contracts/beacon/rounds.hpp>
#include <contracts/chain/invariants.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/beacon/draw.hpp>
#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::contracts::test {

Params beacon_params() {
    Params params = quick_params();
    params.contribute_blocks = 4;
    params.commit_blocks = 10;
    params.contributor_bond = {kBond};
    return params;
}

Hash256 secret_of(const Actor& actor, int number) {
    return hash_of("secret " + std::to_string(number) + to_hex(actor.id.view()));
}
Hash256 commitment_of(const Actor& actor, int number) { return beacon_commitment(actor.id, secret_of(actor, number)); }
JoinBeacon join(const Actor& actor, int number) { return {commitment_of(actor, number)}; }
Contribute contribute(const Actor& actor, int number) {
    return {secret_of(actor, number), commitment_of(actor, number + 1)};
}
Beacon beacon_of(const Chain& chain) { return get_beacon(chain.view); }

void seat(Chain& chain, const Actor& actor, std::uint64_t coins) {
    REQUIRE(chain.run(actor, Bond{Role::kVerifier, {coins * kCoin}}) == 0);
    REQUIRE(chain.run(actor, join(actor)) == 0);
}

TaskId trained_task(Chain& chain) {
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    const TaskId id = chain.start_task(make_spec());
    chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
    return id;
}

TaskId open_round(Chain& chain, const std::vector<const Actor*>& contributors) {
    const TaskId id = trained_task(chain);
    for (const Actor* actor : contributors) {
        seat(chain, *actor);
    }
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    chain.skip(1);
    REQUIRE(beacon_of(chain).round.has_value());
    REQUIRE(chain.task(id).state == TaskState::kCompleted);
    return id;
}

TaskId complete_without_verifiers(Chain& chain) {
    const TaskId id = trained_task(chain);
    seat(chain, chain.submitter);
    REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
    return id;
}

std::vector<std::pair<std::uint32_t, AccountId>> drawn_for(const Chain& chain, const TaskId& id) {
    std::vector<std::pair<std::uint32_t, AccountId>> drawn;
    for (const Assignment& assignment : chain.task(id).assignments) {
        drawn.emplace_back(assignment.segment, assignment.verifier);
    }
    return drawn;
}

}  // namespace assay::contracts::test
