// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/governance/params_rules.hpp>
#include <contracts/stake/terms.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

constexpr std::uint32_t kConsumer = 2;
constexpr std::uint32_t kHopper = 4;

Params classed_params() {
    Params params = quick_params();
    params.hardware_classes = {{"cpu", 1}, {"consumer", 100}, {"datacenter", 1'000}, {"hopper", 5'000}};
    params.draw_blocks = 100;
    return params;
}

TaskId submit(Chain& chain, std::uint32_t hardware_class) {
    TaskSpec spec = make_spec();
    spec.hardware_class = hardware_class;
    const TaskId id = task_id(chain.submitter.id, get_account(chain.view, chain.submitter.id).nonce);
    REQUIRE(chain.run(chain.submitter, SubmitTask{spec}) == 0);
    return id;
}

}  // namespace

TEST_CASE("HW-1: a class that the table does not have is refused") {
    Chain chain(classed_params());
    TaskSpec spec = make_spec();
    spec.hardware_class = kHopper + 1;
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kClassUnknown);
    CHECK(
        chain.fail(chain.solver, RegisterTerms{Role::kSolver, {kHopper + 1}, ~std::uint64_t{0}}) ==
        TxError::kClassUnknown
    );
}

TEST_CASE("HW-2: a registration needs a score that reaches its class, and the last one counts") {
    Chain chain(classed_params());
    const auto registered = [&] { return get_terms(chain.view, Role::kSolver, chain.solver.id); };
    CHECK(chain.fail(chain.solver, RegisterTerms{Role::kSolver, {kHopper}, 4'999}) == TxError::kScoreTooLow);
    CHECK(chain.fail(chain.solver, RegisterTerms{Role::kWhistleblower, {kHopper}, 5'000}) == TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, RegisterTerms{Role::kValidator, {kHopper}, 5'000}) == TxError::kFieldOutOfRange);
    CHECK(chain.run(chain.solver, RegisterTerms{Role::kSolver, {kHopper}, 5'000}) == 0);
    CHECK(registered().terms.hardware_class == kHopper);
    CHECK(registered().score == 5'000);
    CHECK(registered().registered_at == chain.height);
    CHECK(get_terms(chain.view, Role::kVerifier, chain.solver.id).terms.hardware_class == 0);
    CHECK(chain.run(chain.solver, RegisterTerms{Role::kSolver, {kConsumer}, 5'000}) == 0);
    CHECK(registered().terms.hardware_class == kConsumer);
    CHECK(chain.run(chain.solver, RegisterTerms{Role::kSolver, {}, 0}) == 0);
    CHECK_FALSE(chain.view.get(keys::terms(Role::kSolver, chain.solver.id)).has_value());
}

TEST_CASE("HW-3: a solver is drawn among those registered for the task's class, and the task waits for one") {
    Chain chain(classed_params());
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.verifier, Bond{Role::kVerifier, {100 * kCoin}}) == 0);  // TRM-3
    REQUIRE(chain.run(chain.verifier, RegisterTerms{Role::kVerifier, {kHopper}, 9'000}) == 0);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kSolver, {500 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, RegisterTerms{Role::kSolver, {kConsumer}, 200}) == 0);
    const TaskId waiting = submit(chain, kHopper);
    chain.skip(5);
    CHECK(chain.task(waiting).state == TaskState::kOpen);
    for (int i = 0; i < 10; ++i) {
        const TaskId id = submit(chain, kConsumer);
        chain.skip(1);
        CHECK(chain.task(id).solver == chain.stranger.id);
        REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
    }
    REQUIRE(chain.run(chain.solver, RegisterTerms{Role::kSolver, {kHopper}, 9'000}) == 0);
    chain.await_solver(waiting);
    CHECK(chain.task(waiting).solver == chain.solver.id);
    const TaskId any = submit(chain, 0);
    chain.skip(1);
    CHECK(chain.task(any).state == TaskState::kDrawn);
}
