// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <core/crypto/keys.hpp>
#include <verifier/worker/chain.hpp>
#include <verifier/worker/options.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// A verifier's seat in the beacon, served on its own thread: a round lasts a few blocks, while a replay can take
/// longer.
class Contributor {
  public:
    /// Joins the beacon once there is enough free stake, and contributes from then on. With an owner the secrets are
    /// derived from a key that the home keeps: one derived from an operator's key would be lost with its rotation.
    /// Throws crypto::KeyFileError.
    Contributor(
        const WorkerOptions& options, const crypto::SecretKey& key, Reporter& reporter, const std::atomic<bool>& stop
    );
    /// Sends the secret that is due, leaves the seat and joins the thread. A seat that misses the next round loses a
    /// tenth of its bond.
    ~Contributor();
    Contributor(const Contributor&) = delete;
    Contributor& operator=(const Contributor&) = delete;

  private:
    void run();
    /// Sends the next beacon transaction, if any. Returns whether something was sent.
    bool act(bool wants_seat);
    void leave();
    bool is_over() const { return stop_ || done_; }
    void rest() const;

    const crypto::SecretKey secrets_;
    Reporter& reporter_;
    const std::atomic<bool>& stop_;
    std::atomic<bool> done_{false};
    Chain chain_;
    std::thread thread_;
};

}  // namespace assay::worker
