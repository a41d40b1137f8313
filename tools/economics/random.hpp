// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::economics {

/// splitmix64: gives the same numbers for the same seed on every machine. Not for keys.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// Returns a number from 0 to n-1; n must be at least 1. The bias is below n / 2^64.
    std::uint32_t below(std::uint32_t n) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint32_t>(static_cast<Wide>(next()) * n >> 64U);
    }
    /// Returns a number in [0, 1).
    double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    bool chance(double probability) { return unit() < probability; }

  private:
    std::uint64_t state_;
};

}  // namespace assay::economics
