// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/exposure_watch.hpp>

#include <algorithm>

#include <core/base/amount.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {

std::string explain_exposure(const roles::Exposure& exposure, const contracts::Terms& terms) {
    std::string out = "this account may be drawn for " + std::to_string(exposure.segments) +
                      " segments at once, of which this machine replays " + std::to_string(exposure.replays) +
                      " before verdicts are due; each that it misses costs a tenth of its bond. ";
    out += "`assay stake unbond verifier \"" + to_text(exposure.excess) + "\"` leaves bonds for no more";
    if (exposure.replay_blocks != 0) {
        out += ", or `assay stake register verifier " + std::to_string(terms.hardware_class) + " --replay-blocks " +
               std::to_string(exposure.replay_blocks) + "`, with the other terms as they are, leaves longer segments " +
               "to others";
    }
    return out;
}

Amount ExposureWatch::drawable(Amount free) {
    const contracts::Params& params = context_.chain.params();
    if (!context_.options.contributes || free < params.contributor_bond) {
        return free;
    }
    const contracts::Beacon beacon = context_.chain.beacon();
    const bool is_seated = std::any_of(beacon.seats.begin(), beacon.seats.end(), [&](const contracts::Seat& seat) {
        return seat.account == context_.chain.self();
    });
    const bool will_be = !is_seated && beacon.seats.size() < params.contributors_max;
    return will_be ? Amount{free.grains - params.contributor_bond.grains} : free;
}

void ExposureWatch::look() {
    const auto now = std::chrono::steady_clock::now();
    if (context_.options.mode != Mode::kVerify || (looked_at_ && now - *looked_at_ < kEvery)) {
        return;
    }
    looked_at_ = now;
    const Chain::Listing listing = context_.chain.listing(contracts::Role::kVerifier);
    const roles::StakeView view{
        .self = context_.chain.self(),
        .free_stake = drawable(listing.free),
        .terms = listing.terms,
        .score = listing.score,
        .block_us = clock_block_us(context_.chain),
        .tasks = context_.chain.tasks()};
    const auto exposure = roles::find_exposure(context_.chain.params(), view);
    context_.exposure = exposure ? explain_exposure(*exposure, listing.terms) : "";
    if (exposure && exposure != said_) {
        context_.reporter.trouble(context_.exposure);
        context_.reporter.event(
            {{"event", "exposed"},
             {"segments", exposure->segments},
             {"replays", exposure->replays},
             {"excess", std::to_string(exposure->excess.grains)},
             {"replay_blocks", exposure->replay_blocks}}
        );
    }
    said_ = exposure;
}

}  // namespace assay::worker
