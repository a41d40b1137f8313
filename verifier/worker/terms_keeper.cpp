// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/terms_keeper.hpp>

#include <verifier/roles/terms.hpp>
#include <verifier/worker/benchmark.hpp>
#include <verifier/worker/offers.hpp>

namespace assay::worker {

void TermsKeeper::look() {
    const contracts::Role role = role_of(context_.options.mode);
    const auto now = std::chrono::steady_clock::now();
    if (context_.intake == nullptr || role == contracts::Role::kWhistleblower ||
        (looked_at_ && now - *looked_at_ < kEvery)) {
        return;
    }
    looked_at_ = now;
    const contracts::Params& params = context_.chain.params();
    const contracts::Terms wanted = roles::terms_for(
        params, role,
        {.is_closed = context_.closed().has_value(),
         .least_price = context_.intake->least_price(),
         // The engine needs more than the outputs that the chain counts.
         .memory = context_.intake->memory_max() / kMemoryFactor,
         .hardware_class = class_reached(params, context_.intake->score()),
         .environment = context_.options.environment}
    );
    const Chain::Listing listing = context_.chain.listing(role);
    const std::uint64_t score = wanted.hardware_class == 0 ? 0 : context_.intake->score();
    if ((listing.terms == wanted && listing.score == score) || context_.chain.total_stake() == 0) {
        return;
    }
    if (context_.chain.send(contracts::RegisterTerms{.role = role, .terms = wanted, .score = score})) {
        context_.reporter.event(
            {{"event", "listed"},
             {"hardware_class", wanted.hardware_class},
             {"price", wanted.price},
             {"memory", wanted.memory}}
        );
    }
}

}  // namespace assay::worker
