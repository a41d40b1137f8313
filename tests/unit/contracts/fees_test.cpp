// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <contracts/chain/envelope.hpp>
#include <contracts/params/gas.hpp>
#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::contracts::test {
namespace {

/// A chain whose blocks a few transactions fill.
Params small_blocks() {
    Params params = quick_params();
    params.segments_checked_max = 2;
    params.verifiers_per_segment_max = 1;
    params.block_gas_max = static_cast<std::uint32_t>(gas_max(params));
    params.duty_gas_max = params.block_gas_max;
    params.duty_wait_blocks = 1'000;
    return params;
}

std::vector<Bytes> transfers(const Chain& chain, const Actor& sender, std::uint64_t count, Amount fee) {
    const std::uint64_t nonce = get_account(chain.view, sender.id).nonce;
    std::vector<Bytes> out;
    for (std::uint64_t i = 0; i < count; ++i) {
        out.push_back(chain.make_tx(sender, Transfer{chain.stranger.id, {1}}, nonce + i, fee));
    }
    return out;
}

TxError code_of(const Chain& chain, std::size_t index) { return TxError{chain.last.receipts.at(index).code}; }

}  // namespace

TEST_CASE("FEE-1: of a fee the least price goes to the treasury, and what is above it is burned") {
    Chain chain;
    const Bytes tx = chain.make_tx(chain.submitter, Transfer{chain.stranger.id, {1}}, 0, {kCoin});
    const std::uint64_t floor = gas_of_bytes(tx, chain.params) * chain.params.gas_price_min.grains;
    chain.run_block({tx});
    CHECK(chain.balance(chain.submitter) == kRich - 1 - kCoin);
    CHECK(get_supply(chain.view).treasury.grains == floor);
    CHECK(get_supply(chain.view).burned.grains == kCoin - floor);
}

