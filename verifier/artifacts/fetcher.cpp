// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/fetcher.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include <client/http/http.hpp>
#include <core/base/assert.hpp>
#include <verifier/stores/location.hpp>

namespace assay::artifacts {
namespace {

/// How soon a thread sees that a host's time has come.
constexpr std::chrono::milliseconds kLook{50};
/// Before a full disk is looked at again.
constexpr std::chrono::seconds kNoRoomPause{2};

/// Both requests are for chunks of one dataset; either may be null.
std::shared_ptr<const ChunkRequest> merged(
    const std::shared_ptr<const ChunkRequest>& one, const std::shared_ptr<const ChunkRequest>& other
) {
    if (one == nullptr || other == nullptr || one->chunks == other->chunks) {
        return one == nullptr ? other : one;
    }
    ChunkRequest both{.dataset = one->dataset, .chunks = {}};
    std::set_union(
        one->chunks.begin(), one->chunks.end(), other->chunks.begin(), other->chunks.end(),
        std::back_inserter(both.chunks)
    );
    return std::make_shared<const ChunkRequest>(std::move(both));
}

/// Whether the host is to blame, rather than what it was asked for.
bool is_of_host(FetchError error) { return error == FetchError::kUnreachable || error == FetchError::kForbidden; }

}  // namespace

Fetcher::Fetcher(const ContentStore& own, Cache& cache, FetcherOptions options)
    : own_(own), cache_(cache), options_(std::move(options)) {
    options_.limits.stop = &stop_;
    options_.limits.checkpoint_bytes = &checkpoint_bytes_;
    for (std::uint32_t i = 0; i < options_.threads; ++i) {
        threads_.emplace_back([this] { run(false); });
    }
    threads_.emplace_back([this] { run(true); });
}

Fetcher::~Fetcher() {
    stop_ = true;
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

Fetcher::Key Fetcher::key_of(const Reference& artifact, bool of_chunks) {
    return {artifact.name, artifact.size_bytes, artifact.location, of_chunks};
}

std::string Fetcher::host_of(const Reference& artifact) {
    // Of several locations the first: whoever names others cannot have more than that one asked at the same time.
    const auto named = stores::split_locations(artifact.location);
    const auto url = named.empty() ? std::nullopt : http::decode_url(named.front());
    return url ? url->host + " " + url->port : artifact.location;
}

Fetcher::Clock::duration Fetcher::backoff(std::uint32_t failures) const {
    const std::uint32_t doublings = std::min(failures == 0 ? 0 : failures - 1, 16U);
    return std::min(options_.backoff_first * (1U << doublings), options_.backoff_max);
}

Fetcher::Job& Fetcher::ask(
    const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
    const std::shared_ptr<const ChunkRequest>& chunks
) {
    Job fresh{.task = task, .artifact = artifact, .host = host_of(artifact), .urgency = urgency, .order = asked_};
    const auto [found, is_new] = jobs_.try_emplace(key_of(artifact, chunks != nullptr), std::move(fresh));
    asked_ += is_new ? 1 : 0;
    Job& job = found->second;
    job.task = task;
    job.chunks = merged(job.chunks, chunks);
    if (urgency == Urgency::kDispute && job.error == FetchError::kNoRoom) {
        job.not_before = {};  // for a dispute there is more
    }
    job.urgency = std::min(job.urgency, urgency);
    job.is_wanted = !job.is_running;
    job.is_forgotten = false;
    changed_.notify_all();
    return job;
}

Result<StoredFile, FetchError> Fetcher::get(
    const contracts::TaskId& task, const Reference& artifact, std::uint64_t size_max, Urgency urgency
) {
    if (artifact.size_bytes > size_max) {
        return Unexpected{FetchError::kTooLarge};
    }
    cache_.pin(task, artifact.name);
    if (auto file = stored(artifact)) {
        return *std::move(file);
    }
    const std::lock_guard lock(mutex_);
    return Unexpected{ask(task, artifact, urgency).error.value_or(FetchError::kPending)};
}

std::optional<StoredFile> Fetcher::stored(const Reference& artifact) const {
    auto file = find_stored(artifact, own_);
    return file ? file : find_stored(artifact, cache_.store());
}

Result<DatasetFile, FetchError> Fetcher::get_chunks(
    const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
    const std::shared_ptr<const ChunkRequest>& request
) {
    ASSERT(artifact.size_bytes == canonical::byte_count(request->dataset.shape));
    cache_.pin(task, artifact.name);
    if (auto file = stored(artifact)) {
        return DatasetFile(*std::move(file));
    }
    std::unique_lock lock(mutex_);
    if (!jobs_.contains(key_of(artifact, true))) {  // otherwise something is missing
        lock.unlock();
        auto partial = PartialDataset::open(cache_.store(), artifact.name, request->dataset);
        if (partial && partial->has_all(request->chunks)) {
            return DatasetFile(std::make_shared<const PartialDataset>(*std::move(partial)));
        }
        lock.lock();
    }
    return Unexpected{ask(task, artifact, urgency, request).error.value_or(FetchError::kPending)};
}

void Fetcher::want_chunks(
    const contracts::TaskId& task, const Reference& artifact, Urgency urgency,
    const std::shared_ptr<const ChunkRequest>& request
) {
    cache_.pin(task, artifact.name);
    if (!own_.has(artifact.name) && !cache_.has(artifact.name)) {
        static_cast<void>(get_chunks(task, artifact, urgency, request));
    }
}

void Fetcher::keep_chunk_leaves(const Hash256& dataset, const merkle::Tree& tree) const {
    const Bytes leaves = encode_chunk_leaves(tree);
    for (const ContentStore* store : {&own_, &cache_.store()}) {
        if (!store->has(dataset)) {
            continue;
        }
        // Another task may have named the same file, as a dataset with another root.
        const auto known = store->leaves(dataset);
        if (!known || !std::equal(leaves.begin(), leaves.end(), known->view().begin(), known->view().end())) {
            store->put_leaves(dataset, leaves);
        }
    }
}

void Fetcher::note_own(const contracts::TaskId& task, const Hash256& name) { cache_.pin(task, name); }

void Fetcher::want(const contracts::TaskId& task, const Reference& artifact, std::uint64_t size_max, Urgency urgency) {
    if (artifact.size_bytes > size_max) {
        return;
    }
    cache_.pin(task, artifact.name);
    if (!own_.has(artifact.name) && !cache_.has(artifact.name)) {
        const std::lock_guard lock(mutex_);
        ask(task, artifact, urgency);
    }
}

std::uint32_t Fetcher::failures(const Reference& artifact) const {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(key_of(artifact));
    return found == jobs_.end() ? 0 : found->second.failures;
}

void Fetcher::forget(const contracts::TaskId& task) {
    cache_.unpin(task);
    const std::lock_guard lock(mutex_);
    for (auto& [key, job] : jobs_) {
        job.is_forgotten = job.is_forgotten || job.task == task;
    }
    std::erase_if(jobs_, [](const auto& item) { return item.second.is_forgotten && !item.second.is_running; });
    std::erase_if(hosts_, [&](const auto& item) {
        return !item.second.is_busy &&
               std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job.second.host == item.first; });
    });
}

