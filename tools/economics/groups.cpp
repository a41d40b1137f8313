// SPDX-License-Identifier: Apache-2.0
#include <tools/economics/groups.hpp>

#include <algorithm>
#include <utility>

#include <tools/economics/model.hpp>
#include <tools/economics/needs.hpp>
#include <tools/economics/odds.hpp>

namespace assay::economics {
namespace {

/// The way of a group's task from one draw of segments to the next.
class Course {
  public:
    Course(const GroupPlan& plan, const GroupChecks& checks)
        : plan_(plan), checks_(checks), own_(accomplices_segments(plan)), skipped_(skipped_segments(plan)) {}

    GroupLoss loss() const {
        std::vector<Rest> later;  // after one cut more, by the number of skipped segments that count
        for (std::uint32_t cuts = checks_.cuts_max; cuts > 0; --cuts) {
            std::vector<Rest> now;
            for (std::size_t i = 0; i < skipped_.size(); ++i) {
                now.push_back(after(i, cuts, later));
            }
            later = std::move(now);
        }
        const Rest rest = after(skipped_.size(), 0, later);
        return {.convictions = rest.convictions, .pay = share(own_.size()) - rest.pay};
    }

  private:
    struct Rest {
        double convictions = 0.0;
        double pay = 0.0;  // share of the reward
    };

    double share(std::size_t segments) const { return static_cast<double>(segments) / plan_.segments; }

    /// What is still to come after `cuts`, while the first `skipped` of the skipped segments count.
    Rest after(std::size_t skipped, std::uint32_t cuts, const std::vector<Rest>& later) const {
        const std::uint32_t counted = skipped == skipped_.size() ? plan_.segments : skipped_[skipped] - 1;
        const bool is_unpaid = cuts > 0 && plan_.accomplices == 1;
        double before = 1.0;  // probability that none of the skipped ones so far is refuted
        Rest out;
        for (std::uint32_t i = 0; i < skipped; ++i) {
            const double now = 1.0 - probability_of_notice({counted + 1, i + 1, checks_.drawn}, checks_.noticed);
            const bool is_cut = skipped_[i] >= 2 && cuts < checks_.cuts_max;
            const Rest rest = is_cut ? later[i] : Rest{};
            out.convictions += (before - now) * (1.0 + rest.convictions);
            out.pay += (before - now) * rest.pay;
            before = now;
        }
        const auto own = std::upper_bound(own_.begin(), own_.end(), counted) - own_.begin();
        out.pay += is_unpaid ? 0.0 : before * share(static_cast<std::size_t>(own));
        return out;
    }

    const GroupPlan& plan_;
    const GroupChecks& checks_;
    std::vector<std::uint32_t> own_;
    std::vector<std::uint32_t> skipped_;
};

// Where a coalition skips many segments, a task of more segments is taken for one of so many longer ones.
constexpr std::uint32_t kSegmentsMax = 16;

/// The coalitions and the numbers of segments that tell: one segment, half of the coalition's and all of them.
std::vector<GroupPlan> plans_of(std::uint32_t segments) {
    const std::uint32_t few = std::min(segments, kSegmentsMax);
    std::vector<GroupPlan> out;
    for (const std::uint32_t members : {2U, few}) {
        for (const std::uint32_t accomplices : {1U, members}) {
            GroupPlan plan{.segments = few, .members = members, .accomplices = accomplices};
            const auto own = static_cast<std::uint32_t>(accomplices_segments(plan).size());
            for (const std::uint32_t skipped : {std::max(1U, own / 2), own}) {
                plan.skipped = skipped;
                out.push_back(plan);
            }
        }
    }
    out.push_back({.segments = segments, .members = 2, .accomplices = 2, .skipped = 1});
    return out;
}

}  // namespace

std::vector<std::uint32_t> accomplices_segments(const GroupPlan& plan) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t segment = 1; segment <= plan.segments; ++segment) {
        if ((segment - 1) % plan.members >= plan.members - plan.accomplices) {
            out.push_back(segment);
        }
    }
    return out;
}

std::vector<std::uint32_t> skipped_segments(const GroupPlan& plan) {
    const std::vector<std::uint32_t> own = accomplices_segments(plan);
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < plan.skipped; ++i) {
        switch (plan.place) {
            case Skipped::kSpread:
                out.push_back(own[i * own.size() / plan.skipped]);
                break;
            case Skipped::kLast:
                out.push_back(own[own.size() - plan.skipped + i]);
                break;
        }
    }
    return out;
}

GroupLoss loss_of_group(const GroupPlan& plan, const GroupChecks& checks) { return Course(plan, checks).loss(); }

std::vector<Constraint> group_constraints(const Setting& setting, const Parameters& parameters, const Costs& costs) {
    if (costs.mode != Mode::kExact || setting.segments < 2) {
        return {};
    }
    const GroupChecks checks{
        .drawn = setting.checked,
        .noticed = detection_of(costs, "skipped_segments") * Model(setting, costs).looked_at() *
                   (1.0 - setting.dispute_failure),
        .cuts_max = parameters.redraws_max};
    const double burned = 1.0 - static_cast<double>(parameters.slash_to_winner_bps) / 10'000.0;
    const double reward = to_asy(setting.net_reward());
    double need = 0.0;
    for (const GroupPlan& plan : plans_of(setting.segments)) {
        const double saved = costs.safety * to_asy(setting.training_cost()) * plan.skipped / plan.segments;
        const GroupLoss loss = loss_of_group(plan, checks);
        need = std::max(need, over(std::max(0.0, saved - reward * loss.pay), kMembersBond * burned * loss.convictions));
    }
    return {
        {.name = "group.honest",
         .role = "solver",
         .parameter = "solver_bond",
         .have = to_asy(setting.solver_bond),
         .need = need,
         .unit = "ASY",
         .meaning = "what accounts of one owner save by skipping segments as members of a group is less than their "
                    "convictions cost, although what others posted before stays paid",
         .help = "a higher solver bond, or more segments checked"}};
}

}  // namespace assay::economics
