// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::worker {

/// What the owner of a worker's machine admits, which may change at any time (`assay-worker ui`). It decides about new
/// work only: what the account has been drawn for as a verifier, or has accepted as a solver, is finished. All
/// functions are thread-safe.
class Intake {
  public:
    virtual ~Intake() = default;
    /// Returns why nothing new is taken now, in words; nullopt if new work is taken.
    virtual std::optional<std::string> closed() const = 0;
    /// Least pay in grains for 10^9 multiply-adds (WRK-1); 0: any.
    virtual std::uint64_t least_price() const = 0;
    /// Most memory of a task in bytes; 0: what the chain assumes without a registration.
    virtual std::uint64_t memory_max() const = 0;
    /// The measured score of this machine, in work units per second; 0: it was not measured.
    virtual std::uint64_t score() const = 0;
};

}  // namespace assay::worker
