// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <contracts/state/slots.hpp>
#include <contracts/ledger/ledger.hpp>
#include <contracts/validators/validators.hpp>
#include <core/crypto/ed25519.hpp>
#include <contracts/state/validator.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts {
namespace {

using namespace test;

crypto::Ed25519Key make_key(std::uint8_t number) {
    crypto::Ed25519Key::Seed seed{};
    seed.fill(number);
    return crypto::Ed25519Key(seed);
}

/// Zero for 0.
ConsensusKey key_of(std::uint8_t number) {
    return number == 0 ? ConsensusKey{} : ConsensusKey{make_key(number).public_key()};
}

RegisterValidator registration(const AccountId& account, std::uint8_t number, const std::string& chain_id = kChainId) {
    const Hash256 claim = consensus_key_claim(chain_id, account);
    return {key_of(number), ConsensusSignature{make_key(number).sign(claim.view())}};
}

Params params_for_validators() {
    Params params = quick_params();
    params.validator_stake_min = Amount{10 * kCoin};
    params.validators_max = 3;
    params.double_sign_slash_bps = 1'000;
    params.downtime_blocks = 3;
    params.jail_blocks = 5;
    params.unbonding_blocks = 20;
    params.validator_unbonding_ms = 50'000;
    params.trusting_period_ms = 30'000;
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
        REQUIRE(run(who, registration(who.id, number)) == 0);
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
    for (const Actor* who : {&chain.solver, &chain.verifier}) {
        REQUIRE(net.run(*who, Bond{Role::kValidator, Amount{10 * kCoin}}) == 0);
    }
    CHECK(chain.fail(chain.solver, RegisterValidator{}) == TxError::kFieldOutOfRange);
    CHECK(net.run(chain.solver, registration(chain.solver.id, 1)) == 0);
    CHECK(chain.fail(chain.solver, registration(chain.solver.id, 1)) == TxError::kAlreadyRegistered);
    CHECK(chain.fail(chain.solver, registration(chain.solver.id, 2)) == TxError::kAlreadyRegistered);
    CHECK(chain.fail(chain.verifier, registration(chain.verifier.id, 1)) == TxError::kAlreadyRegistered);
    CHECK(net.run(chain.verifier, registration(chain.verifier.id, 2)) == 0);
    CHECK(find_consensus_account(chain.view, address_of(key_of(2))) == chain.verifier.id);
}

TEST_CASE("VAL-1: a place takes stake, and a signature by the key for this account on this chain") {
    Network net;
    Chain& chain = net.chain;
    const Actor& who = chain.stranger;
    CHECK(chain.fail(who, registration(who.id, 1)) == TxError::kInsufficientStake);
    REQUIRE(net.run(who, Bond{Role::kValidator, Amount{10 * kCoin - 1}}) == 0);
    CHECK(chain.fail(who, registration(who.id, 1)) == TxError::kInsufficientStake);
    REQUIRE(net.run(who, Bond{Role::kValidator, Amount{1}}) == 0);
    CHECK(chain.fail(who, registration(chain.solver.id, 1)) == TxError::kKeyNotProven);
    CHECK(chain.fail(who, registration(who.id, 1, "test-2")) == TxError::kKeyNotProven);
    RegisterValidator other = registration(who.id, 1);
    other.key = key_of(2);
    CHECK(chain.fail(who, other) == TxError::kKeyNotProven);
    CHECK(chain.fail(who, RegisterValidator{key_of(1), {}}) == TxError::kKeyNotProven);
    CHECK(net.run(who, registration(who.id, 1)) == 0);
}

/// A chain whose list of validators is full: the account of place i has i coins, and the set is of the richest.
struct FullList {
    Network net;
    std::vector<AccountId> accounts;
    FullList() {
        Overlay state = Overlay::over(net.chain.view);
        std::vector<AccountId> stakers;
        Supply supply = get_supply(net.chain.view);
        for (std::uint32_t i = 0; i < kMaxRegistered; ++i) {
            accounts.push_back(AccountId{hash_of("place " + std::to_string(i)).data});
            register_validator(state, accounts[i], ConsensusKey{hash_of("key " + std::to_string(i)).data});
            const Amount stake{(10 + i) * kCoin};
            set_stake(state, Role::kValidator, accounts[i], Stake{.free = stake, .locked = {}, .unbonding = {}});
            supply.genesis = add(supply.genesis, stake);
            stakers.push_back(accounts[i]);
        }
        std::sort(stakers.begin(), stakers.end());
        set_stakers(state, Role::kValidator, stakers);
        set_supply(state, supply);
        net.chain.view.apply(state.changes());
        net.chain.run_block({});
        net.follow();
    }
    bool has(const AccountId& account) const {
        const auto listed = get_validators(net.chain.view);
        return std::binary_search(listed.begin(), listed.end(), account);
    }
};

TEST_CASE("VAL-1: in a full list the least stake outside the set gives way, to more stake only") {
    FullList full;
    Chain& chain = full.net.chain;
    const Actor& who = chain.stranger;
    REQUIRE(full.net.run(who, Bond{Role::kValidator, Amount{10 * kCoin}}) == 0);
    CHECK(chain.fail(who, registration(who.id, 1)) == TxError::kTooManyValidators);
    REQUIRE(full.net.run(who, Bond{Role::kValidator, Amount{1}}) == 0);
    CHECK(full.net.run(who, registration(who.id, 1)) == 0);
    CHECK(full.has(who.id));
    CHECK_FALSE(full.has(full.accounts[0]));
    CHECK(full.has(full.accounts[1]));
    CHECK(get_validators(chain.view).size() == kMaxRegistered);
    // Its record stays, so that evidence still finds it and nobody else can have its key.
    CHECK(find_validator(chain.view, full.accounts[0]).has_value());
    CHECK(chain.stake(Role::kValidator, who).free == Amount{10 * kCoin + 1});
}

TEST_CASE("VAL-1: who gave way comes back with its own key and more stake") {
    FullList full;
    Chain& chain = full.net.chain;
    for (const auto& [who, number, coins] :
         {std::tuple{&chain.stranger, 1, std::uint64_t{11}}, {&chain.solver, 2, std::uint64_t{12}}}) {
        REQUIRE(full.net.run(*who, Bond{Role::kValidator, Amount{coins * kCoin + 1}}) == 0);
        REQUIRE(full.net.run(*who, registration(who->id, static_cast<std::uint8_t>(number))) == 0);
    }
    REQUIRE(full.net.run(chain.stranger, Unbond{Role::kValidator, Amount{10 * kCoin}}) == 0);
    REQUIRE(full.net.run(chain.verifier, Bond{Role::kValidator, Amount{13 * kCoin}}) == 0);
    REQUIRE(full.net.run(chain.verifier, registration(chain.verifier.id, 3)) == 0);
    CHECK_FALSE(full.has(chain.stranger.id));
    CHECK(chain.fail(chain.stranger, registration(chain.stranger.id, 1)) == TxError::kInsufficientStake);
    REQUIRE(full.net.run(chain.stranger, Bond{Role::kValidator, Amount{30 * kCoin}}) == 0);
    CHECK(chain.fail(chain.stranger, registration(chain.stranger.id, 4)) == TxError::kAlreadyRegistered);
    CHECK(full.net.run(chain.stranger, registration(chain.stranger.id, 1)) == 0);
    CHECK(full.has(chain.stranger.id));
}

TEST_CASE("VAL-5: who is banned leaves the list, and neither it nor its key comes back") {
    Network net;
    Chain& chain = net.chain;
    net.join(chain.solver, 1, 100);
    net.join(chain.verifier, 2, 50);
    net.block({{address_of(key_of(1)), chain.height}});
    CHECK(get_validators(chain.view) == std::vector{chain.verifier.id});
    CHECK(read_slot<std::vector<AccountId>>(chain.view, keys::banned()) == std::vector{chain.solver.id});
    CHECK(chain.fail(chain.solver, registration(chain.solver.id, 1)) == TxError::kAlreadyRegistered);
    CHECK(chain.fail(chain.solver, registration(chain.solver.id, 3)) == TxError::kAlreadyRegistered);
    REQUIRE(net.run(chain.stranger, Bond{Role::kValidator, Amount{10 * kCoin}}) == 0);
    CHECK(chain.fail(chain.stranger, registration(chain.stranger.id, 1)) == TxError::kAlreadyRegistered);
}

TEST_CASE("VAL-9: a validator's stake unbonds when blocks and time have passed, and answers until then") {
    Network net;
    Chain& chain = net.chain;  // a second a block
    net.join(chain.solver, 1, 100);
    net.join(chain.verifier, 2, 50);
    const std::uint64_t before = chain.balance(chain.solver);
    REQUIRE(chain.params.unbonding_blocks == 20);
    REQUIRE(chain.params.validator_unbonding_ms == 50'000);
    REQUIRE(net.run(chain.solver, Unbond{Role::kValidator, Amount{100 * kCoin}}) == 0);
    REQUIRE(net.run(chain.solver, Bond{Role::kVerifier, Amount{10 * kCoin}}) == 0);
    REQUIRE(net.run(chain.solver, Unbond{Role::kVerifier, Amount{10 * kCoin}}) == 0);
    chain.skip(22);
    CHECK(chain.stake(Role::kVerifier, chain.solver).unbonding.empty());
    chain.skip(15);
    CHECK(chain.stake(Role::kValidator, chain.solver).unbonding.size() == 1);
    net.block({{address_of(key_of(1)), chain.height}});
    chain.skip(50);
    CHECK(chain.stake(Role::kValidator, chain.solver).unbonding.empty());
    CHECK(chain.balance(chain.solver) < before + 90 * kCoin);
    CHECK(chain.balance(chain.solver) > before + 89 * kCoin);
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
    net.join(net.chain.verifier, 2, 10);
    CHECK(net.power(2) == 10);
    REQUIRE(net.run(net.chain.verifier, Unbond{Role::kValidator, Amount{kCoin}}) == 0);
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
    const std::uint64_t burned = chain.burned();
    net.block({{address_of(key_of(1)), chain.height}});
    CHECK(net.power(1) == 0);
    CHECK(net.record(chain.solver).is_banned);
    CHECK(net.record(chain.solver).slashed == Amount{10 * kCoin});
    CHECK(chain.burned() - burned == 10 * kCoin);
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
    chain.skip(61);
    CHECK(chain.balance(chain.solver) - before == 90 * kCoin);
}

TEST_CASE("VAL-5: no duty locks a validator's stake, out of reach of the engine's evidence") {
    Chain chain;
    REQUIRE(chain.run(chain.stranger, Bond{Role::kValidator, Amount{100 * kCoin}}) == 0);
    const TaskId id = chain.challenge_task();
    for (const Action& action : std::vector<Action>{
             OpenDispute{id, 1, Role::kValidator},
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
                case 0:
                    net.run(who, registration(who.id, number));
                    break;
                case 1:
                    net.run(who, Bond{Role::kValidator, Amount{random() % (30 * kCoin) + 1}});
                    break;
                case 2:
                    net.run(who, Unbond{Role::kValidator, Amount{random() % (30 * kCoin) + 1}});
                    break;
                case 3:
                    net.run(who, Unjail{});
                    break;
                case 4:
                    net.block({}, {address_of(key_of(number))});
                    break;
                default:
                    net.block(
                        random() % 8 == 0 ? std::vector<Misbehaviour>{{address_of(key_of(number)), chain.height}}
                                          : std::vector<Misbehaviour>{}
                    );
            }
        }
        CHECK_FALSE(net.engine.empty());
        CHECK(net.engine.size() <= chain.params.validators_max);
    }
}

}  // namespace
}  // namespace assay::contracts
