// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/fetch_chunks.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <client/http/http.hpp>
#include <core/base/integers.hpp>
#include <verifier/artifacts/sources.hpp>

namespace assay::artifacts {
namespace {

/// What a server that refuses may say.
constexpr std::uint64_t kMessageBytes = 4'096;
/// Where a store gives ranges only, chunks at most so far apart are read in one piece with what is between them.
constexpr std::uint64_t kGapChunks = 64;

/// The body of an answer with status 200.
Result<std::string, FetchError> get_body(
    const http::HttpCall& call, const Source& source, const FetchLimits& limits, std::uint64_t size_max
) {
    try {
        auto response = http::http_call(call, http_limits(limits, source, std::max(size_max, kMessageBytes)));
        if (response.status != 200) {
            return Unexpected{FetchError::kMissing};
        }
        return std::move(response.body);
    } catch (const http::NetError& error) {
        return Unexpected{error_of(error)};
    }
}

/// ART-17: from the first source that has them; the operator's are asked first.
Result<merkle::Tree, FetchError> fetch_tree(
    const Reference& artifact, const ExpectedDataset& dataset, const std::vector<Source>& sources,
    const FetchLimits& limits
) {
    FetchError error = FetchError::kMissing;
    for (std::size_t i = sources.size(); i-- > 0;) {
        const auto body = read_leaves(sources[i], artifact, chunk_leaves_bytes(dataset.shape), limits);
        auto tree = body ? decode_chunk_leaves(dataset, as_bytes(*body)) : std::nullopt;
        if (tree) {
            return *std::move(tree);
        }
        error = body ? FetchError::kMismatch : body.error();
    }
    return Unexpected{error};
}

/// The chunks that are still to come, from any number of sources at a time.
class ChunkDownload {
  public:
    ChunkDownload(
        const Reference& artifact, const FetchLimits& limits, const PartialDataset& into,
        std::vector<std::uint64_t> missing
    )
        : artifact_(artifact), limits_(limits), into_(into), missing_(std::move(missing)) {}

    Result<void, FetchError> run(const std::vector<Source>& sources) {
        share_ = std::clamp<std::size_t>(div_ceil(missing_.size(), sources.size()), 1, kChunksPerRequest);
        std::vector<std::optional<FetchError>> errors(sources.size());
        // A source that fails gives back what it was asked for, maybe after the others have ended.
        while (!missing_.empty()) {
            if (std::all_of(errors.begin(), errors.end(), [](const auto& error) { return error.has_value(); })) {
                return Unexpected{*errors.front()};
            }
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < sources.size(); ++i) {
                if (!errors[i]) {
                    threads.emplace_back([this, &sources, &errors, i] { errors[i] = attend(sources[i]); });
                }
            }
            threads.clear();
            if (const auto thrown = std::exchange(thrown_, nullptr)) {
                std::rethrow_exception(thrown);
            }
        }
        return {};
    }

  private:
    std::optional<FetchError> attend(const Source& source) noexcept {
        try {
            return pull(source);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            thrown_ = std::current_exception();
        }
        return FetchError::kNoRoom;
    }

    std::optional<FetchError> pull(const Source& source) {
        bool has_brought = false;
        for (auto share = take(); !share.empty(); share = take()) {
            const auto done = request(source, share);
            if (!done) {
                const std::lock_guard lock(mutex_);
                missing_.insert(missing_.end(), share.begin(), share.end());
            }
            // A connection that breaks after others brought something is followed by another one.
            if (!done && (!has_brought || done.error() != FetchError::kUnreachable || is_stopped())) {
                return done.error();
            }
            has_brought = done.has_value();
        }
        return std::nullopt;
    }

    std::vector<std::uint64_t> take() {
        const std::lock_guard lock(mutex_);
        const std::size_t count = thrown_ ? 0 : std::min(missing_.size(), share_);
        const auto first = missing_.end() - static_cast<std::ptrdiff_t>(count);
        std::vector<std::uint64_t> share(first, missing_.end());
        missing_.erase(first, missing_.end());
        std::sort(share.begin(), share.end());
        return share;
    }

