// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <verifier/roles/offer.hpp>

namespace assay::roles {
namespace {

/// 100 steps of 20 ms and a start of 1 s: 3 s, of 4.5 s until the deadline; 36 grains an hour and fees of 97.
OfferView good() {
    return {
        .reward = Amount{110},
        .fees = Amount{97},
        .start_us = 1'000'000,
        .step_us = 20'000,
        .steps = 100,
        .block_us = 45'000,
        .training_blocks = 100,
        .memory_bytes = 500,
        .memory_bytes_max = 500,
        .cost_per_hour = Amount{3'600},
        .least_profit_percent = 10};
}

TEST_CASE("a solver takes a task that it can do in two thirds of the time, with profit") {
    CHECK(estimated_us(good()) == 3'000'000);
    CHECK(decide_offer(good()) == Offer::kTake);  // it costs 3 + 97, and a tenth of it is 10
    OfferView poor = good();
    poor.reward = Amount{109};
    CHECK(decide_offer(poor) == Offer::kTooLittle);
    OfferView slow = good();
    slow.step_us = 20'001;
    CHECK(decide_offer(slow) == Offer::kTooLong);
    OfferView busy = good();
    busy.queued_us = 1;
    CHECK(decide_offer(busy) == Offer::kTooLong);
    OfferView large = good();
    large.memory_bytes = 501;
    CHECK(decide_offer(large) == Offer::kTooLarge);
    OfferView wild = good();
    wild.has_diverged = true;
    CHECK(decide_offer(wild) == Offer::kDiverges);
    OfferView misjudged = good();
    misjudged.is_misprofiled = true;
    CHECK(decide_offer(misjudged) == Offer::kMisprofiled);
}

TEST_CASE("a solver takes what pays its owner's least price for the work, before a step of it has run") {
    OfferView priced = good();
    priced.work = 3'000'000'000;
    priced.least_price = 36;  // 108 grains for three times 10^9 multiply-adds
    CHECK(decide_offer(priced) == Offer::kTake);
    priced.least_price = 37;
    CHECK(decide_offer(priced) == Offer::kTooLittle);
    priced.step_us = 0;
    priced.start_us = 0;
    CHECK(decide_offer(priced) == Offer::kTooLittle);
    priced.work = std::numeric_limits<std::uint64_t>::max();
    priced.least_price = std::numeric_limits<std::uint64_t>::max();
    CHECK(decide_offer(priced) == Offer::kTooLittle);
}

TEST_CASE("numbers that a submitter chose do not overflow into an acceptance") {
    OfferView endless = good();
    endless.steps = std::numeric_limits<std::uint64_t>::max();
    CHECK(decide_offer(endless) == Offer::kTooLong);
    endless.block_us = std::numeric_limits<std::uint64_t>::max();
    CHECK(decide_offer(endless) != Offer::kTake);
    OfferView untried = good();
    untried.step_us = 0;
    untried.start_us = 0;
    untried.reward = Amount{96};  // less than the fees: known without a step
    CHECK(decide_offer(untried) == Offer::kTooLittle);
}

}  // namespace
}  // namespace assay::roles
