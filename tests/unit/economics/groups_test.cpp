// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <tests/unit/economics/fixture.hpp>
#include <tools/economics/constraints.hpp>
#include <tools/economics/groups.hpp>
#include <tools/economics/needs.hpp>

namespace assay::economics {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// One task, played: the accomplices' convictions and the segments that they are paid for.
struct Played {
    std::uint32_t convictions = 0;
    std::uint32_t paid = 0;
};
Played play(const GroupPlan& plan, const GroupChecks& checks, std::mt19937& chance) {
    const Numbers own = accomplices_segments(plan);
    const Numbers skipped = skipped_segments(plan);
    std::uint32_t counted = plan.segments;
    for (Played out;; ++out.convictions) {
        Numbers drawn(counted + 1);  // the initialisation is 0
        std::iota(drawn.begin(), drawn.end(), 0U);
        std::shuffle(drawn.begin(), drawn.end(), chance);
        drawn.resize(std::min<std::size_t>(drawn.size(), checks.drawn));
        std::set<std::uint32_t> refuted;
        for (const std::uint32_t segment : drawn) {
            const bool is_skipped = std::find(skipped.begin(), skipped.end(), segment) != skipped.end();
            if (is_skipped && std::uniform_real_distribution<>(0.0, 1.0)(chance) < checks.noticed) {
                refuted.insert(segment);
            }
        }
        if (refuted.empty()) {
            const bool is_unpaid = plan.accomplices == 1 && out.convictions > 0;
            const auto counts = [counted](std::uint32_t segment) { return segment <= counted; };
            out.paid = is_unpaid ? 0U : static_cast<std::uint32_t>(std::count_if(own.begin(), own.end(), counts));
            return out;
        }
        if (*refuted.begin() < 2 || out.convictions == checks.cuts_max) {
            ++out.convictions;
            return out;
        }
        counted = *refuted.begin() - 1;
    }
}

class Mean {
  public:
    void add(double x) {
        ++count_;
        sum_ += x;
        squares_ += x * x;
    }
    double value() const { return sum_ / count_; }
    double error() const { return std::sqrt(std::max(0.0, squares_ / count_ - value() * value()) / count_); }

  private:
    double count_ = 0.0;
    double sum_ = 0.0;
    double squares_ = 0.0;
};

TEST_CASE("GRP-7: what a coalition in a group loses is what it loses on average in tasks that are played") {
    std::mt19937 chance(7);
    for (const GroupPlan& plan : std::vector<GroupPlan>{
             {.segments = 12, .members = 4, .accomplices = 4, .skipped = 12},
             {.segments = 12, .members = 4, .accomplices = 4, .skipped = 3, .place = Skipped::kSpread},
             {.segments = 12, .members = 4, .accomplices = 2, .skipped = 2},
             {.segments = 12, .members = 4, .accomplices = 1, .skipped = 3},
             {.segments = 30, .members = 2, .accomplices = 1, .skipped = 8, .place = Skipped::kSpread}}) {
        for (const GroupChecks& checks : {GroupChecks{3, 1.0, 4}, GroupChecks{3, 0.7, 1}, GroupChecks{5, 0.9, 0}}) {
            INFO(plan.segments, " segments, ", plan.accomplices, " of ", plan.members, " skip ", plan.skipped);
            INFO(checks.drawn, " drawn, noticed with ", checks.noticed, ", cut up to ", checks.cuts_max, " times");
            Mean convictions;
            Mean pay;
            for (int run = 0; run < 4000; ++run) {
                const Played played = play(plan, checks, chance);
                convictions.add(played.convictions);
                pay.add(static_cast<double>(played.paid) / plan.segments);
            }
            const GroupLoss loss = loss_of_group(plan, checks);
            const double own = static_cast<double>(accomplices_segments(plan).size()) / plan.segments;
            CHECK(std::abs(convictions.value() - loss.convictions) <= 5.0 * convictions.error() + 1e-3);
            CHECK(std::abs(own - pay.value() - loss.pay) <= 5.0 * pay.error() + 1e-3);
        }
    }
}

TEST_CASE("GRP-7: a group that skips all is not paid, and loses a bond with every conviction") {
    const GroupLoss loss =
        loss_of_group({.segments = 20, .members = 4, .accomplices = 4, .skipped = 20}, {.drawn = 21, .cuts_max = 4});
    // All are drawn, so that the first is refuted at once.
    CHECK(loss.convictions == doctest::Approx(1.0));
    CHECK(loss.pay == doctest::Approx(1.0));
}

TEST_CASE("GRP-5: with the chain's parameters it does not pay to skip as members of a group, but if bonds were divided"
) {
    const auto honest = [](const Parameters& parameters) {
        double least = kNever;
        for (const Constraint& constraint : check(parameters, modest_costs())) {
            least = constraint.name == "group.honest" ? std::min(least, constraint.slack()) : least;
        }
        return least;
    };
    Parameters parameters = for_dear_tasks(chain_defaults());
    CHECK(honest(parameters) > 1.0);
    CHECK(honest(parameters) < kNever);
    parameters.solver_bond /= 4;
    parameters.solver_bond_bps /= 4;
    CHECK(honest(parameters) < 1.0);
}

}  // namespace
}  // namespace assay::economics
