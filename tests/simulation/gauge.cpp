// SPDX-License-Identifier: Apache-2.0
#include <tests/simulation/gauge.hpp>

#include <algorithm>

namespace assay::simulation {

const dispute::Measurement& Gauge::measure(const Measured& states, std::uint64_t seed) {
    const auto key = std::pair{states, seed};
    const auto found = measurements_.find(key);
    return found != measurements_.end()
               ? found->second
               : measurements_.emplace(key, shop_.measure(states[0], states[1], states[2], seed)).first->second;
}

contracts::MeasuredRoots Gauge::roots_of(const Measured& states) const {
    return contracts::test::roots_of(shop_.state(states[0]), shop_.state(states[1]), shop_.state(states[2]));
}

const model::ToyRun& Gauge::run_under(std::uint64_t seed) {
    auto& run = runs_[seed];
    if (!run) {
        run = std::make_unique<model::ToyRun>(shop_.run_under(seed));
    }
    return *run;
}

Hash256 Gauge::reference(std::uint64_t seed, const Hash256& start, std::uint64_t steps) {
    Hash256& root = references_[{seed, start}];
    if (root.is_zero()) {
        const auto count = static_cast<std::uint32_t>(steps);
        root = shop_.keep(contracts::test::replay_from(run_under(seed), shop_.state(start), 0, count));
    }
    return root;
}

model::Player Gauge::play(const Measured& states, std::uint64_t seed, bool overstates) const {
    model::Player player = model::play_measurement(shop_, states[0], states[1], states[2], seed, false);
    if (overstates && player.world) {
        const auto commit = static_cast<std::uint32_t>(player.world->init.size() - 1);
        const auto lie = [](canonical::Tensor& tensor) {
            std::copy_n(tensor.data.begin() + 4, 4, tensor.data.begin());
        };
        player.replay = std::make_unique<dispute::testing::ScalarReplay>(
            *player.world, true, seed, std::vector<dispute::testing::Lie>{{0, commit, lie, 0}}
        );
    }
    return player;
}

dispute::Measurement overstated(dispute::Measurement measurement) noexcept {
    measurement.parameters.drift2 = measurement.parameters.update2;
    return measurement;
}

}  // namespace assay::simulation
