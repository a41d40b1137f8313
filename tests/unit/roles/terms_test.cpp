// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/params/work.hpp>
#include <verifier/roles/terms.hpp>

namespace assay::roles {
namespace {

/// A task of exact mode on any machine whose fee is the least that the chain allows.
contracts::TaskSpec cheap_spec(const contracts::Params& params) {
    contracts::TaskSpec spec;
    spec.steps = 100;
    spec.checkpoint_interval = 10;
    spec.reward = Amount{20'000'000'000};
    spec.program.memory = 4'096;
    spec.program.step_work = 1'000'000'000;
    spec.verification_fee = contracts::fee_at(params, spec, params.work_price);
    return spec;
}

}  // namespace

TEST_CASE("TRM-2: a verifier that takes nothing new registers terms to which no task fits") {
    const contracts::Params params;
    const contracts::TaskSpec spec = cheap_spec(params);
    const auto consents = [&](const OwnerView& owner) {
        return contracts::consents(params, spec, terms_for(params, contracts::Role::kVerifier, owner));
    };
    CHECK(consents({}));
    CHECK_FALSE(consents({.is_closed = true}));
    CHECK_FALSE(consents({.is_closed = true, .memory = 1'000'000'000}));
    CHECK(consents({.memory = 4'096}));
    CHECK_FALSE(consents({.memory = 4'095}));
    CHECK(consents({.least_price = params.work_price}));
    CHECK_FALSE(consents({.least_price = params.work_price + 1}));
}

TEST_CASE("TRM-1: the price of a verifier is at most what may be registered, and a solver registers its class alone") {
    const contracts::Params params;
    const OwnerView owner{.is_closed = true, .least_price = params.work_price * 100, .memory = 5, .hardware_class = 2};
    CHECK(terms_for(params, contracts::Role::kVerifier, owner).price == params.work_price * contracts::kMostAsked);
    CHECK(terms_for(params, contracts::Role::kSolver, owner) == contracts::Terms{.hardware_class = 2});
}

TEST_CASE("ENV-3: a solver offers the environment in which it runs, and a verifier none") {
    const contracts::Params params;
    const contracts::Environment environment{.image = Hash256{{1}}, .labels = {"cuda=12.4"}};
    const auto offers = [&](contracts::Role role) {
        return terms_for(params, role, {.environment = environment}).offers;
    };
    CHECK(offers(contracts::Role::kSolver) == contracts::fingerprints(environment));
    CHECK(offers(contracts::Role::kVerifier).empty());
    CHECK(terms_for(params, contracts::Role::kSolver, {}).offers.empty());
}

}  // namespace assay::roles
