// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/fetch.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <client/http/http.hpp>
#include <verifier/artifacts/hashing.hpp>
#include <verifier/artifacts/partial_file.hpp>
#include <verifier/artifacts/sources.hpp>
#include <verifier/artifacts/state_parts.hpp>

namespace assay::artifacts {
namespace {

/// What one of several sources is asked for at a time.
constexpr std::uint64_t kShareBytes = 16U << 20U;

/// ART-15: the hashes of a state's tiles, if they are this state's. Its frozen tensors are those of the task: nothing
/// that arrives would show that others are meant.
std::optional<Leaves> leaves_from(const ExpectedState& state, ByteView bytes) {
    const auto types = program::types_of(state.tensors);
    auto leaves = decode_leaves(types, state.root, bytes);
    for (std::size_t i = 0; leaves && i < state.lacking.size(); ++i) {
        if (state.lacking[i] && commit_leaves(types[i], (*leaves)[i]) != *state.lacking[i]) {
            leaves.reset();
        }
    }
    return leaves;
}

void count(const FetchLimits& limits, std::uint64_t bytes) {
    if (limits.checkpoint_bytes != nullptr) {
        *limits.checkpoint_bytes += bytes;
    }
}

/// ART-15: the hashes of the state's tiles, from the first source that has them; the operator's are asked first. Fails
/// with kMissing if those that answer have none, and with the error of the artifact's location if nobody answers.
Result<Leaves, FetchError> fetch_leaves(
    const Reference& artifact, const std::vector<Source>& sources, const FetchLimits& limits
) {
    const ExpectedState& state = *artifact.state;
    const auto types = program::types_of(state.tensors);
    FetchError error = FetchError::kUnreachable;
    bool has_answer = false;
    for (std::size_t i = sources.size(); i-- > 0;) {
        const auto bytes = read_leaves(sources[i], artifact, leaves_bytes(types), limits);
        if (bytes) {
            count(limits, bytes->size());
            if (auto leaves = leaves_from(state, as_bytes(*bytes))) {
                return *std::move(leaves);
            }
        }
        const bool is_silent =
            !bytes && (bytes.error() == FetchError::kForbidden || bytes.error() == FetchError::kUnreachable);
        has_answer = has_answer || !is_silent;
        error = is_silent ? bytes.error() : error;
    }
    return Unexpected{has_answer ? FetchError::kMissing : error};
}

/// The plan by which each part of a checkpoint can be checked. Fails as fetch_leaves() does.
Result<std::shared_ptr<const StateParts>, FetchError> plan_state(
    const Reference& artifact, const ContentStore& store, const FetchLimits& limits
) {
    const ExpectedState& state = *artifact.state;
    std::optional<Leaves> leaves;
    if (const auto stored = store.leaves(artifact.name)) {  // by an earlier attempt
        leaves = leaves_from(state, stored->view());
    }
    if (!leaves) {
        TRY_ASSIGN(leaves, fetch_leaves(artifact, sources_of(artifact, limits), limits));
        store.put_leaves(artifact.name, encode_leaves(*leaves));
    }
    return std::make_shared<const StateParts>(state, *std::move(leaves));
}

/// One artifact on its way into a store.
class Download {
  public:
    Download(
        const Reference& artifact, const ContentStore& store, const FetchLimits& limits,
        std::shared_ptr<const PartPlan> plan
    )
        : artifact_(artifact), limits_(limits), plan_(std::move(plan)), partial_(store, artifact.name, plan_) {}

