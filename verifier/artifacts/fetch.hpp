// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/state/transaction.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] FetchError : std::uint8_t {
    kUnreachable = 1,  ///< nobody answers at the location, the answer broke off, or the location is no URL
    kMissing = 2,      ///< somebody answers and does not have it (any status but 200)
    kMismatch = 3,     ///< ART-7: what was served is not what the reference names
    kTooLarge = 4,     ///< the reference is larger than we take
    kPending = 5,      ///< it is being fetched, and no attempt is over yet
    kForbidden = 6,    ///< the location is an address of a private network
    kNoRoom = 7,       ///< the disk has no room for it
};
const char* to_string(FetchError error) noexcept;

struct FetchLimits {
    std::uint64_t size_max = 1U << 30U;
    std::chrono::milliseconds timeout{10'000};  ///< extended by what is received
    std::chrono::milliseconds connect_timeout{2'000};
    std::uint64_t bytes_per_s = 131'072;  ///< the least average rate of what takes longer than `timeout`
    bool public_only = false;             ///< connects to no address of a private network
    const std::atomic<bool>* stop = nullptr;
};

/// ART-7: the bytes that `artifact` names, from <location>/artifact/<hex>, checked against size and hash.
Result<Bytes, FetchError> download(const contracts::ArtifactRef& artifact, const FetchLimits& limits = {});

/// The same from the store, or else downloaded now and kept in the store. Throws StoreError only.
Result<Bytes, FetchError> fetch(
    const contracts::ArtifactRef& artifact, const ContentStore& store, const FetchLimits& limits = {}
);

}  // namespace assay::artifacts
