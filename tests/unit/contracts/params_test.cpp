// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include <contracts/governance/params_rules.hpp>
#include <contracts/params/gas.hpp>
#include <tests/unit/contracts/fixture.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::contracts::test;

namespace {

using Change = std::function<void(Params&)>;

void check_refused(const std::vector<Change>& faults) {
    CHECK(are_valid(Params{}));
    for (const Change& fault : faults) {
        Params params;
        fault(params);
        CHECK_FALSE(are_valid(params));
    }
}

}  // namespace

TEST_CASE("PAR-1: the default parameters, and those of quick tests, are such that a chain can run") {
    CHECK(are_valid(Params{}));
    CHECK(are_valid(quick_params()));
}

TEST_CASE("PAR-13: parameters of another version of the protocol make no chain") {
    for (const std::uint32_t version : {kProtocolVersion - 1, kProtocolVersion + 1}) {
        Genesis genesis{.chain_id = "test-1", .params = {}, .balances = {}};
        CHECK(make_genesis(genesis).has_value());
        genesis.params.protocol_version = version;
        CHECK(make_genesis(genesis).error() == GenesisError::kParams);
    }
}

TEST_CASE("PAR-1.1: every span is 1 to 2 to the power of 30 blocks") {
    for (std::uint32_t Params::*span :
         {&Params::unbonding_blocks, &Params::accept_blocks, &Params::commit_blocks, &Params::publish_blocks,
          &Params::challenge_blocks, &Params::dispute_clock_blocks, &Params::dispute_extension_blocks,
          &Params::attest_blocks, &Params::disclose_blocks, &Params::downtime_blocks, &Params::jail_blocks,
          &Params::contribute_blocks, &Params::decline_blocks, &Params::draw_blocks, &Params::redraw_blocks,
          &Params::vote_blocks, &Params::vote_delay_blocks}) {
        check_refused({[span](Params& p) { p.*span = 0; }, [span](Params& p) { p.*span = kMaxSpanBlocks + 1; }});
    }
}

TEST_CASE("PAR-1.2: a transaction fits a block, by bytes and by gas") {
    Params params;
    params.tx_size_max = params.block_size_max;
    params.block_gas_max = static_cast<std::uint32_t>(gas_max(params));
    params.duty_gas_max = params.block_gas_max / 2;
    CHECK(are_valid(params));
    --params.block_gas_max;
    CHECK_FALSE(are_valid(params));
    params.block_gas_max += 1'000;
    CHECK(are_valid(params));
    ++params.tx_size_max;
    CHECK_FALSE(are_valid(params));
    params.block_size_max = params.tx_size_max = kMaxTxSize + 1;
    params.block_gas_max = static_cast<std::uint32_t>(gas_max(params));
    params.duty_gas_max = params.block_gas_max / 2;
    CHECK_FALSE(are_valid(params));
    params.block_size_max = params.tx_size_max = kMaxTxSize;
    CHECK(are_valid(params));
}

TEST_CASE("PAR-1.3: the least price of gas is 1 to 10 to the power of 9 grains") {
    check_refused(
        {[](Params& p) { p.gas_price_min = {0}; }, [](Params& p) { p.gas_price_min = {kGasPriceMax.grains + 1}; }}
    );
}

TEST_CASE("PAR-1.4: bonds are at least one grain, and their sum and shares fit") {
    check_refused(
        {[](Params& p) { p.solver_bond = {0}; }, [](Params& p) { p.verifier_bond = {0}; },
         [](Params& p) { p.challenger_bond = {0}; },
         [](Params& p) { p.challenger_bond = {kMaxU64 - p.verifier_bond.grains + 1}; },
         [](Params& p) { p.solver_bond_bps = kMaxBondBps + 1; },
         [](Params& p) { p.verifier_bond_bps = kMaxBondBps + 1; },
         [](Params& p) { p.challenger_bond_bps = kMaxBondBps + 1; }}
    );
}

TEST_CASE("PAR-1.5: the numbers of checked segments and verifiers are 1 to their maxima, at most 256 assignments") {
    check_refused(
        {[](Params& p) { p.segments_checked = 0; }, [](Params& p) { p.verifiers_per_segment = 0; },
         [](Params& p) { p.verifiers_per_segment = p.verifiers_per_segment_max + 1; },
         [](Params& p) { p.segments_checked_max = p.segments_checked - 1; },
         [](Params& p) { p.verifiers_per_segment_max = 0; }, [](Params& p) { p.segments_checked_max = 256; }}
    );
}

TEST_CASE("PAR-1.6: shares are at most all, and a verdict has at most 16 watchers") {
    check_refused(
        {[](Params& p) { p.slash_to_winner_bps = 10'001; }, [](Params& p) { p.forced_error_bps = 10'001; },
         [](Params& p) { p.tax_bps = 10'001; }, [](Params& p) { p.profiling_fee_bps = 10'001; },
         [](Params& p) { p.deadline_slash_bps = 10'001; }, [](Params& p) { p.double_sign_slash_bps = 10'001; },
         [](Params& p) { p.watchers_per_verdict = kMaxWatchers + 1; }}
    );
}

TEST_CASE("PAR-1.8: a task may have a value") {
    check_refused({[](Params& p) { p.task_value_max = {0}; }});
}

TEST_CASE("PAR-4: classes of machines have names of their own and a least score") {
    check_refused(
        {[](Params& p) { p.hardware_classes.clear(); },
         [](Params& p) {
             p.hardware_classes.clear();
             for (std::size_t i = 0; i <= kMaxHardwareClasses; ++i) {
                 p.hardware_classes.push_back({"a" + std::to_string(i), 1});
             }
         },
         [](Params& p) {
             p.hardware_classes = {{"a", 1}, {"a", 2}};
         },
         [](Params& p) {
             p.hardware_classes = {{"any", 1}};
         },
         [](Params& p) {
             p.hardware_classes = {{"", 1}};
         },
         [](Params& p) {
             p.hardware_classes = {{"A", 1}};
         },
         [](Params& p) {
             p.hardware_classes = {{"a", 0}};
         }}
    );
}

TEST_CASE("PAR-5: the first draw comes before the deadline of what waits for it") {
    check_refused({[](Params& p) { p.draw_blocks = 2 * p.contribute_blocks + 1; }});
    Params params;
    params.draw_blocks = 2 * params.contribute_blocks + 2;
    CHECK(are_valid(params));
}

TEST_CASE("PAR-9: what waits is paid for by a number, and the end of a block has gas for a deadline") {
    check_refused(
        {[](Params& p) { p.draws_max = 0; }, [](Params& p) { p.draws_max = kMaxDraws + 1; },
         [](Params& p) { p.redraws_max = kMaxRedraws + 1; },
         [](Params& p) { p.draw_price = {kDrawPriceMax.grains + 1}; },
         [](Params& p) { p.room_price = {kRoomPriceMax.grains + 1}; }, [](Params& p) { p.end_block_gas_max = 1'000; }}
    );
}
