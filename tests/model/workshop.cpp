// SPDX-License-Identifier: Apache-2.0
#include <tests/model/workshop.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <core/dispute/commitment.hpp>

namespace assay::model {

using contracts::test::Tamper;
using contracts::test::ToyNoise;

Hash256 mix(const Hash256& name, const AccountId& actor, std::uint64_t number) {
    Bytes bytes(name.data.begin(), name.data.end());
    bytes.insert(bytes.end(), actor.data.begin(), actor.data.end());
    const Bytes rest = codec::encode(number);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return crypto::sha256(bytes);
}

Workshop::Workshop(float noise) : noise_(noise) {
    const ToyNoise with{noise, ToyRun::kSeed};
    const auto add = [&](const std::optional<Tamper>& tamper) {
        runs_.push_back(std::make_unique<ToyRun>(tamper, ToyRun::kScale, with));
    };
    add(std::nullopt);
    const auto commit = static_cast<std::uint32_t>(runs_.front()->graph(false).size() - 1);
    // Where noise makes drifts real, hardware departs in each step.
    const bool drifts = noise != 0;
    const std::uint64_t departs = drifts ? 0 : 7;
    add(Tamper{true, 0, 0, 2});
    add(Tamper{false, 4, 2, 2});
    add(Tamper{false, 1, commit, 1});
    add(Tamper{false, 8, 1, 6});
    add(Tamper{.step = ToyRun::kInterval, .stale = true});
    add(Tamper{false, departs, 4, 1, drifts});
    add(Tamper{false, departs, 4, 5, drifts});
    runs_.push_back(std::make_unique<ToyRun>(run_under(ToyRun::kSeed + 1)));
    const float diverging = ToyRun::kDivergingScale;
    runs_.push_back(std::make_unique<ToyRun>(std::nullopt, diverging));
    runs_.push_back(std::make_unique<ToyRun>(Tamper{false, 2, 2, 2}, diverging));
    spec_ = runs_.front()->spec();
    diverging_spec_ = runs_.back()->spec();
    scoring_ = contracts::test::evaluated_spec(spec_).evaluation.value();
    distance_ = contracts::test::tolerance_spec().distance.value();
    for (int way = 0; way < kWays; ++way) {
        starts_[static_cast<Way>(way)] = keep(run(static_cast<Way>(way)).state(0));
    }
}

Hash256 Workshop::keep(State state) {
    const Hash256 root = contracts::test::root_of(state);
    states_.emplace(root, std::move(state));
    return root;
}

Hash256 Workshop::start(Way way) { return starts_.at(way); }

Hash256 Workshop::next(Way way, const Hash256& before, std::uint64_t step) {
    const auto key = std::tuple{way, before, step};
    if (const auto found = steps_.find(key); found != steps_.end()) {
        return found->second;
    }
    if (!knows(before)) {
        return {};
    }
    return steps_[key] = keep(run(way).run_step(false, step, state(before)).next);
}

Hash256 Workshop::after(Way way, Hash256 root, std::uint64_t first, std::uint64_t steps) {
    for (std::uint64_t step = first; step < first + steps; ++step) {
        root = next(way, root, step);
    }
    return root;
}

dispute::Measurement Workshop::measure(
    const Hash256& start, const Hash256& replayed, const Hash256& claimed, std::uint64_t seed
) {
    return contracts::test::measure(state(start), state(replayed), state(claimed), seed);
}

const contracts::Evaluation& Workshop::evaluation(const Hash256& root) {
    const auto found = evaluations_.find(root);
    return found != evaluations_.end()
               ? found->second
               : evaluations_.emplace(root, contracts::test::evaluation_of(state(root))).first->second;
}

dispute::StateOpening Workshop::opening(const Hash256& root, std::uint32_t tensor, std::uint64_t number) const {
    const State& known = state(root);
    std::vector<Hash256> commitments;
    for (const canonical::Tensor& each : known) {
        commitments.push_back(dispute::commit_tensor(each));
    }
    const canonical::Tensor& asked = known.at(tensor);
    dispute::StateOpening out;
    out.tensor = tensor;
    out.tile = number % canonical::tile_count(asked.shape);
    out.type = {asked.dtype, asked.shape};
    out.opening.tile = canonical::tile_of(asked, out.tile);
    out.opening.tile_path = dispute::tile_tree(asked).path(out.tile);
    out.opening.source_path = merkle::Tree(commitments).path(tensor);
    return out;
}

Player play_segment(Workshop& shop, const dispute::Claim& claim, Way way) {
    if (!claim.initialisation && !shop.knows(claim.before)) {
        return {};
    }
    const State before = claim.initialisation ? State{} : shop.state(claim.before);
    return {nullptr, std::make_unique<contracts::test::ToyReplay>(shop.run(way), claim, before)};
}

Player play_measurement(
    Workshop& shop, const Hash256& start, const Hash256& replayed, const Hash256& claimed, std::uint64_t seed, bool lies
) {
    if (!shop.knows(start) || !shop.knows(replayed) || !shop.knows(claimed)) {
        return {};
    }
    Player player;
    player.world = std::make_unique<dispute::testing::World>(
        contracts::test::measuring_world(shop.state(start), shop.state(replayed), shop.state(claimed))
    );
    std::vector<dispute::testing::Lie> told;
    if (lies) {
        const auto commit = static_cast<std::uint32_t>(player.world->init.size() - 1);
        told.push_back({0, commit, [](canonical::Tensor& tensor) { ++tensor.data[0]; }, 0});
    }
    player.replay = std::make_unique<dispute::testing::ScalarReplay>(*player.world, true, seed, told);
    return player;
}

Player play_evaluation(Workshop& shop, const Hash256& state, std::uint64_t seed, bool lies) {
    if (!shop.knows(state)) {
        return {};
    }
    Player player;
    player.world = std::make_unique<dispute::testing::World>(contracts::test::evaluating_world(shop.state(state)));
    std::vector<dispute::testing::Lie> told;
    if (lies) {
        told.push_back(contracts::test::flattery());
    }
    player.replay = std::make_unique<dispute::testing::ScalarReplay>(*player.world, true, seed, told);
    return player;
}

}  // namespace assay::model
