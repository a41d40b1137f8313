// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <contracts/governance/governance.hpp>
#include <contracts/governance/params_rules.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/validators/validators.hpp>
#include <core/crypto/ed25519.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts {
namespace {

using namespace test;

constexpr std::uint32_t kVote = 10;
constexpr std::uint32_t kDelay = 6;

Params params_for_votes() {
    Params params = quick_params();
    params.validator_stake_min = Amount{10 * kCoin};
    params.validators_max = 4;
    params.vote_blocks = kVote;
    params.vote_delay_blocks = kDelay;
    return params;
}

RegisterValidator registration(const AccountId& account, std::uint8_t number) {
    crypto::Ed25519Key::Seed seed{};
    seed.fill(number);
    const crypto::Ed25519Key key(seed);
    const Hash256 claim = consensus_key_claim(kChainId, account);
    return {ConsensusKey{key.public_key()}, ConsensusSignature{key.sign(claim.view())}};
}

ProposeParams change(VotableParam param, std::uint64_t value) { return {.changes = {{param, value}}}; }

/// A chain of three validators with powers 50, 30 and 20.
struct Senate {
    Chain chain{params_for_votes()};
    Actor major = make_actor(1);
    Actor middle = make_actor(2);
    Actor minor = make_actor(3);

    Senate() {
        join(major, 1, 50);
        join(middle, 2, 30);
        join(minor, 3, 20);
    }
    void join(const Actor& who, std::uint8_t number, std::uint64_t coins) {
        REQUIRE(chain.run(who, Bond{Role::kValidator, Amount{coins * kCoin}}) == 0);
        REQUIRE(chain.run(who, registration(who.id, number)) == 0);
    }
    ProposalId propose(const Actor& who, const Action& action) {
        const ProposalId id = proposal_id(who.id, get_account(chain.view, who.id).nonce);
        REQUIRE(chain.run(who, action) == 0);
        return id;
    }
    Params params() const { return get_params(chain.view); }
    Proposal proposal(const ProposalId& id) const { return find_proposal(chain.view, id).value(); }
    /// Empty blocks until the block of this height.
    void reach(Height height) { chain.skip(height.value - chain.height.value); }
};

}  // namespace

TEST_CASE("GOV-1: only a validator of the set proposes, and its proposal has its vote") {
    Senate s;
    CHECK(s.chain.fail(s.chain.stranger, ProposeHalt{}) == TxError::kNotInSet);
    REQUIRE(s.chain.run(s.minor, Unbond{Role::kValidator, Amount{15 * kCoin}}) == 0);
    CHECK(s.chain.fail(s.minor, change(VotableParam::kJailBlocks, 9)) == TxError::kNotInSet);
    const ProposalId id = s.propose(s.major, change(VotableParam::kJailBlocks, 9));
    CHECK(s.proposal(id).votes == std::vector{s.major.id});
    CHECK(s.proposal(id).ends == Height{s.chain.height.value + kVote});
}

TEST_CASE("GOV-2: a change is of votable parameters, each once, and leaves a chain that can run") {
    Senate s;
    CHECK(s.chain.fail(s.major, ProposeParams{}) == TxError::kFieldOutOfRange);
    const ParamChange jail{VotableParam::kJailBlocks, 9};
    CHECK(s.chain.fail(s.major, ProposeParams{{jail, jail}}) == TxError::kFieldOutOfRange);
    CHECK(s.chain.fail(s.major, ProposeParams{{jail, {VotableParam::kGasPriceMin, 9}}}) == TxError::kFieldOutOfRange);
    CHECK(s.chain.fail(s.major, change(VotableParam::kJailBlocks, s.params().jail_blocks)) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, change(VotableParam::kJailBlocks, 1ULL << 32U)) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, change(VotableParam::kJailBlocks, 0)) == TxError::kChangeInvalid);   // PAR-1.1
    CHECK(s.chain.fail(s.major, change(VotableParam::kBlockGasMax, 1)) == TxError::kChangeInvalid);  // GAS-8
    CHECK(s.chain.fail(s.major, change(VotableParam::kGasPriceMin, 0)) == TxError::kChangeInvalid);  // PAR-1.3
    CHECK(s.chain.fail(s.major, change(VotableParam::kValidatorsMax, 0)) == TxError::kChangeInvalid);
    for (std::uint8_t number = 1; number <= kVotableParams; ++number) {
        const auto param = static_cast<VotableParam>(number);
        CAPTURE(to_string(param));
        CHECK(find_votable_param(to_string(param)) == param);
        const std::uint64_t next = value_of(s.params(), param) + 1;
        const auto changed = with_changes(s.params(), {{param, next}});
        REQUIRE(changed.has_value());
        CHECK(value_of(*changed, param) == next);
        CHECK_FALSE(*changed == s.params());
    }
}

