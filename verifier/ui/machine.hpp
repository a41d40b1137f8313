// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <core/crypto/keys.hpp>
#include <verifier/ui/settings.hpp>

namespace assay::ui {

/// The workers of this process, and the machine that they run on. verifier/worker implements it. Calls are made one at
/// a time, except for is_running() and failures().
class Machine {
  public:
    virtual ~Machine() = default;
    /// Throws InputError if no worker could start with these settings.
    virtual void check(const Settings& settings) const = 0;
    /// Measures the device for a few seconds: {"score", "class", "class_name", "small_step", "products", "engine"}, the
    /// class as a new chain has them. Throws std::runtime_error if the device cannot be used.
    virtual nlohmann::ordered_json measure(const Settings& settings) = 0;
    /// Starts a worker for each role that `settings` names. With `resets_breaker` they take work again after stake was
    /// slashed.
    virtual void start(const Settings& settings, const crypto::SecretKey& key, bool resets_breaker) = 0;
    /// Ends them after the transaction or step in progress. What is owed is gone on with after the next start.
    virtual void stop() = 0;
    virtual bool is_running() const = 0;
    /// Why workers have ended by themselves: {"role": "reason"}.
    virtual nlohmann::ordered_json failures() const = 0;
};

}  // namespace assay::ui
