// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include <core/crypto/keys.hpp>
#include <verifier/worker/chain.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// A verifier's seat in the beacon, on a thread of its own: a round waits for a few blocks, a replay may take longer.
class Contributor {
  public:
    /// Joins when there is stake enough, and contributes from then on.
    Contributor(
        const std::string& node_url, const std::filesystem::path& home, const Pins& pins, const crypto::SecretKey& key,
        Reporter& reporter, const std::atomic<bool>& stop
    );
    /// What is owed is sent, and the seat is left: who is not there for the next round loses a tenth of the bond.
    ~Contributor();
    Contributor(const Contributor&) = delete;
    Contributor& operator=(const Contributor&) = delete;

  private:
    void run();
    /// Whether something was sent.
    bool act(bool wants_seat);
    void leave();
    bool is_over() const { return stop_ || done_; }
    void rest() const;

    const crypto::SecretKey key_;
    Reporter& reporter_;
    const std::atomic<bool>& stop_;
    std::atomic<bool> done_{false};
    Chain chain_;
    std::thread thread_;
};

}  // namespace assay::worker
