// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

#include <contracts/params/gas.hpp>
#include <contracts/governance/params_rules.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts::test {
namespace {

template <std::size_t... kIndex>
std::vector<Action> one_of_each(std::index_sequence<kIndex...> /*kinds*/) {
    return {Action{std::variant_alternative_t<kIndex, Action>{}}...};
}
std::vector<Action> one_of_each() { return one_of_each(std::make_index_sequence<std::variant_size_v<Action>>{}); }

Tx with(Action action) {
    Tx tx;
    tx.body.action = std::move(action);
    return tx;
}

std::uint64_t gas_at(const Action& action, std::size_t size_bytes, const Params& params = {}) {
    return gas_of(with(action), size_bytes, params);
}

TEST_CASE("GAS-1: gas follows from the action, the size and the parameters, and from nothing else") {
    const Params params;
    for (const Action& action : one_of_each()) {
        CAPTURE(action_name(action));
        Tx one = with(action);
        Tx other = one;
        other.body.sender = make_actor(1).id;
        other.body.nonce = 77;
        other.body.fee = {1'000'000};
        other.signature.data.fill(9);
        CHECK(gas_of(one, 500, params) == gas_of(other, 500, params));
    }
}

TEST_CASE("GAS-1: a transaction that fails has the gas of one that is executed") {
    Chain chain;
    const Bytes good = chain.make_tx(chain.submitter, Transfer{chain.pauper.id, {5}});
    chain.run_block({good, good});
    REQUIRE(chain.last.receipts.size() == 2);
    CHECK(chain.last.receipts[0].code == 0);
    CHECK(chain.last.receipts[1].code != 0);
    CHECK(chain.last.receipts[0].gas == gas_of_bytes(good, chain.params));
    CHECK(chain.last.receipts[1].gas == chain.last.receipts[0].gas);
}

TEST_CASE("GAS-2: every action costs more than its bytes, and more bytes never cost less") {
    for (const Action& action : one_of_each()) {
        CAPTURE(action_name(action));
        std::uint64_t before = 0;
        for (const std::size_t size : {0U, 1U, 63U, 64U, 1'000U, 65'536U, 1U << 24U}) {
            const std::uint64_t gas = gas_at(action, size);
            CHECK(gas >= before);
            CHECK(gas > gas_of_undecodable(size));
            before = gas;
        }
        CHECK(before > gas_at(action, 0));
    }
}

TEST_CASE("GAS-3: what reads a task pays for all the verdicts, profiles and committee seats that a task can have") {
    Params more;
    more.segments_checked_max *= 2;
    Params watched;
    ++watched.watchers_per_verdict;
    Params profiled;
    ++profiled.profilers;
    Params seated;
    ++seated.committee_seats;
    const std::set<std::size_t> free_of_tasks{
        0,  1,  2,  18, 19, 20, 24,
        25, 26, 32, 33, 34, 35, 36};  // ledger, stake, validators, hardware, beacon, governance, operators
    const auto actions = one_of_each();
    for (std::size_t i = 0; i < actions.size(); ++i) {
        CAPTURE(action_name(actions[i]));
        const bool is_free = free_of_tasks.contains(i);
        CHECK((gas_at(actions[i], 200, more) == gas_at(actions[i], 200)) == is_free);
        CHECK((gas_at(actions[i], 200, watched) == gas_at(actions[i], 200)) == is_free);
        CHECK((gas_at(actions[i], 200, profiled) == gas_at(actions[i], 200)) == is_free);
        CHECK((gas_at(actions[i], 200, seated) == gas_at(actions[i], 200)) == is_free);
    }
}

TEST_CASE("GAS-3: who joins the beacon pays for all the seats that it can have") {
    Params more;
    more.contributors_max *= 2;
    for (const Action& action : {Action{JoinBeacon{}}, Action{Contribute{}}, Action{LeaveBeacon{}}}) {
        CAPTURE(action_name(action));
        CHECK(gas_at(action, 200, more) > gas_at(action, 200));
    }
    CHECK(gas_at(CompleteTask{}, 200, more) == gas_at(CompleteTask{}, 200));
}

TEST_CASE("GAS-4: a proof that the one-step verifier judges is dearer than any other move of its size") {
    const std::uint64_t proof = gas_at(ProveMove{}, 20'000);
    CHECK(proof > gas_at(RevealMove{}, 20'000));
    CHECK(proof > gas_at(SelectMove{}, 20'000));
    CHECK(proof > 3 * gas_at(Transfer{}, 20'000));
    // What is hashed once more for a tree costs more for each byte than what is only decoded.
    const auto growth = [](const Action& action) { return gas_at(action, 40'000) - gas_at(action, 8'000); };
    for (const Action& action : {Action{ProveMove{}}, Action{RevealMove{}}, Action{AttestAvailability{}}}) {
        CHECK(growth(action) > growth(Transfer{}));
    }
}

TEST_CASE("GAS-5: what begins a task pays for its draws and its end") {
    Params more;
    more.segments_checked_max += 1;
    const auto of_a_verdict = [&](const Action& action) { return gas_at(action, 200, more) - gas_at(action, 200); };
    CHECK(of_a_verdict(CompleteTask{}) > 2 * of_a_verdict(PostCheckpoint{}));
    CHECK(gas_at(SubmitTask{}, 200) > gas_at(AcceptTask{}, 200));
    // What is still open when its task ends is closed with it, in a block of somebody else's.
    CHECK(gas_at(OpenDispute{}, 200) >= gas_at(AcceptTask{}, 200) + 4 * kGasPerSlot);
}

TEST_CASE("GAS-6: bytes that are no transaction cost their bytes, too large ones without being decoded") {
    Chain chain;
    const Bytes good = chain.make_tx(chain.submitter, Transfer{chain.pauper.id, {5}});
    Bytes longer = good;
    longer.push_back(0);
    CHECK(gas_of_bytes(longer, chain.params) == gas_of_undecodable(longer.size()));
    Params small = chain.params;
    small.tx_size_max = static_cast<std::uint32_t>(good.size() - 1);
    CHECK(gas_of_bytes(good, small) == gas_of_undecodable(good.size()));
    CHECK(gas_of_bytes(good, small) < gas_of_bytes(good, chain.params));
    CHECK(gas_of_bytes({}, small) > 0);
    chain.run_block({longer});
    CHECK(chain.last.receipts.front().gas == gas_of_undecodable(longer.size()));
}

TEST_CASE("GAS-7: a block has used the sum of what its transactions cost, and is full beyond the limit") {
    Params params;
    const Bytes junk(100, 1);
    const std::uint64_t each = gas_of_undecodable(junk.size());
    params.block_gas_max = static_cast<std::uint32_t>(2 * each);
    BlockUse use;
    use.add(junk.size(), each, false);
    use.add(junk.size(), each, false);
    CHECK(use.gas() == 2 * each);
    CHECK(use.bytes() == 200);
    CHECK(use.fits_gas(params));
    use.add(0, 1, false);
    CHECK_FALSE(use.fits_gas(params));
    CHECK(use.fits_size(params));
}

TEST_CASE("GAS-8: no transaction that can be sent has more gas than a block may have") {
    for (const std::uint32_t verdicts : {1U, 16U, 255U}) {
        Params params;
        params.segments_checked_max = std::max(verdicts, params.segments_checked);
        params.verifiers_per_segment_max = 256 / (params.segments_checked_max + 1);  // EVL-5
        params.watchers_per_verdict = kMaxWatchers;
        params.end_block_gas_max = 2 * static_cast<std::uint32_t>(kGasPerEntry + deadline_gas(params));  // GAS-10
        for (const Action& action : one_of_each()) {
            CHECK(gas_at(action, params.tx_size_max, params) <= gas_max(params));
        }
        params.block_gas_max = static_cast<std::uint32_t>(gas_max(params));
        params.duty_gas_max = params.block_gas_max;
        params.duty_wait_blocks = kMaxSpanBlocks;  // PAR-12
        CHECK(are_valid(params));
        --params.block_gas_max;
        --params.duty_gas_max;
        CHECK_FALSE(are_valid(params));
    }
}

}  // namespace
}  // namespace assay::contracts::test
