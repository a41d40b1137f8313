// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/cast.hpp>

#include <algorithm>

#include <contracts/chain/duty.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>
#include <tests/model/records.hpp>
#include <tests/simulation/worker.hpp>
#include <tests/unit/contracts/fixture.hpp>

namespace assay::simulation {

using contracts::test::kCoin;

namespace {

constexpr std::uint32_t kCompanyPercent = 45;  ///< of the networks without tolerance
constexpr std::uint32_t kSpareBlocks = 120;

}  // namespace

contracts::Params make_params(Events& events, bool in_tolerance) {
    contracts::Params params;
    params.accept_blocks = 12;
    params.commit_blocks = 22;
    params.publish_blocks = 14;
    params.challenge_blocks = 18;
    params.disclose_blocks = 14;
    params.dispute_clock_blocks = 60;
    params.dispute_extension_blocks = 14;
    params.attest_blocks = 22;
    // By distance nobody but verifiers looks at a segment, so all are given one.
    params.segments_checked = in_tolerance ? 6 : 3;
    params.segments_checked_max = 6;
    params.solver_bond_bps = 0;
    params.forced_error_bps = events.chance(50) ? 3'000 : 0;
    params.watchers_per_verdict = 2;
    params.contributors_max = events.chance(20) ? 0 : 3;
    params.contribute_blocks = 9;
    params.decline_blocks = 30;
    params.draw_blocks = 200;
    params.redraw_blocks = 2;
    params.contributor_bond = {100 * kCoin};
    params.task_value_max = {26 * kCoin};
    return params;
}

crypto::SecretKey key_of(int number) {
    std::array<std::uint8_t, 32> secret{};
    secret[31] = static_cast<std::uint8_t>(number + 1);
    return crypto::SecretKey::from_bytes(secret).value();
}

std::vector<Kind> choose_kinds(Events& events, bool in_tolerance) {
    std::vector<Kind> kinds{Kind::kSubmitter, Kind::kHonestSolver,  Kind::kVerifier,
                            Kind::kVerifier,  Kind::kWhistleblower, Kind::kWhistleblower};
    const Kind others[] = {Kind::kHonestSolver, Kind::kCheat, Kind::kCheat, Kind::kWithholder};
    kinds.push_back(others[events.below(4)]);
    if (in_tolerance) {
        kinds.push_back(Kind::kVerifier);  // so that one of the profilers may lie
    }
    kinds.push_back(
        events.chance(30)                   ? Kind::kLazyVerifier
        : events.chance(30)                 ? Kind::kFalseAccuser
        : in_tolerance && events.chance(50) ? Kind::kLyingProfiler
                                            : Kind::kVerifier
    );
    if (!in_tolerance && events.chance(kCompanyPercent)) {
        const Kind members[] = {Kind::kHonestSolver, Kind::kMisstater, Kind::kMisstater,
                                Kind::kEquivocator,  Kind::kDeserter,  Kind::kSlanderer};
        kinds.push_back(Kind::kHonestSolver);
        kinds.push_back(members[events.below(6)]);
        if (events.chance(60)) {
            kinds.push_back(members[events.below(6)]);
        }
    }
    return kinds;
}

bool has_company(const std::vector<Kind>& kinds) { return std::count_if(kinds.begin(), kinds.end(), is_solver) > 2; }

std::vector<Order> plan_orders(Events& events, bool in_tolerance, const std::vector<Kind>& kinds) {
    const std::size_t least = in_tolerance ? 2 : 1;  // so that tasks in that mode have children
    std::vector<Order> orders(least + events.below(2) + (events.chance(12) ? 1 : 0));
    for (Order& order : orders) {
        order.in_tolerance = in_tolerance && events.chance(75);
        order.is_stacked = events.chance(in_tolerance ? 80 : 40);
        if (has_company(kinds)) {
            order.members = static_cast<std::uint8_t>(events.chance(85) ? 3 + events.below(3) : 1);
            order.spare_blocks = kSpareBlocks;
        } else {
            order.members = static_cast<std::uint8_t>(events.chance(40) ? 2 + events.below(2) : 1);
        }
    }
    orders.front().in_tolerance = in_tolerance;
    orders.front().is_stacked = false;
    return orders;
}

}  // namespace assay::simulation