TEST_CASE("FEE-2: the base fee rises by an eighth with a full block and falls to the least with empty ones") {
    Params params;
    params.gas_price_min = {100};
    params.block_gas_max = 500'000;
    const auto next = [&](std::uint64_t base, std::uint64_t gas) {
        return next_base_fee(Amount{base}, gas, params).grains;
    };
    CHECK(next(100, 250'000) == 100);
    CHECK(next(100, 500'000) == 112);
    CHECK(next(100, 2'000'000) == 112);  // a block is not fuller than full
    CHECK(next(100, 250'001) == 101);
    CHECK(next(100, 0) == 100);
    CHECK(next(112, 0) == 100);
    CHECK(next(8'000, 0) == 7'000);
    CHECK(next(8'000, 125'000) == 7'500);
    CHECK(next(kGasPriceMax.grains, 500'000) == kGasPriceMax.grains);
    // What it costs to keep every block full: 20 blocks are cheap, 100 cost more than all that tasks are worth.
    params = Params{};
    std::uint64_t base = params.gas_price_min.grains;
    std::uint64_t cost = 0;
    std::uint64_t cost_of_20 = 0;
    for (int block = 0; block < 100; ++block) {
        cost += base * params.block_gas_max;
        cost_of_20 = block == 19 ? cost : cost_of_20;
        base = next(base, params.block_gas_max);
    }
    CHECK(cost_of_20 == doctest::Approx(1.8e9).epsilon(0.01));
    CHECK(cost == doctest::Approx(24'158e9).epsilon(0.001));
}

TEST_CASE("FEE-2: full blocks raise the base fee of the state, and who offers less than it is refused") {
    Chain chain(small_blocks());
    const std::uint64_t each = gas_of_bytes(transfers(chain, chain.submitter, 1, {kFee}).front(), chain.params);
    const std::uint64_t fill = chain.params.block_gas_max / each;
    CHECK(get_base_fee(chain.view, chain.params) == chain.params.gas_price_min);
    CHECK_FALSE(chain.view.get(keys::base_fee()).has_value());
    for (int i = 0; i < 3; ++i) {
        const Amount before = get_base_fee(chain.view, chain.params);
        chain.run_block(transfers(chain, chain.submitter, fill, {kFee}));
        CHECK(get_base_fee(chain.view, chain.params) > before);
    }
    const Amount risen = get_base_fee(chain.view, chain.params);
    chain.run_block(transfers(chain, chain.solver, 1, {each * risen.grains - 1}));
    CHECK(code_of(chain, 0) == TxError::kFeeTooLow);
    chain.skip(20);
    CHECK_FALSE(chain.view.get(keys::base_fee()).has_value());
}

TEST_CASE("FEE-2: a block that is full of bytes raises the base fee, however little gas they have") {
    Chain chain;
    chain.params.block_size_max = 4 * 65'536;
    Overlay narrow = Overlay::over(chain.view);
    set_params(narrow, chain.params);
    chain.view.apply(narrow.changes());
    std::vector<Bytes> txs;
    std::uint64_t gas = 0;
    PublishProfile wide;  // far too many segments: it fails, and is paid for
    wide.report.segments.resize(150);
    for (std::uint64_t nonce = 0; nonce < 6; ++nonce) {
        txs.push_back(chain.make_tx(chain.submitter, wide, nonce, Amount{kFee}));
        gas += gas_of_bytes(txs.back(), chain.params);
    }
    std::uint64_t bytes = 0;
    for (const Bytes& tx : txs) {
        bytes += tx.size();
    }
    REQUIRE(gas < chain.params.block_gas_max / 2);
    REQUIRE(bytes > chain.params.block_size_max / 2);
    chain.run_block(txs);
    CHECK(get_base_fee(chain.view, chain.params) > chain.params.gas_price_min);
}

TEST_CASE("FEE-3: what follows an action that empties the account has paid like every other") {
    Chain chain;
    const Action all = Transfer{chain.stranger.id, {kRich - 3 * kCoin}};
    chain.run_block(
        {chain.make_tx(chain.submitter, all, 0, {kCoin}), chain.make_tx(chain.submitter, all, 1, {kCoin}),
         chain.make_tx(chain.submitter, all, 2, {kCoin})}
    );
    CHECK(code_of(chain, 0) == TxError{});
    CHECK(code_of(chain, 1) == TxError::kInsufficientBalance);
    CHECK(code_of(chain, 2) == TxError::kInsufficientBalance);
    for (const Receipt& receipt : chain.last.receipts) {
        CHECK(receipt.is_charged);
    }
    CHECK(chain.balance(chain.submitter) == 0);
}

TEST_CASE("FEE-3: money that an action of the block brings does not pay a fee of the block") {
    Chain chain;
    chain.run_block(
        {chain.make_tx(chain.submitter, Transfer{chain.pauper.id, {100 * kCoin}}, 0, {kCoin}),
         chain.make_tx(chain.pauper, Transfer{chain.stranger.id, {1}}, 0, {kCoin})}
    );
    CHECK(code_of(chain, 0) == TxError{});
    CHECK(code_of(chain, 1) == TxError::kCannotPayFee);
    CHECK(chain.balance(chain.pauper) == 100 * kCoin);
}

TEST_CASE("FEE-4: a proposal holds only what is valid, the sender's next, and paid for") {
    Chain chain;
    chain.run_block({chain.make_tx(chain.submitter, Transfer{chain.pauper.id, {3 * kCoin}}, 0, {kCoin})});
    const std::string id = kChainId;
    BlockProposal proposal(chain.view, id, chain.params, Height{chain.height.value + 1});
    const auto add = [&](const Bytes& tx) {
        const auto opened = proposal.open(make_entry(tx, tx_hash(tx), chain.params));
        if (opened) {
            proposal.take();
        }
        return opened ? TxError{} : opened.error();
    };
    const Action pay = Transfer{chain.stranger.id, {1}};
    const Bytes first = chain.make_tx(chain.submitter, pay, 1, {kCoin});
    CHECK(add(first) == TxError{});
    CHECK(add(first) == TxError::kNonceTooLow);  // twice
    CHECK(add(chain.make_tx(chain.submitter, pay, 3, {kCoin})) == TxError::kNonceTooHigh);
    CHECK(add(Bytes(300, 7)) == TxError::kUndecodable);
    Bytes forged = chain.make_tx(chain.submitter, pay, 2, {kCoin});
    forged.back() ^= 1U;
    CHECK(add(forged) == TxError::kBadSignature);
    CHECK(
        add(chain.make_tx(chain.submitter, Transfer{chain.stranger.id, {0}}, 2, {kCoin})) == TxError::kFieldOutOfRange
    );
    // The pauper has three coins, whatever its actions would do with them.
    CHECK(add(chain.make_tx(chain.pauper, pay, 0, {2 * kCoin})) == TxError{});
    CHECK(add(chain.make_tx(chain.pauper, pay, 1, {2 * kCoin})) == TxError::kCannotPayFee);
    CHECK(add(chain.make_tx(chain.pauper, pay, 1, {kCoin})) == TxError{});
    CHECK(add(chain.make_tx(chain.submitter, pay, 2, {kCoin})) == TxError{});
    CHECK(proposal.use().gas() == 4 * gas_of_bytes(first, chain.params));
}

TEST_CASE("POOL-1: what an action moves out of a balance follows from the action and the parameters alone") {
    CHECK(amount_out(Transfer{{}, {7}}, quick_params()).grains == 7);
    CHECK(amount_out(Bond{Role::kVerifier, {8}}, quick_params()).grains == 8);
    CHECK(amount_out(Unbond{Role::kVerifier, {8}}, quick_params()).grains == 0);
    CHECK(amount_out(SubmitTask{make_spec()}, quick_params()).grains == 23 * kCoin);
    TaskSpec dear = make_spec();
    dear.reward = {~std::uint64_t{0}};
    CHECK(amount_out(SubmitTask{dear}, quick_params()).grains == ~std::uint64_t{0});
}

}  // namespace assay::contracts::test
