// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>

/// State sync in the shape of ABCI 2.0: what a consensus engine asks of a node so that new nodes need not execute every
/// block.
namespace assay::consensus {

/// A snapshot of the whole state after one block, in numbered chunks. All nodes make identical snapshots.
struct SnapshotInfo {
    Height height;
    std::uint32_t format = 0;
    std::uint32_t chunks = 0;
    Hash256 hash;  ///< SHA-256 of the metadata
    Bytes metadata;
    bool operator==(const SnapshotInfo&) const = default;
};

enum class OfferAnswer : std::uint8_t {
    kAccept = 1,
    kAbort = 2,         ///< do not restore any snapshot
    kReject = 3,        ///< do not restore this snapshot
    kRejectFormat = 4,  ///< do not restore any snapshot of this format
};

enum class ApplyAnswer : std::uint8_t {
    kAccept = 1,
    kAbort = 2,           ///< no snapshot is being restored, or this chunk is not the next
    kRetry = 3,           ///< fetch this chunk again from another peer
    kRejectSnapshot = 4,  ///< the snapshot does not match its app hash or its metadata
};

class StateSync {
  public:
    virtual ~StateSync() = default;

    /// Returns the snapshots that can be loaded, the latest first. Thread-safe.
    virtual std::vector<SnapshotInfo> snapshots() const = 0;
    /// Returns a chunk of a snapshot, or nullopt if there is none. Thread-safe.
    virtual std::optional<Bytes> load_chunk(Height height, std::uint32_t format, std::uint32_t index) const = 0;

    /// Decides whether to restore a snapshot that a peer offers. `app_hash` must be the verified app hash of its
    /// height. If another snapshot is being restored, an accepted offer starts the restore again from the beginning.
    virtual OfferAnswer offer(const SnapshotInfo& snapshot, const Hash256& app_hash) = 0;
    /// Applies the next chunk of the accepted snapshot; `sender` is the peer that sent it. Chunks must come in order.
    /// After the last one the state machine is at the snapshot's height.
    virtual ApplyAnswer apply_chunk(std::uint32_t index, const Bytes& chunk, const std::string& sender) = 0;
};

}  // namespace assay::consensus