    /// Takes what is known or can be had on this machine. Wrong bytes are not taken.
    void take_nearby(const StateParts& parts, const std::vector<NearbyState>& nearby) {
        const ExpectedState& state = *artifact_.state;
        partial_.write(0, parts.head());
        for (const NearbyState& other : nearby) {
            if (other.file.size_bytes() != artifact_.size_bytes ||
                other.leaves.size_bytes() != leaves_bytes(program::types_of(state.tensors))) {
                continue;
            }
            const Leaves leaves = split_leaves(program::types_of(state.tensors), other.leaves.view());
            for (std::uint64_t part = 1; part < parts.ends().size() && !is_stopped(); ++part) {
                if (parts.is_same(part, leaves)) {
                    const std::uint64_t begin = parts.begin_of(part);
                    partial_.write(begin, other.file.view().subspan(begin, parts.ends()[part] - begin));
                }
            }
        }
    }

    Result<void, FetchError> run() {
        const std::vector<Source> sources = sources_of(artifact_, limits_);
        const bool is_of_one = sources.size() == 1 && partial_.parts_done() == 0;
        TRY(transfer(sources));
        if (partial_.finish()) {
            return {};
        }
        if (is_of_one) {
            return Unexpected{FetchError::kMismatch};
        }
        // ART-14: somebody has sent wrong bytes, and the hash does not say who. So everything comes from one source,
        // first from those that the operator has chosen.
        for (std::size_t i = sources.size(); i-- > 0;) {
            partial_.clear();
            if (transfer(std::span(&sources[i], 1)) && partial_.finish()) {
                return {};
            }
        }
        return Unexpected{FetchError::kMismatch};
    }

  private:
    /// Returns when all parts are there. Otherwise fails with the error of the first source.
    Result<void, FetchError> transfer(std::span<const Source> sources) {
        is_over_ = partial_.is_complete();
        const std::uint64_t share = std::min(artifact_.size_bytes / sources.size(), kShareBytes);
        std::vector<std::optional<FetchError>> errors(sources.size());
        {
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < sources.size(); ++i) {
                others.emplace_back([this, &sources, &errors, share, i] { errors[i] = attend(sources[i], share); });
            }
            errors[0] = attend(sources[0], sources.size() == 1 ? artifact_.size_bytes : share);
        }
        if (const auto thrown = std::exchange(thrown_, nullptr)) {
            std::rethrow_exception(thrown);
        }
        if (!partial_.is_complete()) {
            return Unexpected{errors[0].value_or(FetchError::kUnreachable)};
        }
        return {};
    }

    std::optional<FetchError> attend(const Source& source, std::uint64_t share) noexcept {
        try {
            return pull(source, share);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            thrown_ = std::current_exception();
            is_over_ = true;
        }
        return std::nullopt;
    }

    /// Asks the source for one share after another, until nothing is missing or it fails.
    std::optional<FetchError> pull(const Source& source, std::uint64_t share) {
        while (!is_over_) {
            const auto claim = partial_.claim(share);
            if (!claim) {
                break;
            }
            std::uint64_t received = 0;
            const auto error = request(source, *claim, received);
            partial_.release(*claim);
            is_over_ = is_over_ || partial_.is_complete();
            // A connection that brought a part and then broke is followed by another one.
            const bool brought_a_part = claim->first + received >= end_of_part_at(claim->first);
            if (error && (!brought_a_part || *error != FetchError::kUnreachable || is_stopped())) {
                return error;
            }
            if (!error && !brought_a_part && !is_over_) {
                return FetchError::kMismatch;  // its file is shorter than the reference says
            }
        }
        return std::nullopt;
    }