std::optional<Fetcher::Key> Fetcher::take(bool disputes_only) {
    const auto now = Clock::now();
    std::optional<std::tuple<Urgency, std::uint32_t, std::uint64_t>> best;
    std::optional<Key> out;
    for (const auto& [key, job] : jobs_) {
        const bool is_dispute = job.urgency == Urgency::kDispute;
        const Host& host = hosts_[job.host];
        // Another location of an artifact that is being downloaded goes on where this one ends.
        const bool is_running = running_.contains(job.artifact.name);
        const bool may_run = job.is_wanted && !is_running && !host.is_busy && (is_dispute || !disputes_only) &&
                             job.not_before <= now && host.not_before <= now;
        const std::tuple rank(job.urgency, host.failures, job.order);
        if (may_run && (!best || rank < *best)) {
            best = rank;
            out = key;
        }
    }
    if (out) {
        Job& job = jobs_.at(*out);
        job.is_running = true;
        job.is_wanted = false;
        running_.insert(job.artifact.name);
        hosts_[job.host].is_busy = true;
    }
    return out;
}

void Fetcher::run(bool disputes_only) {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        const auto key = take(disputes_only);
        if (!key) {
            changed_.wait_for(lock, kLook);
            continue;
        }
        const Job job = jobs_.at(*key);
        lock.unlock();
        const std::optional<FetchError> error = attempt(job);
        lock.lock();
        finish(*key, error);
    }
}

