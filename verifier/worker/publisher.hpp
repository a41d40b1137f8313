// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

/// How long a checkpoint waits for its copies. The later it is, the less it waits for: a store that is away must not
/// cost the solver its bond.
enum class Patience : std::uint8_t {
    kCopies = 1,   ///< until as many stores have it as the operator wants
    kOnePass = 2,  ///< until each store was tried once
    kNone = 3,     ///< not at all
};

/// Returns how long a checkpoint may wait at `height` that has to be posted by `deadline`. Of the `span` blocks before
/// the deadline the last quarter waits for one pass only, and the last sixteenth for nothing; `after` more checkpoints
/// are to be posted then, in two blocks each.
Patience patience_at(std::uint64_t height, std::uint64_t deadline, std::uint64_t span, std::uint32_t after) noexcept;

struct PublisherOptions {
    std::vector<std::string> locations;                ///< as `--publish` has them
    std::uint32_t copies = 1;                          ///< of these locations have to have a checkpoint
    std::optional<stores::Credentials> credentials{};  ///< for those that want a signature
    std::chrono::milliseconds retry_after{2'000};      ///< before a store that failed is tried again
};

/// Writes checkpoints to stores that the operator has chosen, on a thread of its own, so that they can be had when this
/// machine is not there. A store that fails is tried again for as long as copies are wanting and the caller waits.
class Publisher {
  public:
    /// `store` and `reporter` have to outlive it. `copies` is at most the number of locations.
    Publisher(const artifacts::ContentStore& store, Reporter& reporter, PublisherOptions options);
    /// Ends what is being written.
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// Has an artifact of the store, and the hashes beside it, written to the locations, unless it has been before.
    /// Returns nullopt while `patience` lasts; then the locations that have it, which spaces separate.
    std::optional<std::string> publish(const Hash256& artifact, Patience patience = Patience::kCopies);
    /// How many locations have the artifact so far.
    std::uint32_t copies(const Hash256& artifact) const;
    std::uint32_t copies_wanted() const { return options_.copies; }

    /// Whether a record takes the server's location, or several with spaces between them, and all others (ART-20), as
    /// long as they may become.
    static bool fits(const std::string& server, const std::vector<std::string>& locations);

  private:
    struct Item {
        std::map<std::size_t, std::string> there;  ///< by the number of the location: what a record names
        bool is_tried = false;                     ///< each location was tried
        bool is_dropped = false;                   ///< nobody waits for it any more
        bool is_over = false;                      ///< it is not tried again
        std::chrono::steady_clock::time_point asked_at{};
    };

    void run();
    /// Tries each location that does not have it.
    void pass(const Hash256& artifact);
    bool is_enough(const Item& item) const { return item.there.size() >= options_.copies; }
    /// Whether nobody waits for more copies than there are.
    bool is_done(const Item& item) const;
    /// Tells of a failure, once for each location until it works again.
    void note_failure(const std::string& location, const std::string& text);
    std::optional<std::string> publish_to(const std::string& location, const Hash256& artifact);
    bool is_stopped() const;

    const artifacts::ContentStore& store_;
    Reporter& reporter_;
    PublisherOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stop_ = false;
    std::deque<Hash256> queue_;
    std::map<Hash256, Item> items_;
    std::set<std::string> failing_;  ///< locations; used by the thread alone
    std::thread thread_;
};

}  // namespace assay::worker
