// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <utility>
#include <vector>

#include <contracts/governance/params_rules.hpp>
#include <tests/model/crowd.hpp>

/// What validators of the crowd propose and vote (GOV rules).
namespace assay::model {

void Crowd::add_motions(const Actor& actor, const World& world, Actions& out) {
    if (chance(4)) {
        out.push_back(random_motion());
    }
    if (!world.motions.empty() && chance(25)) {
        auto motion = world.motions.begin();
        std::advance(motion, static_cast<std::ptrdiff_t>(below(world.motions.size())));
        if (motion->second.votes.count(actor.id) == 0 || chance(15)) {
            out.push_back(contracts::Vote{motion->first, chance(80)});
        }
    }
}

contracts::Action Crowd::random_motion() {
    if (chance(15)) {
        return contracts::ProposeHalt{};
    }
    if (chance(20)) {
        const std::uint32_t version = params_.protocol_version + static_cast<std::uint32_t>(below(3));
        return contracts::ProposeUpgrade{Height{chance(30) ? 0 : below(200)}, version};
    }
    // Around the present values, so that most of them are valid and a few are not.
    std::vector<contracts::ParamChange> changes;
    for (std::uint8_t number = 1; number <= contracts::kVotableParams; ++number) {
        const auto param = static_cast<contracts::VotableParam>(number);
        if (chance(25)) {
            const std::uint64_t value = contracts::value_of(params_, param);
            changes.push_back({param, chance(3) ? ~std::uint64_t{0} : value + below(3) - (value == 0 ? 0 : below(2))});
        }
    }
    return contracts::ProposeParams{std::move(changes)};
}

}  // namespace assay::model
