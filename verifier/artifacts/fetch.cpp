// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/fetch.hpp>

#include <algorithm>
#include <optional>
#include <string>

#include <core/crypto/hash.hpp>
#include <client/http/http.hpp>

namespace assay::artifacts {

const char* to_string(FetchError error) noexcept {
    switch (error) {
        case FetchError::kUnreachable:
            return "nobody answers at its location";
        case FetchError::kMissing:
            return "its location does not have it";
        case FetchError::kMismatch:
            return "what is served does not match its hash";
        case FetchError::kTooLarge:
            return "it is larger than this worker takes";
        case FetchError::kPending:
            return "it is being fetched";
        case FetchError::kForbidden:
            return "its location is in a private network, which --allow-private-addresses would allow";
        case FetchError::kNoRoom:
            return "the disk has no room for it";
    }
    return "";
}

Result<Bytes, FetchError> download(const contracts::ArtifactRef& artifact, const FetchLimits& limits) {
    if (artifact.size_bytes > limits.size_max) {
        return Unexpected{FetchError::kTooLarge};
    }
    std::string url = artifact.location;
    while (url.ends_with('/')) {
        url.pop_back();
    }
    url += "/artifact/" + to_hex(artifact.sha256.view());
    try {
        // One byte more than named would already be a mismatch; the room for it keeps the two errors apart.
        const std::uint64_t body_max = std::max<std::uint64_t>(artifact.size_bytes + 1, 4096);
        const auto response = http::http_get(
            url, {.timeout = limits.timeout,
                  .body_max = body_max,
                  .connect_timeout = limits.connect_timeout,
                  .bytes_per_s = limits.bytes_per_s,
                  .public_only = limits.public_only,
                  .stop = limits.stop}
        );
        if (response.status != 200) {
            return Unexpected{FetchError::kMissing};
        }
        const ByteView body = as_bytes(response.body);
        if (body.size() != artifact.size_bytes || crypto::sha256(body) != artifact.sha256) {
            return Unexpected{FetchError::kMismatch};
        }
        return Bytes(body.begin(), body.end());
    } catch (const http::NetForbidden&) {
        return Unexpected{FetchError::kForbidden};
    } catch (const http::NetError&) {
        return Unexpected{FetchError::kUnreachable};
    }
}

Result<Bytes, FetchError> fetch(
    const contracts::ArtifactRef& artifact, const ContentStore& store, const FetchLimits& limits
) {
    if (artifact.size_bytes > limits.size_max) {
        return Unexpected{FetchError::kTooLarge};
    }
    if (auto stored = store.get(artifact.sha256); stored && stored->size() == artifact.size_bytes) {
        return *std::move(stored);
    }
    auto bytes = download(artifact, limits);
    if (bytes) {
        store.put(*bytes);
    }
    return bytes;
}

}  // namespace assay::artifacts
