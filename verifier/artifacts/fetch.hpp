// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <verifier/artifacts/reference.hpp>
#include <verifier/artifacts/store.hpp>
#include <verifier/stores/credentials.hpp>

namespace assay::artifacts {

enum class [[nodiscard]] FetchError : std::uint8_t{
    kUnreachable = 1,  ///< no answer at the location, an aborted response, or an invalid URL
    kMissing = 2,      ///< the server does not have it (any status other than 200), or not the hashes of its tiles
    kMismatch = 3,     ///< ART-7: the bytes are not those of the reference
    kTooLarge = 4,     ///< ART-12: the referenced size is more than the task's program allows
    kPending = 5,      ///< being fetched; no attempt has finished yet
    kForbidden = 6,    ///< the location is a private network address
    kNoRoom = 7,       ///< the disk has no room for it
    kSealed = 8,       ///< PRV-3: a private task's, whose keys are not shared with this account
    kUnopened = 9,     ///< PRV-2: a private task's, and what lies in the store is not sealed under the task's key
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
    /// What mirrors are asked with that want a signature.
    std::optional<stores::Credentials> credentials{};
    const std::atomic<bool>* stop = nullptr;
    std::atomic<std::uint64_t>* checkpoint_bytes = nullptr;  ///< counts what arrives of checkpoints and their hashes
};

/// Another state of the same types, with the hashes of its tiles. Nothing has to be right.
struct NearbyState {
    StoredFile file;
    StoredFile leaves;
};

/// Downloads the artifact from its locations (ART-20) into the store. What arrives goes straight to the disk.
/// ART-13: a connection that breaks after some progress is followed by another one, and what an earlier download has
/// left is not transferred again. ART-14: the mirrors bring parts too. ART-7: the SHA-256 of the whole is verified, or
/// the root of a sealed file (ART-24); or, of a checkpoint, each part as it arrives by the hashes of its tiles
/// (ART-16), and what is the same in one of `nearby` is copied from there. Fails with FetchError; throws StoreError.
Result<StoredFile, FetchError> download(
    const Reference& artifact, const ContentStore& store, const FetchLimits& limits = {},
    const std::vector<NearbyState>& nearby = {}
);

/// Returns the artifact if the store has it, verified unless it is a checkpoint or sealed; nullopt otherwise. Throws
/// StoreError.
std::optional<StoredFile> find_stored(const Reference& artifact, const ContentStore& store);

/// Returns the artifact from the store, or else downloads it. Fails with FetchError, kTooLarge if the reference names
/// more than `size_max` bytes (ART-12); throws StoreError only.
Result<StoredFile, FetchError> fetch(
    const Reference& artifact, std::uint64_t size_max, const ContentStore& store, const FetchLimits& limits = {}
);

}  // namespace assay::artifacts