std::vector<NearbyState> Fetcher::nearby(const Job& job) const {
    std::vector<NearbyState> out;
    for (const Hash256& hash : job.artifact.state ? cache_.pinned(job.task) : std::set<Hash256>{}) {
        for (const ContentStore* store : {&own_, &cache_.store()}) {
            auto file = StoredFile::open(store->path(hash));
            auto leaves = store->leaves(hash);
            if (file && leaves) {
                out.push_back({*std::move(file), *std::move(leaves)});
            }
        }
    }
    return out;
}

std::optional<FetchError> Fetcher::attempt_whole(const Job& job) {
    // Asked before the transfer, so that nobody transfers what nobody can keep.
    if (!cache_.reserve(job.artifact.name, job.artifact.size_bytes, job.urgency)) {
        return FetchError::kNoRoom;
    }
    const auto file = download(job.artifact, cache_.store(), options_.limits, nearby(job));
    return file ? std::nullopt : std::optional(file.error());
}

std::optional<FetchError> Fetcher::attempt_chunks(const Job& job) {
    std::uint64_t size_bytes = size_bytes_of(*job.chunks);  // besides the chunks of other segments
    for (const ContentStore::Entry& partial : cache_.store().partials()) {
        size_bytes += partial.hash == job.artifact.name ? partial.size_bytes : 0;
    }
    if (!cache_.reserve(job.artifact.name, size_bytes, job.urgency)) {
        return FetchError::kNoRoom;
    }
    const auto dataset = fetch_chunks(job.artifact, *job.chunks, cache_.store(), options_.limits);
    return dataset ? std::nullopt : std::optional(dataset.error());
}

std::optional<FetchError> Fetcher::attempt(const Job& job) {
    std::optional<FetchError> error;
    try {
        error = job.chunks ? attempt_chunks(job) : attempt_whole(job);
        // ART-19: who serves the whole file and no chunks, or wrong ones, keeps nobody from working. A host that does
        // not answer is asked for chunks once more first.
        const bool may_serve_it = error && *error != FetchError::kNoRoom && (!is_of_host(*error) || job.failures > 0);
        if (job.chunks && may_serve_it && !stop_) {
            error = attempt_whole(job);
        }
    } catch (const StoreError&) {
        error = FetchError::kNoRoom;
    } catch (const std::bad_alloc&) {
        error = FetchError::kNoRoom;
    } catch (const std::system_error&) {  // no thread for another source
        error = FetchError::kNoRoom;
    }
    cache_.settle(job.artifact.name);
    return error;
}

void Fetcher::finish(const Key& key, std::optional<FetchError> error) {
    Job& job = jobs_.at(key);
    Host& host = hosts_[job.host];
    const auto now = Clock::now();
    host.is_busy = false;
    running_.erase(job.artifact.name);
    job.is_running = false;
    job.error = error;
    if (error == FetchError::kNoRoom) {
        job.not_before = now + kNoRoomPause;
    } else if (error) {
        job.not_before = now + backoff(++job.failures);
    }
    if (error && is_of_host(*error)) {
        host.not_before = now + backoff(++host.failures);
    } else if (error != FetchError::kNoRoom) {
        host.failures = 0;
    }
    if (!error || job.is_forgotten) {
        jobs_.erase(key);
    }
    ++finished_;
    changed_.notify_all();
}

}  // namespace assay::artifacts
