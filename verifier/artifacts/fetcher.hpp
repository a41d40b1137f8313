// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/cache.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/fetch_chunks.hpp>
#include <verifier/artifacts/partial_dataset.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

struct FetcherOptions {
    FetchLimits limits{};       ///< `stop` and `checkpoint_bytes` are set by the fetcher itself
    std::uint32_t threads = 4;  ///< plus one thread that only fetches for disputes
    std::chrono::milliseconds backoff_first{250};
    std::chrono::milliseconds backoff_max{60'000};
};

/// What is here of a dataset: all of it, or a part.
using DatasetFile = std::variant<StoredFile, std::shared_ptr<const PartialDataset>>;

/// Fetches artifacts in the background, so that unreachable servers do not delay the owner's duties. A submitter
/// chooses the artifacts' addresses, and a solver those of its checkpoints, so none is trusted. Each host gets one
/// connection at a time, a doubled wait after each failure, and lower priority than hosts that have not failed.
class Fetcher {
  public:
    Fetcher(const ContentStore& own, Cache& cache, FetcherOptions options = {});
    /// Aborts running fetches and joins the threads.
    ~Fetcher();
    Fetcher(const Fetcher&) = delete;
    Fetcher& operator=(const Fetcher&) = delete;

    /// Returns the artifact if it is stored. Otherwise requests it and returns at once: with kPending until the first
    /// attempt has finished, then with the error of the last attempt, or kTooLarge if the reference names more than
    /// `size_max` bytes (ART-12). Throws StoreError.
    Result<StoredFile, FetchError> get(
        const contracts::TaskId& task, const Reference& artifact, std::uint64_t size_max, Urgency urgency
    );
    /// Requests the artifact if it is not stored yet and not too large.
    void want(const contracts::TaskId& task, const Reference& artifact, std::uint64_t size_max, Urgency urgency);
    /// ART-19: returns the dataset with at least the requested chunks, if they are stored. Otherwise requests them and
    /// returns at once, as get() does. Where no source delivers chunks, the whole file is fetched. The artifact must
    /// have the size that the request's dataset has. Throws StoreError.
    Result<DatasetFile, FetchError> get_chunks(
        const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
        const std::shared_ptr<const ChunkRequest>& request
    );
    /// Requests the chunks if the dataset is not stored yet. Throws StoreError.
    void want_chunks(
        const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
        const std::shared_ptr<const ChunkRequest>& request
    );
    /// ART-17: keeps the hashes of the chunks beside the dataset's file, so that it is served with them. Does nothing
    /// if the file is not stored. Throws StoreError.
    void keep_chunk_leaves(const Hash256& dataset, const merkle::Tree& tree) const;
    /// Says that the store of our own has a checkpoint of the task: others that are fetched take from it what is the
    /// same.
    void note_own(const contracts::TaskId& task, const Hash256& name);
    /// Number of failed attempts since the artifact was first requested, not counting those for lack of disk space.
    std::uint32_t failures(const Reference& artifact) const;
    /// Total number of finished attempts. If it has changed, new artifacts may be available.
    std::uint64_t finished() const { return finished_; }
    /// Bytes that have arrived of checkpoints and of the hashes of their tiles, of all tasks.
    std::uint64_t checkpoint_bytes() const { return checkpoint_bytes_; }
    /// Drops the requests of a task that has ended, and lets its artifacts be evicted.
    void forget(const contracts::TaskId& task);

  private:
    using Clock = std::chrono::steady_clock;
    using Key = std::tuple<Hash256, std::uint64_t, std::string, bool>;  ///< the last: chunks of it
    struct Job {
        contracts::TaskId task;
        Reference artifact;
        std::string host;
        std::shared_ptr<const ChunkRequest> chunks{};  ///< null: the whole artifact is wanted
        Urgency urgency = Urgency::kOffer;
        bool is_wanted = true;  ///< waiting for an attempt
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
    static Key key_of(const Reference& artifact, bool of_chunks = false);
    static std::string host_of(const Reference& artifact);
    Job& ask(
        const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
        const std::shared_ptr<const ChunkRequest>& chunks = nullptr
    );
    /// Returns the file, verified, from either store.
    std::optional<StoredFile> stored(const Reference& artifact) const;
    void run(bool disputes_only);
    /// Picks the next job and marks it as running; nullopt if none can run now.
    std::optional<Key> take(bool disputes_only);
    /// The task's other checkpoints that are here.
    std::vector<NearbyState> nearby(const Job& job) const;
    /// Makes one attempt. Returns why it failed.
    std::optional<FetchError> attempt(const Job& job);
    std::optional<FetchError> attempt_whole(const Job& job);
    std::optional<FetchError> attempt_chunks(const Job& job);
    void finish(const Key& key, std::optional<FetchError> error);
    Clock::duration backoff(std::uint32_t failures) const;

    const ContentStore& own_;
    Cache& cache_;
    FetcherOptions options_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> finished_{0};
    std::atomic<std::uint64_t> checkpoint_bytes_{0};
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Key, Job> jobs_;
    std::map<std::string, Host> hosts_;
    std::set<Hash256> running_;  ///< artifacts that are being downloaded
    std::uint64_t asked_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace assay::artifacts