    Result<void, FetchError> request(const Source& source, std::span<const std::uint64_t> chunks) {
        const auto call = server_call_of(source, artifact_, "/chunks/" + encode_chunk_list(chunks));
        if (!call) {
            return request_ranges(source, chunks);
        }
        std::uint64_t size_bytes = 0;
        for (const std::uint64_t chunk : chunks) {
            size_bytes += into_.size_of_chunk(chunk);
        }
        TRY_ASSIGN(const std::string body, get_body(*call, source, limits_, size_bytes));
        ByteView bytes = as_bytes(body);
        if (bytes.size() != size_bytes) {
            return Unexpected{FetchError::kMismatch};
        }
        for (const std::uint64_t chunk : chunks) {
            const std::uint64_t size = into_.size_of_chunk(chunk);
            if (!into_.put(chunk, bytes.first(size))) {
                return Unexpected{FetchError::kMismatch};
            }
            bytes = bytes.subspan(size);
        }
        return {};
    }

    /// ART-21: of a store that knows no lists of chunks.
    Result<void, FetchError> request_ranges(const Source& source, std::span<const std::uint64_t> chunks) {
        while (!chunks.empty()) {
            std::size_t count = 1;
            while (count < chunks.size() && chunks[count] - chunks[count - 1] <= kGapChunks) {
                ++count;
            }
            TRY(request_range(source, chunks.first(count)));
            chunks = chunks.subspan(count);
        }
        return {};
    }

    Result<void, FetchError> request_range(const Source& source, std::span<const std::uint64_t> chunks) {
        const std::uint64_t begin = chunks.front() * canonical::kChunkBytes;
        const std::uint64_t end = chunks.back() * canonical::kChunkBytes + into_.size_of_chunk(chunks.back());
        Bytes bytes;
        const auto keep = [&](std::uint64_t offset, ByteView piece) {
            const std::uint64_t from = std::max(offset, begin);
            const std::uint64_t to = std::min(offset + piece.size(), end);
            if (from < to) {
                append(bytes, piece.subspan(from - offset, to - from));
            }
            return offset + piece.size() < end;
        };
        const auto bounds = http_limits(limits_, source, std::numeric_limits<std::uint64_t>::max());
        TRY(read_from(source, {artifact_.name, false}, begin, end - 1, keep, bounds));
        for (const std::uint64_t chunk : chunks) {
            const std::uint64_t at = chunk * canonical::kChunkBytes - begin;
            const std::uint64_t size = into_.size_of_chunk(chunk);
            if (bytes.size() < at + size || !into_.put(chunk, ByteView(bytes).subspan(at, size))) {
                return Unexpected{FetchError::kMismatch};
            }
        }
        return {};
    }

    bool is_stopped() const { return limits_.stop != nullptr && *limits_.stop; }

    const Reference& artifact_;
    const FetchLimits& limits_;
    const PartialDataset& into_;
    std::mutex mutex_;
    std::vector<std::uint64_t> missing_;
    std::size_t share_ = kChunksPerRequest;  // of a source at a time
    std::exception_ptr thrown_;              // by one of the threads
};

}  // namespace

std::uint64_t size_bytes_of(const ChunkRequest& request) noexcept {
    return chunk_leaves_bytes(request.dataset.shape) + request.chunks.size() * canonical::kChunkBytes;
}

Result<PartialDataset, FetchError> fetch_chunks(
    const Reference& artifact, const ChunkRequest& request, const ContentStore& store, const FetchLimits& limits
) {
    const std::vector<Source> sources = sources_of(artifact, limits);
    auto dataset = PartialDataset::open(store, artifact.name, request.dataset);
    if (!dataset) {
        TRY_ASSIGN(auto tree, fetch_tree(artifact, request.dataset, sources, limits));
        dataset.emplace(PartialDataset::make(store, artifact.name, request.dataset, std::move(tree)));
    }
    std::vector<std::uint64_t> missing;
    std::copy_if(request.chunks.begin(), request.chunks.end(), std::back_inserter(missing), [&](std::uint64_t chunk) {
        return !dataset->has(chunk);
    });
    std::reverse(missing.begin(), missing.end());  // taken from the end
    TRY(ChunkDownload(artifact, limits, *dataset, std::move(missing)).run(sources));
    return *std::move(dataset);
}

}  // namespace assay::artifacts