    std::optional<FetchError> request(const Source& source, const PartialFile::Claim& claim, std::uint64_t& received) {
        const bool is_whole = claim.first == 0 && claim.end == artifact_.size_bytes;
        const auto last = is_whole ? std::nullopt : std::optional(claim.end - 1);
        bool is_wrong = false;
        const auto sink = [&](std::uint64_t offset, ByteView piece) {
            count(limits_, artifact_.state || artifact_.is_sealed ? piece.size() : 0);
            // A server that does not know ranges begins at 0, and one with another file may not end.
            const std::uint64_t begin = std::max(offset, claim.first);
            const std::uint64_t end = std::min(offset + piece.size(), claim.end);
            if (begin < end) {
                received = end - claim.first;
                const auto written = partial_.write(begin, piece.subspan(begin - offset, end - begin));
                is_wrong = written == PartialFile::Written::kWrong;
                if (written != PartialFile::Written::kTaken) {
                    return false;
                }
            }
            return !is_over_ && offset + piece.size() <= claim.end;
        };
        http::HttpLimits limits = http_limits(limits_, source, std::numeric_limits<std::uint64_t>::max());
        limits.stop = [this] { return is_over_ || is_stopped(); };
        const auto done = read_from(source, {artifact_.name, false}, claim.first, last, sink, limits);
        if (!done) {
            return done.error();
        }
        return is_wrong ? std::optional(FetchError::kMismatch) : std::nullopt;
    }

    std::uint64_t end_of_part_at(std::uint64_t offset) const {
        return *std::upper_bound(plan_->ends().begin(), plan_->ends().end(), offset);
    }

    bool is_stopped() const { return limits_.stop != nullptr && *limits_.stop; }

    const Reference& artifact_;
    const FetchLimits& limits_;
    std::shared_ptr<const PartPlan> plan_;
    PartialFile partial_;
    std::atomic<bool> is_over_{false};
    std::mutex mutex_;
    std::exception_ptr thrown_;  // by one of the threads
};

}  // namespace

const char* to_string(FetchError error) noexcept {
    switch (error) {
        case FetchError::kUnreachable:
            return "nobody answers at its location";
        case FetchError::kMissing:
            return "its location does not have it";
        case FetchError::kMismatch:
            return "what is served does not match its hash";
        case FetchError::kTooLarge:
            return "it is larger than the task's program allows";
        case FetchError::kPending:
            return "it is being fetched";
        case FetchError::kForbidden:
            return "its location is in a private network, which --allow-private-addresses would allow";
        case FetchError::kNoRoom:
            return "the disk has no room for it";
        case FetchError::kSealed:
            return "it is sealed, and its keys are not shared with this account";
        case FetchError::kUnopened:
            return "what is served is not sealed under the task's key, or is another file";
    }
    return "";
}

Result<StoredFile, FetchError> download(
    const Reference& artifact, const ContentStore& store, const FetchLimits& limits,
    const std::vector<NearbyState>& nearby
) {
    if (artifact.state) {
        TRY_ASSIGN(const auto parts, plan_state(artifact, store, limits));
        Download checked(artifact, store, limits, parts);
        checked.take_nearby(*parts, nearby);
        TRY(checked.run());
    } else {
        const auto parts =
            artifact.is_sealed
                ? std::make_shared<const SealedParts>(artifact.size_bytes)
                : std::shared_ptr<const UncheckedParts>(std::make_shared<const UncheckedParts>(artifact.size_bytes));
        TRY(Download(artifact, store, limits, parts).run());
    }
    auto stored = store.open(artifact.name);
    if (!stored) {
        throw StoreError(store.path(artifact.name).string() + " was removed while it was downloaded");
    }
    return *std::move(stored);
}

std::optional<StoredFile> find_stored(const Reference& artifact, const ContentStore& store) {
    const bool is_checked_when_read = artifact.state || artifact.is_sealed;
    auto file = is_checked_when_read ? store.open(artifact.name) : store.get(artifact.name);
    return file && file->size_bytes() == artifact.size_bytes ? file : std::nullopt;
}

Result<StoredFile, FetchError> fetch(
    const Reference& artifact, std::uint64_t size_max, const ContentStore& store, const FetchLimits& limits
) {
    if (artifact.size_bytes > size_max) {
        return Unexpected{FetchError::kTooLarge};
    }
    if (auto stored = find_stored(artifact, store)) {
        return *std::move(stored);
    }
    return download(artifact, store, limits, {});
}

}  // namespace assay::artifacts
