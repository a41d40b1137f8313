// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/stores/store.hpp>
#include <verifier/worker/reporter.hpp>

namespace assay::worker {

/// Writes checkpoints to stores that the operator has chosen, on a thread of its own, so that they can be had when this
/// machine is not there. A store that fails keeps nothing waiting: the checkpoint is posted without it.
class Publisher {
  public:
    /// `locations` as `--publish` has them. `store` and `reporter` have to outlive it.
    Publisher(
        const artifacts::ContentStore& store, Reporter& reporter, std::vector<std::string> locations,
        std::optional<stores::Credentials> credentials
    );
    /// Ends what is being written.
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// Has an artifact of the store, and the hashes beside it, written to all locations, unless it has been before.
    /// Returns nullopt until that has ended; then the locations that have it, which spaces separate.
    std::optional<std::string> publish(const Hash256& artifact);

    /// Whether a record takes the server's URL and all locations (ART-20), as long as they may become.
    static bool fits(const std::string& server, const std::vector<std::string>& locations);

  private:
    void run();
    std::string publish_to_all(const Hash256& artifact);
    std::optional<std::string> publish_to(const std::string& location, const Hash256& artifact);
    bool is_stopped() const;

    const artifacts::ContentStore& store_;
    Reporter& reporter_;
    std::vector<std::string> locations_;
    std::optional<stores::Credentials> credentials_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stop_ = false;
    std::deque<Hash256> queue_;
    std::set<Hash256> wanted_;  ///< in the queue, or being written
    std::map<Hash256, std::string> done_;
    std::thread thread_;
};

}  // namespace assay::worker
