// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/chain/transaction.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] FetchError : std::uint8_t {
    kUnreachable = 1,  ///< nobody answers at the location, the answer broke off, or the location is no URL
    kMissing = 2,      ///< somebody answers and does not have it (any status but 200)
    kMismatch = 3,     ///< ART-7: what was served is not what the reference names
    kTooLarge = 4,     ///< the reference is larger than we take
};
const char* to_string(FetchError error) noexcept;

struct FetchLimits {
    std::uint64_t size_max = 1U << 30U;
    std::chrono::milliseconds timeout{30'000};
};

/// ART-7: the bytes that `artifact` names: from the store, or from <location>/artifact/<hex>, checked against size
/// and hash, and then kept in the store. Throws StoreError only.
Result<Bytes, FetchError> fetch(
    const contracts::ArtifactRef& artifact, const ContentStore& store, FetchLimits limits = {}
);

}  // namespace assay::artifacts