TEST_CASE("GOV-2: votes raise the gas price to its double at most, however many are open at a time") {
    Senate s;
    const std::uint64_t now = s.params().gas_price_min.grains;
    CHECK(s.chain.fail(s.major, change(VotableParam::kGasPriceMin, 2 * now + 1)) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, change(VotableParam::kGasPriceMin, kGasPriceMax.grains)) == TxError::kChangeInvalid);
    const ProposalId first = s.propose(s.major, change(VotableParam::kGasPriceMin, 2 * now));
    const ProposalId second = s.propose(s.middle, change(VotableParam::kGasPriceMin, 2 * now - 1));
    for (const ProposalId& id : {first, second}) {
        REQUIRE(s.chain.run(s.major, Vote{id, true}) == 0);
        REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    }
    CHECK(s.chain.fail(s.minor, change(VotableParam::kGasPriceMin, 4 * now)) == TxError::kChangeInvalid);
    s.chain.skip(kDelay);
    CHECK(s.params().gas_price_min.grains == 2 * now - 1);
    // What is proposed from then on counts a delay later.
    CHECK(s.chain.run(s.minor, change(VotableParam::kGasPriceMin, 2 * (2 * now - 1))) == 0);
}

TEST_CASE("GOV-2: what was admissible when it was proposed and no longer is changes nothing") {
    Senate s;
    const std::uint64_t now = s.params().gas_price_min.grains;
    const ProposalId lower = s.propose(s.major, change(VotableParam::kGasPriceMin, 1));
    REQUIRE(s.chain.run(s.middle, Vote{lower, true}) == 0);
    const ProposalId higher = s.propose(s.middle, change(VotableParam::kGasPriceMin, 2 * now));
    REQUIRE(s.chain.run(s.major, Vote{higher, true}) == 0);
    s.reach(s.proposal(higher).effective);
    CHECK(s.params().gas_price_min.grains == 1);
    CHECK_FALSE(find_proposal(s.chain.view, higher).has_value());
}

TEST_CASE("GOV-6: a proposal passes with more than two thirds of the power, which may come and go") {
    Senate s;
    const ProposalId id = s.propose(s.middle, change(VotableParam::kJailBlocks, 9));
    CHECK(s.chain.fail(s.chain.stranger, Vote{id, true}) == TxError::kNotInSet);
    CHECK(s.chain.fail(s.major, Vote{ProposalId{}, true}) == TxError::kProposalUnknown);
    REQUIRE(s.chain.run(s.minor, Vote{id, true}) == 0);  // 50 of 100
    CHECK(s.proposal(id).effective == Height{0});
    REQUIRE(s.chain.run(s.minor, Vote{id, false}) == 0);
    CHECK(s.proposal(id).votes == std::vector{s.middle.id});
    REQUIRE(s.chain.run(s.major, Vote{id, true}) == 0);  // 80 of 100
    CHECK(s.proposal(id).effective == Height{s.chain.height.value + kDelay});
    CHECK(count_votes(s.chain.view, s.proposal(id)).in_favour == 80);
    CHECK(count_votes(s.chain.view, s.proposal(id)).total == 100);
    CHECK_FALSE(Tally{.in_favour = 2, .total = 3}.has_passed());
    CHECK(Tally{.in_favour = 3, .total = 4}.has_passed());
    CHECK_FALSE(Tally{}.has_passed());
}

TEST_CASE("GOV-7: what passed takes effect when its delay is over, for the blocks after that one") {
    Senate s;
    const ProposalId id = s.propose(s.major, change(VotableParam::kJailBlocks, 9));
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    const Height effective = s.proposal(id).effective;
    s.reach(Height{effective.value - 1});
    CHECK(s.params().jail_blocks != 9);
    CHECK(find_proposal(s.chain.view, id).has_value());
    s.reach(effective);
    CHECK(s.params().jail_blocks == 9);
    CHECK_FALSE(find_proposal(s.chain.view, id).has_value());
    CHECK(get_proposals(s.chain.view).empty());
    s.chain.skip(kVote);  // the end of its time to vote finds nothing any more
}

TEST_CASE("GOV-7: what has lost its majority during the delay is dropped") {
    Senate s;
    const Params before = s.params();
    const ProposalId id = s.propose(s.major, change(VotableParam::kJailBlocks, 9));
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    REQUIRE(s.chain.run(s.major, Vote{id, false}) == 0);
    const Height effective = s.proposal(id).effective;
    CHECK(effective.value != 0);
    s.reach(effective);
    CHECK(s.params() == before);
    CHECK_FALSE(find_proposal(s.chain.view, id).has_value());
}

TEST_CASE("GOV-7: the powers at the end of the delay count, not those at the vote") {
    Senate s;
    const Params before = s.params();
    const ProposalId id = s.propose(s.major, change(VotableParam::kJailBlocks, 9));
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);                              // 80 of 100
    REQUIRE(s.chain.run(s.minor, Bond{Role::kValidator, Amount{100 * kCoin}}) == 0);  // 80 of 200
    s.reach(s.proposal(id).effective);
    CHECK(s.params() == before);
}

