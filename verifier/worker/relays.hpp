// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <core/crypto/keys.hpp>
#include <verifier/artifacts/server.hpp>
#include <verifier/relay/link.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>
#include <verifier/worker/worker_metrics.hpp>

namespace assay::worker {

/// A worker's registrations at the relays that its options name, under the account of its key and the name of its mode.
class Relays {
  public:
    /// What records name (ART-20): the relays, and the server's own URL if others can connect to its address. `account`
    /// is that of the worker's key.
    static std::string locations(const WorkerOptions& options, const AccountId& account, const std::string& server_url);

    /// Begins to connect. What the relays bring is served by `server`. `metrics` may be null. All but `options` and
    /// `key` have to outlive this. Throws std::runtime_error if TLS cannot be had.
    Relays(
        const WorkerOptions& options, const crypto::SecretKey& key, artifacts::ArtifactServer& server,
        Reporter& reporter, WorkerMetrics* metrics
    );

  private:
    std::vector<std::unique_ptr<relay::RelayLink>> links_;
};

}  // namespace assay::worker
