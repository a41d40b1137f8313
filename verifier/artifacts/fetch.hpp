// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] FetchError : std::uint8_t{
    kUnreachable = 1,  ///< no answer at the location, an aborted response, or an invalid URL
    kMissing = 2,      ///< the server does not have it (any status other than 200)
    kMismatch = 3,     ///< ART-7: the bytes do not match the reference
    kTooLarge = 4,     ///< the referenced size exceeds our limit
    kPending = 5,      ///< being fetched; no attempt has finished yet
    kForbidden = 6,    ///< the location is a private network address
    kNoRoom = 7,       ///< the disk has no room for it
};
const char* to_string(FetchError error) noexcept;

struct FetchLimits {
    std::uint64_t size_max = 1U << 30U;
    std::chrono::milliseconds timeout{10'000};  ///< extended while data arrives at bytes_per_s
    std::chrono::milliseconds connect_timeout{2'000};
    std::uint64_t bytes_per_s = 131'072;  ///< minimum average rate once a transfer exceeds `timeout`
    bool public_only = false;             ///< refuse to connect to private network addresses
    const std::atomic<bool>* stop = nullptr;
};

/// ART-7: downloads `artifact` from <location>/artifact/<hex> and verifies its size and hash. Fails with FetchError.
Result<Bytes, FetchError> download(const contracts::ArtifactRef& artifact, const FetchLimits& limits = {});

/// Returns the artifact from the store, or else downloads it and stores it. Fails with FetchError; throws StoreError
/// only.
Result<Bytes, FetchError> fetch(
    const contracts::ArtifactRef& artifact, const ContentStore& store, const FetchLimits& limits = {}
);

}  // namespace assay::artifacts
