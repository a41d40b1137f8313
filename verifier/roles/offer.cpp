// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/offer.hpp>

#include <limits>

namespace assay::roles {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000;    // microseconds
constexpr std::uint64_t kPriced = 1'000'000'000;  // multiply-adds that a price is for
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <class T>
std::uint64_t or_most(const Result<T, ArithmeticError>& result) {
    return result ? *result : kMost;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return or_most(checked_add(a, b)); }
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return or_most(checked_mul(a, b)); }

}  // namespace

const char* to_string(Offer offer) noexcept {
    switch (offer) {
        case Offer::kTake:
            return "take";
        case Offer::kTooLarge:
            return "too_large";
        case Offer::kDiverges:
            return "diverges";
        case Offer::kTooLong:
            return "too_long";
        case Offer::kTooLittle:
            return "too_little";
        case Offer::kMisprofiled:
            return "misprofiled";
        case Offer::kTooMany:
            return "too_many";
    }
    return "";
}

std::uint64_t estimated_us(const OfferView& view) noexcept {
    return sum(view.start_us, product(view.step_us, view.steps));
}

Offer decide_offer(const OfferView& view) noexcept {
    if (view.memory_bytes > view.memory_bytes_max) {
        return Offer::kTooLarge;
    }
    if (view.reward.grains < or_most(checked_mul_div(view.work, view.least_price, kPriced))) {
        return Offer::kTooLittle;
    }
    if (view.has_diverged) {
        return Offer::kDiverges;
    }
    if (view.is_misprofiled) {
        return Offer::kMisprofiled;
    }
    const std::uint64_t time = estimated_us(view);
    const std::uint64_t window = product(view.block_us, view.training_blocks);
    if (sum(time, view.queued_us) > window / 3 * 2) {
        return Offer::kTooLong;
    }
    const std::uint64_t machine = or_most(checked_mul_div(time, view.cost_per_hour.grains, kHour));
    const std::uint64_t cost = sum(machine, view.fees.grains);
    const std::uint64_t profit = or_most(checked_mul_div(cost, view.least_profit_percent, 100));
    return view.reward.grains >= sum(cost, profit) ? Offer::kTake : Offer::kTooLittle;
}

}  // namespace assay::roles
