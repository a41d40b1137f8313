// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <tests/model/workshop.hpp>

/// What is measured in a simulated network: everybody honest measures the same, so each measurement is made once.
namespace assay::simulation {

/// The roots of the states before a segment, after its canonical replay, and that is claimed.
using Measured = std::array<Hash256, 3>;

class Gauge {
  public:
    explicit Gauge(model::Workshop& shop) : shop_(shop) {}

    /// Of three known states.
    const dispute::Measurement& measure(const Measured& states, std::uint64_t seed);
    /// Their Merkle roots (DSP-45).
    contracts::MeasuredRoots roots_of(const Measured& states) const;
    /// The program under another seed (PRF-2).
    const model::ToyRun& run_under(std::uint64_t seed);
    /// The root after its first `steps` steps from a known state.
    Hash256 reference(std::uint64_t seed, const Hash256& start, std::uint64_t steps);
    /// A party's replay of a measurement; `overstates`: with the lie of overstated().
    model::Player play(const Measured& states, std::uint64_t seed, bool overstates) const;

  private:
    model::Workshop& shop_;
    std::map<std::pair<Measured, std::uint64_t>, dispute::Measurement> measurements_;
    std::map<std::uint64_t, std::unique_ptr<model::ToyRun>> runs_;
    std::map<std::pair<std::uint64_t, Hash256>, Hash256> references_;
};

/// The lie that the drift is as long as the update.
dispute::Measurement overstated(dispute::Measurement measurement) noexcept;

}  // namespace assay::simulation
