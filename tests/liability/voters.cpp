// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <contracts/params/gas.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tests/liability/plan.hpp>
#include <tests/unit/contracts/fixture.hpp>

/// A plan of validators that vote for whatever the list of proposals allows.
namespace assay::liability {
namespace {

using contracts::ParamChange;
using contracts::VotableParam;
using contracts::test::kCoin;
using simulation::Kind;

class Voters final : public Plan {
  public:
    Voters(std::uint64_t seed, std::vector<Member> members)
        : Plan(seed, std::move(members)), has_majority_(below(2) == 0) {}

    /// So that votes count within a run, and nobody but the voters attacks.
    void set_scene(contracts::Params& params, std::vector<Kind>& kinds) override {
        without_accomplices(kinds);
        params.vote_blocks = 60;
        params.vote_delay_blocks = 12;
    }

    /// The honest validator has 500 units of power, and the voters exactly two thirds of the set's, or a little more.
    void act(const Stage& stage) override {
        if (!joined_ && !is_any_in_set(stage)) {
            return;
        }
        joined_ = true;
        for (std::size_t place = 0; place < members().size(); ++place) {
            if (!join(stage, place)) {
                return;
            }
        }
        if (!chance(40)) {
            return;
        }
        const auto& motions = stage.chain.world.motions;
        for (std::size_t place = 0; place < members().size(); ++place) {
            if (chance(motions.empty() ? 60 : 10)) {
                member(place).send(stage, propose(stage));
            }
            for (const auto& [id, motion] : motions) {
                const bool has_voted = motion.votes.contains(member(place).id());
                if (!has_voted || chance(3)) {
                    member(place).send(stage, contracts::Vote{id, !has_voted});
                }
            }
        }
    }

  private:
    static bool is_any_in_set(const Stage& stage) {
        const auto& validators = stage.chain.world.validators;
        return std::any_of(validators.begin(), validators.end(), [](const auto& entry) {
            return entry.second.power != 0;
        });
    }

    /// False: it does not vote yet.
    bool join(const Stage& stage, std::size_t place) {
        const auto& world = stage.chain.world;
        const std::uint64_t grains = (has_majority_ || place == 0 ? 334 : 333) * kCoin;
        member(place).bond(stage, contracts::Role::kValidator, grains);
        if (!world.stakes.contains({contracts::Role::kValidator, member(place).id()})) {
            return false;
        }
        const auto known = world.validators.find(member(place).id());
        if (known == world.validators.end()) {
            member(place).register_validator(stage, static_cast<std::uint8_t>(20 + place));
            return false;
        }
        return true;
    }

    contracts::Action propose(const Stage& stage) {
        const contracts::Params params = stage.node.state()->params();
        switch (below(6)) {
            case 0:
                return contracts::ProposeHalt{};
            case 1: {
                const std::uint64_t height = stage.node.height() + params.vote_delay_blocks + 4 + below(20);
                return contracts::ProposeUpgrade{Height{height}, params.protocol_version + 1};
            }
            case 2:
                return contracts::ProposeUpgrade{Height{}, params.protocol_version};
            default:
                return contracts::ProposeParams{choose_changes(params)};
        }
    }

    std::vector<ParamChange> choose_changes(const contracts::Params& params) {
        std::vector<ParamChange> changes;
        for (unsigned number = 1; number <= contracts::kVotableParams; ++number) {
            const auto param = static_cast<VotableParam>(number);
            if (chance(25) || (changes.empty() && number == contracts::kVotableParams)) {
                changes.push_back({param, choose_value(params, param)});
            }
        }
        return changes;
    }

    /// The least and the most that the rules allow, what is near the present value, and what no parameter can be.
    std::uint64_t choose_value(const contracts::Params& params, VotableParam param) {
        const std::uint64_t now = contracts::value_of(params, param);
        std::vector<std::uint64_t> values{1, now / 2, 2 * now, 10 * now, ~std::uint64_t{0}};
        if (param == VotableParam::kGasPriceMin) {
            values.push_back(contracts::kGasPriceMax.grains);
        } else if (param == VotableParam::kBlockGasMax) {
            values.push_back(contracts::gas_max(params));
        }
        return values[below(values.size())];
    }

    const bool has_majority_;
    bool joined_ = false;
};

}  // namespace

std::unique_ptr<Plan> make_voters(std::uint64_t seed, std::vector<Member> members) {
    return std::make_unique<Voters>(seed, std::move(members));
}

}  // namespace assay::liability
