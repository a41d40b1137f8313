// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include <contracts/chain/slots.hpp>
#include <contracts/validators/validators.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts {
namespace {

using namespace test;

ConsensusKey key_of(std::uint8_t number) {
    ConsensusKey out;
    out.data.fill(number);
    return out;
}

Params params_for_validators() {
    Params params = quick_params();
    params.validator_stake_min = Amount{10 * kCoin};
    params.validators_max = 3;
    params.double_sign_slash_bps = 1'000;
    params.downtime_blocks = 3;
    params.jail_blocks = 5;
    params.unbonding_blocks = 20;
    return params;
}

/// A chain and the set that an engine would have, following its updates.
struct Network {
    Chain chain{params_for_validators()};
    std::map<ConsensusKey, std::uint64_t> engine;

    void follow() {
        for (const ValidatorUpdate& update : chain.last.validator_updates) {
            if (update.power == 0) {
                REQUIRE(engine.erase(update.key) == 1);
            } else {
                engine[update.key] = update.power;
            }
        }
        std::map<ConsensusKey, std::uint64_t> recorded;
        for (const ValidatorUpdate& validator : current_validators(chain.view)) {
            recorded[validator.key] = validator.power;
        }
        CHECK(engine == recorded);
    }
    std::uint8_t run(const Actor& sender, const Action& action) {
        const auto code = chain.run(sender, action);
        follow();
        return code;
    }
    void join(const Actor& who, std::uint8_t number, std::uint64_t coins) {
        REQUIRE(run(who, Bond{Role::kValidator, Amount{coins * kCoin}}) == 0);
        REQUIRE(run(who, RegisterValidator{key_of(number)}) == 0);
    }
    void block(std::vector<Misbehaviour> misbehaviour, std::vector<ConsensusAddress> absent = {}) {
        chain.misbehaviour = std::move(misbehaviour);
        chain.absent = std::move(absent);
        chain.run_block({});
        chain.misbehaviour.clear();
        chain.absent.clear();
        follow();
    }
    std::uint64_t power(std::uint8_t number) const {
        const auto found = engine.find(key_of(number));
        return found == engine.end() ? 0 : found->second;
    }
    Validator record(const Actor& who) const { return find_validator(chain.view, who.id).value(); }
};

TEST_CASE("VAL-1: an account registers one key, a key has one account, and the key is not zero") {
    Network net;
    Chain& chain = net.chain;
    CHECK(chain.fail(chain.solver, RegisterValidator{ConsensusKey{}}) == TxError::kFieldOutOfRange);
    CHECK(net.run(chain.solver, RegisterValidator{key_of(1)}) == 0);
    CHECK(chain.fail(chain.solver, RegisterValidator{key_of(2)}) == TxError::kAlreadyRegistered);
    CHECK(chain.fail(chain.verifier, RegisterValidator{key_of(1)}) == TxError::kAlreadyRegistered);
    CHECK(net.run(chain.verifier, RegisterValidator{key_of(2)}) == 0);
    CHECK(find_consensus_account(chain.view, address_of(key_of(2))) == chain.verifier.id);
}

TEST_CASE("VAL-2: the first set comes from the genesis, and what is not sound is refused") {
    Genesis genesis{.chain_id = "test-1", .params = params_for_validators(), .balances = {}};
    const auto add = [&](std::uint8_t actor, std::uint8_t number, std::uint64_t coins) {
        genesis.validators.push_back({make_actor(actor).id, key_of(number), Amount{coins * kCoin}});
    };
    add(1, 1, 10);
    add(2, 2, 30);
    MapView view;
    view.apply(make_genesis(genesis).value());
    CHECK(get_supply(view).genesis == Amount{40 * kCoin});
    CHECK(current_validators(view).size() == 2);
    CHECK(get_stake(view, Role::kValidator, make_actor(2).id).free == Amount{30 * kCoin});
    CHECK(get_stakers(view, Role::kValidator).size() == 2);
    const auto refused = [&](std::uint8_t actor, std::uint8_t number, std::uint64_t coins) {
        const Genesis good = genesis;
        add(actor, number, coins);
        const auto made = make_genesis(genesis);
        genesis = good;
        return !made.has_value() && made.error() == GenesisError::kValidators;
    };
    CHECK(refused(1, 3, 10));
    CHECK(refused(3, 1, 10));
    CHECK(refused(3, 0, 10));
    CHECK(refused(3, 3, 9));
    add(3, 3, 10);
    CHECK(refused(4, 4, 10));
}

TEST_CASE("VAL-3: the strongest by free stake are the set, with a unit of power for each coin") {
    Network net;
    Chain& chain = net.chain;
    net.join(chain.solver, 1, 20);
    net.join(chain.verifier, 2, 10);
    CHECK(net.power(1) == 20);
    CHECK(net.power(2) == 10);
    REQUIRE(net.run(chain.verifier, Bond{Role::kValidator, Amount{15 * kCoin + kCoin / 2}}) == 0);
    CHECK(net.power(2) == 25);
    net.join(chain.whistleblower, 3, 30);
    net.join(chain.stranger, 4, 40);
    // Three at most: the weakest is out, and comes back when another leaves.
    CHECK(net.engine.size() == 3);
    CHECK(net.power(1) == 0);
    REQUIRE(net.run(chain.stranger, Unbond{Role::kValidator, Amount{31 * kCoin}}) == 0);
    CHECK(net.power(4) == 0);
    CHECK(net.power(1) == 20);
}

TEST_CASE("VAL-3: below the least stake nobody votes") {
    Network net;
    net.join(net.chain.solver, 1, 50);
    net.join(net.chain.verifier, 2, 9);
    CHECK(net.power(2) == 0);
    REQUIRE(net.run(net.chain.verifier, Bond{Role::kValidator, Amount{kCoin}}) == 0);
    CHECK(net.power(2) == 10);
}

TEST_CASE("VAL-4: the set is never empty") {
    Network net;
    net.join(net.chain.solver, 1, 20);
    REQUIRE(net.run(net.chain.solver, Unbond{Role::kValidator, Amount{20 * kCoin}}) == 0);
    CHECK(net.power(1) == 20);
    net.join(net.chain.verifier, 2, 10);
    CHECK(net.power(1) == 0);
    CHECK(net.power(2) == 10);
}

TEST_CASE("VAL-5: who signed twice loses stake, what is unbonding too, and never votes again") {
    Network net;
    Chain& chain = net.chain;
    net.join(chain.solver, 1, 100);
    net.join(chain.verifier, 2, 50);
    REQUIRE(net.run(chain.solver, Unbond{Role::kValidator, Amount{40 * kCoin}}) == 0);
    const Amount burned = get_supply(chain.view).burned;
    net.block({{address_of(key_of(1)), chain.height}});
    CHECK(net.power(1) == 0);
    CHECK(net.record(chain.solver).is_banned);
    CHECK(net.record(chain.solver).slashed == Amount{10 * kCoin});
    CHECK(get_supply(chain.view).burned.grains - burned.grains == 10 * kCoin);
    CHECK(chain.stake(Role::kValidator, chain.solver).free == Amount{50 * kCoin});
    // Once, and for good.
    net.block({{address_of(key_of(1)), chain.height}, {address_of(key_of(9)), chain.height}});
    CHECK(net.record(chain.solver).slashed == Amount{10 * kCoin});
    CHECK(chain.fail(chain.solver, Unjail{}) == TxError::kNotJailed);
    REQUIRE(net.run(chain.solver, Bond{Role::kValidator, Amount{100 * kCoin}}) == 0);
    CHECK(net.power(1) == 0);
}

TEST_CASE("VAL-5: with nothing free the penalty is taken from what is unbonding") {
    Network net;
    Chain& chain = net.chain;
    net.join(chain.solver, 1, 100);
    net.join(chain.verifier, 2, 50);
    REQUIRE(net.run(chain.solver, Unbond{Role::kValidator, Amount{100 * kCoin}}) == 0);
    const std::uint64_t before = chain.balance(chain.solver);
    net.block({{address_of(key_of(1)), chain.height}});
    chain.skip(chain.params.unbonding_blocks + 1);
    CHECK(chain.balance(chain.solver) - before == 90 * kCoin);
}

TEST_CASE("VAL-5: no duty locks a validator's stake, out of reach of the engine's evidence") {
    Chain chain;
    REQUIRE(chain.run(chain.stranger, Bond{Role::kValidator, Amount{100 * kCoin}}) == 0);
    const TaskId id = chain.challenge_task();
    for (const Action& action : std::vector<Action>{
             OpenDispute{id, 1, Role::kValidator}, ChallengeAvailability{id, 0, 0, 0, Role::kValidator},
             ChallengeVerdict{id, chain.task(id).assignments[0].segment, chain.verifier.id, Role::kValidator},
             ChallengeProfile{id, chain.verifier.id, Role::kValidator, ProfilePart::kStart, 0, {}}}) {
        CHECK(chain.fail(chain.stranger, action) == TxError::kFieldOutOfRange);
    }
    CHECK(chain.stake(Role::kValidator, chain.stranger).locked == Amount{});
}

TEST_CASE("VAL-6, VAL-7: who misses too many blocks in a row is jailed, and comes back by asking") {
    Network net;
    Chain& chain = net.chain;
    net.join(chain.solver, 1, 20);
    net.join(chain.verifier, 2, 20);
    const ConsensusAddress lazy = address_of(key_of(1));
    net.block({}, {lazy});
    net.block({}, {lazy});
    net.block({});
    CHECK(net.record(chain.solver).missed == 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(net.power(1) == 20);
        net.block({}, {lazy});
    }
    CHECK(net.power(1) == 0);
    CHECK(chain.stake(Role::kValidator, chain.solver).free == Amount{20 * kCoin});
    CHECK(chain.fail(chain.solver, Unjail{}) == TxError::kStillJailed);
    CHECK(chain.fail(chain.verifier, Unjail{}) == TxError::kNotJailed);
    CHECK(chain.fail(chain.stranger, Unjail{}) == TxError::kNotRegistered);
    chain.skip(chain.params.jail_blocks);
    CHECK(net.run(chain.solver, Unjail{}) == 0);
    CHECK(net.power(1) == 20);
}

TEST_CASE("VAL-8: an engine that follows the updates has the state's set, whatever happens") {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        Network net;
        Chain& chain = net.chain;
        std::mt19937_64 random(seed);
        const auto actors = chain.actors();
        for (int i = 0; i < 300; ++i) {
            const Actor& who = *actors[random() % actors.size()];
            const auto number = static_cast<std::uint8_t>(random() % 6 + 1);
            switch (random() % 6) {
                case 0: net.run(who, RegisterValidator{key_of(number)}); break;
                case 1: net.run(who, Bond{Role::kValidator, Amount{random() % (30 * kCoin) + 1}}); break;
                case 2: net.run(who, Unbond{Role::kValidator, Amount{random() % (30 * kCoin) + 1}}); break;
                case 3: net.run(who, Unjail{}); break;
                case 4: net.block({}, {address_of(key_of(number))}); break;
                default: net.block(random() % 8 == 0 ? std::vector<Misbehaviour>{{address_of(key_of(number)), chain.height}}
                                                     : std::vector<Misbehaviour>{});
            }
        }
        CHECK_FALSE(net.engine.empty());
        CHECK(net.engine.size() <= chain.params.validators_max);
    }
}

}  // namespace
}  // namespace assay::contracts
