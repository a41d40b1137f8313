// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <verifier/artifacts/cache.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

struct FetcherOptions {
    FetchLimits limits{};  ///< `stop` is the fetcher's own
    std::uint32_t threads = 4;  ///< besides one that fetches for disputes only
    std::chrono::milliseconds backoff_first{250};
    std::chrono::milliseconds backoff_max{60'000};
    std::uint64_t in_flight_max = std::uint64_t{2} << 30U;  ///< bytes being fetched at once, those for disputes apart
};

/// Fetches artifacts beside its owner's work, so that addresses where nobody answers cost its duties no time.
///
/// A submitter chooses the addresses and a solver those of its checkpoints, so none of them is trusted: a host has one
/// connection at a time, waits twice as long after each failure, and is asked after those that have not failed.
class Fetcher {
  public:
    Fetcher(const ContentStore& own, Cache& cache, FetcherOptions options = {});
    /// Gives up what is being fetched.
    ~Fetcher();
    Fetcher(const Fetcher&) = delete;
    Fetcher& operator=(const Fetcher&) = delete;

    /// The bytes, where they are stored; else asks for them and returns at once: kPending until the first attempt is
    /// over, and from then on how the last one ended. Throws StoreError.
    Result<Bytes, FetchError> get(
        const contracts::TaskId& task, const contracts::ArtifactRef& artifact, Urgency urgency
    );
    /// Asks for what is not stored yet.
    void want(const contracts::TaskId& task, const contracts::ArtifactRef& artifact, Urgency urgency);
    /// How many attempts have failed since the artifact was asked for first, those for want of room not counted.
    std::uint32_t failures(const contracts::ArtifactRef& artifact) const;
    /// How many attempts are over, ever: something may be there that was not when this has changed.
    std::uint64_t finished() const { return finished_; }
    /// The task is over: nobody waits for what was asked for it, and its artifacts may make room for others.
    void forget(const contracts::TaskId& task);

  private:
    using Clock = std::chrono::steady_clock;
    using Key = std::tuple<Hash256, std::uint64_t, std::string>;
    struct Job {
        contracts::TaskId task;
        contracts::ArtifactRef artifact;
        std::string host;
        Urgency urgency = Urgency::kOffer;
        bool is_wanted = true;  ///< waits for an attempt
        bool is_running = false;
        bool is_forgotten = false;
        std::uint64_t order = 0;
        std::uint32_t failures = 0;
        std::optional<FetchError> error{};
        Clock::time_point not_before{};
    };
    struct Host {
        bool is_busy = false;
        std::uint32_t failures = 0;
        Clock::time_point not_before{};
    };
    static Key key_of(const contracts::ArtifactRef& artifact);
    static std::string host_of(const contracts::ArtifactRef& artifact);
    Job& ask(const contracts::TaskId& task, const contracts::ArtifactRef& artifact, Urgency urgency);
    void run(bool disputes_only);
    /// The next job to run, marked as running; nullopt when none may run now.
    std::optional<Key> take(bool disputes_only);
    void finish(const Key& key, std::optional<FetchError> error);
    Clock::duration backoff(std::uint32_t failures) const;

    const ContentStore& own_;
    Cache& cache_;
    FetcherOptions options_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> finished_{0};
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Key, Job> jobs_;
    std::map<std::string, Host> hosts_;
    std::uint64_t asked_ = 0;
    std::uint64_t in_flight_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace assay::artifacts
