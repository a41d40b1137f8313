// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include <contracts/params/by_value.hpp>
#include <contracts/governance/params_rules.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Values that ascend from nothing to everything.
std::vector<Amount> values() {
    std::vector<Amount> all;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
        const std::uint64_t power = std::uint64_t{1} << bit;
        all.push_back({power - 1});
        all.push_back({power});
        all.push_back({power + power / 2});
    }
    all.push_back({kMost});
    return all;
}

Params by_value_params() {
    Params params = quick_params();
    params.solver_bond_bps = 10'000;
    params.verifier_bond_bps = 2'500;
    params.challenger_bond_bps = 1'000;
    params.value_per_check = {10 * kCoin};
    params.value_per_verifier = {20 * kCoin};
    return params;
}

}  // namespace

TEST_CASE("PAR-2: a bond is the greater of the least amount and the share of the value") {
    Params params;
    params.solver_bond = {500};
    params.solver_bond_bps = 2'500;
    CHECK(solver_bond(params, {0}) == Amount{500});
    CHECK(solver_bond(params, {2'000}) == Amount{500});
    CHECK(solver_bond(params, {2'003}) == Amount{500});
    CHECK(solver_bond(params, {2'004}) == Amount{501});
    CHECK(solver_bond(params, {40'000}) == Amount{10'000});
    params.verifier_bond = {7};
    params.verifier_bond_bps = 0;
    CHECK(verifier_bond(params, {kMost}) == Amount{7});
    params.challenger_bond = {1};
    params.challenger_bond_bps = kMaxBondBps;
    CHECK(challenger_bond(params, {3}) == Amount{300});
    CHECK(challenger_bond(params, {kMost / 100}) == Amount{kMost / 100 * 100});
    CHECK(challenger_bond(params, {kMost / 50}) == Amount{kMost});
    CHECK(verifier_needs(params, {3}) == Amount{307});
    params.verifiers_per_segment = params.verifiers_per_segment_max = 3;
    CHECK(verifier_reserve(params, {3}) == Amount{3 * challenger_bond(params, {3}).grains});
    CHECK(verifier_reserve(params, {kMost}) == Amount{kMost});
    CHECK(verifier_needs(params, {kMost}) == Amount{kMost});
}

TEST_CASE("PAR-2: bonds are monotone in the value and never zero") {
    for (const std::uint32_t bps : {0U, 1U, 9'999U, 10'000U, 12'345U, kMaxBondBps}) {
        Params params;
        params.solver_bond = {1};
        params.solver_bond_bps = bps;
        params.verifier_bond_bps = bps;
        params.challenger_bond_bps = bps;
        REQUIRE(are_valid(params));
        Amount solver;
        Amount verifier;
        Amount challenger;
        Amount needs;
        for (const Amount value : values()) {
            CHECK(solver_bond(params, value) >= std::max(solver, Amount{1}));
            CHECK(verifier_bond(params, value) >= std::max(verifier, params.verifier_bond));
            CHECK(challenger_bond(params, value) >= std::max(challenger, params.challenger_bond));
            CHECK(verifier_needs(params, value) >= std::max(needs, verifier_bond(params, value)));
            solver = solver_bond(params, value);
            verifier = verifier_bond(params, value);
            challenger = challenger_bond(params, value);
            needs = verifier_needs(params, value);
        }
    }
}

TEST_CASE("PAR-3: more is checked, and by more, as the value grows, up to what one task may have") {
    Params params;
    params.segments_checked = 3;
    params.segments_checked_max = 63;
    params.verifiers_per_segment = 1;
    params.verifiers_per_segment_max = 4;
    params.value_per_check = {100};
    params.value_per_verifier = {1'000};
    CHECK(segments_checked(params, {99}, 1'000) == 3);
    CHECK(segments_checked(params, {100}, 1'000) == 4);
    CHECK(segments_checked(params, {100}, 2) == 2);
    CHECK(segments_checked(params, {6'099}, 1'000) == 63);
    CHECK(segments_checked(params, {kMost}, 1'000) == 63);
    CHECK(verifiers_per_segment(params, {999}) == 1);
    CHECK(verifiers_per_segment(params, {2'000}) == 3);
    CHECK(verifiers_per_segment(params, {kMost}) == 4);
    std::uint32_t checked = 1;
    std::uint32_t verifiers = 1;
    for (const Amount value : values()) {
        CHECK(segments_checked(params, value, 1'000) >= checked);
        CHECK(verifiers_per_segment(params, value) >= verifiers);
        checked = segments_checked(params, value, 1'000);
        verifiers = verifiers_per_segment(params, value);
        CHECK((checked + 1) * verifiers <= kMaxAssignments);  // EVL-5: the one more is the evaluation
    }
    params.value_per_check = {0};
    params.value_per_verifier = {0};
    CHECK(segments_checked(params, {kMost}, 1'000) == 3);
    CHECK(verifiers_per_segment(params, {kMost}) == 1);
}

TEST_CASE("PAR-2: the bonds of the task at hand are what its duties lock") {
    Chain chain(by_value_params());
    const TaskId id = chain.verifying_task();  // of 23 coins
    CHECK(chain.task(id).solver_bond == Amount{23 * kCoin});
    const auto assignments = chain.task(id).assignments;
    CHECK(assignments.size() == 4);  // PAR-3: two more segments; one verifier is all that there is
    for (const Assignment& assignment : assignments) {
        CHECK(assignment.bond == Amount{23 * kCoin / 4});
    }
    REQUIRE(chain.run(chain.whistleblower, OpenDispute{id, 1, Role::kWhistleblower}) == 0);
    CHECK(chain.stake(Role::kWhistleblower, chain.whistleblower).locked == Amount{23 * kCoin / 10});
}

TEST_CASE("STK-5: an account of the registry is drawn only for tasks whose bond it covers") {
    Chain chain(by_value_params());
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {10 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    CHECK(get_stakers(chain.view, Role::kSolver) == std::vector{chain.solver.id});
    const TaskId dear = task_id(chain.submitter.id, 0);
    REQUIRE(chain.run(chain.submitter, SubmitTask{make_spec()}) == 0);
    CHECK(chain.task(dear).state == TaskState::kOpen);
    TaskSpec spec = make_spec();
    spec.reward = {9 * kCoin};
    spec.verification_fee = {1 * kCoin};
    const TaskId cheap = task_id(chain.submitter.id, 1);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    chain.skip(1);
    CHECK(chain.task(cheap).state == TaskState::kDrawn);
    REQUIRE(chain.run(chain.solver, AcceptTask{cheap}) == 0);
    CHECK(chain.stake(Role::kSolver, chain.solver).free == Amount{});
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {23 * kCoin}}) == 0);
    chain.await_solver(dear);
    CHECK(chain.task(dear).solver == chain.solver.id);
}
