// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/params/rules.hpp>
#include <contracts/stake/hardware.hpp>
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

std::uint64_t total(const std::vector<Candidate>& candidates) {
    std::uint64_t sum = 0;
    for (const Candidate& candidate : candidates) {
        sum += candidate.weight;
    }
    return sum;
}

}  // namespace

TEST_CASE("PAR-4: a chain may have no classes of machines at all") {
    Params params = quick_params();
    params.hardware_classes.clear();
    CHECK(are_valid(params));
    Chain chain(params);
    CHECK(chain.fail(chain.solver, RegisterHardware{Role::kSolver, 1, 1}) == TxError::kHardwareUnknown);
}

TEST_CASE("HW-1: a class that the table does not have is refused") {
    Chain chain(classed_params());
    TaskSpec spec = make_spec();
    spec.hardware_class = kHopper + 1;
    CHECK(chain.fail(chain.submitter, SubmitTask{spec}) == TxError::kHardwareUnknown);
    CHECK(chain.fail(chain.solver, RegisterHardware{Role::kSolver, kHopper + 1, ~std::uint64_t{0}}) ==
          TxError::kHardwareUnknown);
}

TEST_CASE("HW-2: a registration needs a score that reaches its class, and the last one counts") {
    Chain chain(classed_params());
    const auto registered = [&] { return get_hardware(chain.view, Role::kSolver, chain.solver.id); };
    CHECK(chain.fail(chain.solver, RegisterHardware{Role::kSolver, kHopper, 4'999}) == TxError::kScoreTooLow);
    CHECK(chain.fail(chain.solver, RegisterHardware{Role::kWhistleblower, kHopper, 5'000}) ==
          TxError::kFieldOutOfRange);
    CHECK(chain.fail(chain.solver, RegisterHardware{Role::kValidator, kHopper, 5'000}) == TxError::kFieldOutOfRange);
    CHECK(chain.run(chain.solver, RegisterHardware{Role::kSolver, kHopper, 5'000}) == 0);
    CHECK(registered().hardware_class == kHopper);
    CHECK(registered().score == 5'000);
    CHECK(registered().registered_at == chain.height);
    CHECK(get_hardware(chain.view, Role::kVerifier, chain.solver.id).hardware_class == 0);
    CHECK(chain.run(chain.solver, RegisterHardware{Role::kSolver, kConsumer, 5'000}) == 0);
    CHECK(registered().hardware_class == kConsumer);
    CHECK(chain.run(chain.solver, RegisterHardware{Role::kSolver, 0, 0}) == 0);
    CHECK_FALSE(chain.view.get(keys::hardware(Role::kSolver, chain.solver.id)).has_value());
}

TEST_CASE("HW-3: a solver is drawn among those registered for the task's class, and the task waits for one") {
    Chain chain(classed_params());
    REQUIRE(chain.run(chain.solver, Bond{Role::kSolver, {100 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, Bond{Role::kSolver, {500 * kCoin}}) == 0);
    REQUIRE(chain.run(chain.stranger, RegisterHardware{Role::kSolver, kConsumer, 200}) == 0);
    const TaskId waiting = submit(chain, kHopper);
    chain.skip(5);
    CHECK(chain.task(waiting).state == TaskState::kOpen);
    for (int i = 0; i < 10; ++i) {
        const TaskId id = submit(chain, kConsumer);
        chain.skip(1);
        CHECK(chain.task(id).solver == chain.stranger.id);
        REQUIRE(chain.run(chain.submitter, CancelTask{id}) == 0);
    }
    REQUIRE(chain.run(chain.solver, RegisterHardware{Role::kSolver, kHopper, 9'000}) == 0);
    chain.await_solver(waiting);
    CHECK(chain.task(waiting).solver == chain.solver.id);
    const TaskId any = submit(chain, 0);
    chain.skip(1);
    CHECK(chain.task(any).state == TaskState::kDrawn);
}

TEST_CASE("HW-4: verifiers with machines like the solver's come first while they hold half of the stake") {
    Chain chain(classed_params());
    const auto weigh = [&](std::uint64_t like, std::uint64_t unlike, std::uint32_t number) {
        const auto class_of = [&](const Actor& actor) {
            return get_hardware(chain.view, Role::kVerifier, actor.id).hardware_class;
        };
        std::vector<Candidate> candidates{
            {chain.verifier.id, like, class_of(chain.verifier)}, {chain.stranger.id, unlike, class_of(chain.stranger)}};
        prefer_class(number, candidates);
        return total(candidates);
    };
    CHECK(weigh(25, 75, kHopper) == 100);  // nobody is registered
    REQUIRE(chain.run(chain.verifier, RegisterHardware{Role::kVerifier, kHopper, 9'000}) == 0);
    REQUIRE(chain.run(chain.stranger, RegisterHardware{Role::kVerifier, kConsumer, 9'000}) == 0);
    CHECK(weigh(50, 50, kHopper) == 50);
    CHECK(weigh(49, 51, kHopper) == 100);
    CHECK(weigh(0, 100, kHopper) == 100);
    CHECK(weigh(50, 50, 0) == 100);
    CHECK(weigh(25, 75, kConsumer) == 75);
    CHECK(weigh(~std::uint64_t{0} / 2, ~std::uint64_t{0} / 2, kHopper) == ~std::uint64_t{0} / 2);
}

TEST_CASE("HW-4: the draw uses the preference and falls back to all") {
    Params params = classed_params();
    params.segments_checked = 4;
    for (const bool is_alike : {true, false}) {
        Chain chain(params);
        chain.bond_all();
        REQUIRE(chain.run(chain.stranger, Bond{Role::kVerifier, {100 * kCoin}}) == 0);
        REQUIRE(chain.run(chain.solver, RegisterHardware{Role::kSolver, kHopper, 9'000}) == 0);
        REQUIRE(chain.run(chain.stranger, RegisterHardware{Role::kVerifier, is_alike ? kHopper : kConsumer, 9'000}) ==
                0);
        const TaskId id = chain.start_task(make_spec());
        chain.post_checkpoints(id, {hash_of("0"), hash_of("1"), hash_of("2"), hash_of("3")});
        REQUIRE(chain.run(chain.solver, CompleteTask{id}) == 0);
        chain.skip(1);
        REQUIRE(chain.task(id).assignments.size() == 4);
        std::size_t strangers = 0;
        for (const Assignment& assignment : chain.task(id).assignments) {
            strangers += assignment.verifier == chain.stranger.id ? 1U : 0U;
        }
        CHECK((strangers == 4) == is_alike);
    }
}
