// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <contracts/transaction/transaction.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/compile/program/program.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] FetchError : std::uint8_t{
    kUnreachable = 1,  ///< no answer at the location, an aborted response, or an invalid URL
    kMissing = 2,      ///< the server does not have it (any status other than 200)
    kMismatch = 3,     ///< ART-7: the bytes do not match the reference
    kTooLarge = 4,     ///< ART-12: the referenced size is more than the task's program allows
    kPending = 5,      ///< being fetched; no attempt has finished yet
    kForbidden = 6,    ///< the location is a private network address
    kNoRoom = 7,       ///< the disk has no room for it
};
const char* to_string(FetchError error) noexcept;

struct FetchLimits {
    std::chrono::milliseconds timeout{10'000};  ///< of one connection, extended while data arrives at bytes_per_s
    std::chrono::milliseconds connect_timeout{2'000};
    std::chrono::milliseconds idle_timeout{10'000};  ///< the longest time without a byte
    std::uint64_t bytes_per_s = 131'072;             ///< minimum average rate once a connection is older than `timeout`
    bool public_only = false;                        ///< refuse to connect to private network addresses
    /// Locations that may have any artifact, tried besides the one in its reference. They are the operator's choice, so
    /// `public_only` does not hold for them.
    std::vector<std::string> mirrors{};
    const std::atomic<bool>* stop = nullptr;
};

/// What is known of a checkpoint before it is there.
struct ExpectedState {
    std::vector<program::StateTensor> tensors;
    Hash256 root;
    std::vector<bool> may_lack{};  ///< for each tensor; a file has all or none of these (ART-10); empty: none
};
ExpectedState expected_state(const program::Program& program, const Hash256& root);

/// Another state of the same types, with the hashes of its tiles. Nothing has to be right.
struct NearbyState {
    StoredFile file;
    StoredFile leaves;
};

/// ART-7: downloads `artifact` from <location>/artifact/<hex> into the store and verifies its size and hash. What
/// arrives goes straight to the disk. ART-13: a connection that breaks after some progress is followed by another one,
/// and what an earlier download has left is not transferred again. ART-14: the mirrors bring parts too.
/// ART-16: if the artifact is to be `state`, and a source has the hashes of its tiles, each part is checked as it
/// arrives, and what is the same in one of `nearby` is copied from there. Fails with FetchError; throws StoreError.
Result<StoredFile, FetchError> download(
    const contracts::ArtifactRef& artifact, const ContentStore& store, const FetchLimits& limits = {},
    const ExpectedState* state = nullptr, const std::vector<NearbyState>& nearby = {}
);

/// Returns the artifact from the store, or else downloads it. Fails with FetchError, kTooLarge if the reference names
/// more than `size_max` bytes (ART-12); throws StoreError only.
Result<StoredFile, FetchError> fetch(
    const contracts::ArtifactRef& artifact, std::uint64_t size_max, const ContentStore& store,
    const FetchLimits& limits = {}, const ExpectedState* state = nullptr
);

}  // namespace assay::artifacts