TEST_CASE("GOV-5: a validator has one proposal, which it may replace until it has passed") {
    Senate s;
    const ProposalId first = s.propose(s.major, change(VotableParam::kJailBlocks, 9));
    const ProposalId second = s.propose(s.major, change(VotableParam::kJailBlocks, 8));
    CHECK_FALSE(find_proposal(s.chain.view, first).has_value());
    REQUIRE(get_proposals(s.chain.view).size() == 1);
    CHECK(get_proposals(s.chain.view).front().id == second);
    REQUIRE(s.chain.run(s.middle, Vote{second, true}) == 0);
    CHECK(s.chain.fail(s.major, ProposeHalt{}) == TxError::kProposalPassed);
    s.propose(s.middle, ProposeHalt{});
    CHECK(get_proposals(s.chain.view).size() == 2);
}

TEST_CASE("GOV-5: a proposal without a majority is dropped when its time is over") {
    Senate s;
    const ProposalId id = s.propose(s.minor, change(VotableParam::kJailBlocks, 9));
    const Height ends = s.proposal(id).ends;
    s.reach(Height{ends.value - 1});
    CHECK(find_proposal(s.chain.view, id).has_value());
    s.reach(ends);
    CHECK_FALSE(find_proposal(s.chain.view, id).has_value());
    CHECK(s.chain.fail(s.major, Vote{id, true}) == TxError::kProposalUnknown);
}

TEST_CASE("GOV-3, GOV-8: an upgrade begins with the block that its plan names, and may be cancelled before") {
    Senate s;
    const std::uint32_t now = s.params().protocol_version;
    const auto at = [&](std::uint64_t blocks) { return Height{s.chain.height.value + 1 + blocks}; };
    CHECK(s.chain.fail(s.major, ProposeUpgrade{at(kDelay), now + 1}) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, ProposeUpgrade{at(kDelay + 1), now}) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, ProposeUpgrade{at(kDelay + 1), now - 1}) == TxError::kChangeInvalid);
    CHECK(s.chain.fail(s.major, ProposeUpgrade{Height{0}, now + 1}) == TxError::kChangeInvalid);
    const Height planned = at(kDelay + 5);
    const ProposalId id = s.propose(s.major, ProposeUpgrade{planned, now + 1});
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    s.reach(s.proposal(id).effective);
    CHECK(get_plans(s.chain.view) == std::vector{Plan{planned, now + 1}});

    SUBCASE("it begins") {
        s.reach(Height{planned.value - 1});
        CHECK(s.params().protocol_version == now);
        s.reach(planned);
        CHECK(s.params().protocol_version == now + 1);
        CHECK(get_plans(s.chain.view).empty());
        CHECK(are_valid(s.params()));
    }
    SUBCASE("it is cancelled") {
        const ProposalId keep = s.propose(s.middle, ProposeUpgrade{Height{0}, now});
        REQUIRE(s.chain.run(s.major, Vote{keep, true}) == 0);
        CHECK(get_plans(s.chain.view).empty());  // at once
        s.reach(planned);
        CHECK(s.params().protocol_version == now);
    }
}

TEST_CASE("GOV-3: a plan whose height has passed before it counts plans nothing") {
    Senate s;
    const std::uint32_t now = s.params().protocol_version;
    const Height planned{s.chain.height.value + kDelay + 2};
    const ProposalId id = s.propose(s.major, ProposeUpgrade{planned, now + 1});
    s.chain.skip(3);
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    s.reach(s.proposal(id).effective);
    CHECK(get_plans(s.chain.view).empty());
    s.chain.skip(3);
    CHECK(s.params().protocol_version == now);
}

TEST_CASE("GOV-4, GOV-7, GOV-8: a halt is planned for the very next block, and the chain goes on with it") {
    Senate s;
    const ProposalId id = s.propose(s.major, ProposeHalt{});
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    const Plan halt{Height{s.chain.height.value + 1}, s.params().protocol_version};
    CHECK(get_plans(s.chain.view) == std::vector{halt});
    const Params before = s.params();
    s.chain.skip(1);  // what a program does that was told to go on
    CHECK(get_plans(s.chain.view).empty());
    CHECK(s.params() == before);
}

TEST_CASE("GOV-7: a raised minimum of the gas price counts for the very next block") {
    Senate s;
    const std::uint64_t raised = 2 * s.params().gas_price_min.grains;
    const ProposalId id = s.propose(s.major, change(VotableParam::kGasPriceMin, raised));
    REQUIRE(s.chain.run(s.middle, Vote{id, true}) == 0);
    s.reach(s.proposal(id).effective);
    CHECK(get_base_fee(s.chain.view, s.params()).grains >= raised);
    const ProposalId lower = s.propose(s.major, change(VotableParam::kGasPriceMin, 1));
    REQUIRE(s.chain.run(s.middle, Vote{lower, true}) == 0);
    s.reach(s.proposal(lower).effective);
    CHECK(s.params().gas_price_min.grains == 1);
    CHECK(get_base_fee(s.chain.view, s.params()).grains >= 1);
}

}  // namespace assay::contracts
