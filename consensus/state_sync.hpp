// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>

/// What a consensus engine asks of a node so that new nodes need not execute every block: in the shape of ABCI 2.0.
namespace assay::consensus {

/// The whole state after one block, in numbered chunks. Every node makes the same ones.
struct SnapshotInfo {
    Height height;
    std::uint32_t format = 0;
    std::uint32_t chunks = 0;
    Hash256 hash;    ///< of the metadata
    Bytes metadata;
    bool operator==(const SnapshotInfo&) const = default;
};

enum class OfferAnswer : std::uint8_t {
    kAccept = 1,
    kAbort = 2,         ///< no snapshot is wanted
    kReject = 3,        ///< not this one
    kRejectFormat = 4,  ///< none of this format
};

enum class ApplyAnswer : std::uint8_t {
    kAccept = 1,
    kAbort = 2,           ///< no snapshot is being restored
    kRetry = 3,           ///< this chunk again, from somebody else
    kRejectSnapshot = 4,  ///< the snapshot is not what it was said to be
};

class StateSync {
  public:
    virtual ~StateSync() = default;

    /// Those that can be loaded, the latest first. Any thread.
    virtual std::vector<SnapshotInfo> snapshots() const = 0;
    /// nullopt: there is no such chunk. Any thread.
    virtual std::optional<Bytes> load_chunk(Height height, std::uint32_t format, std::uint32_t index) const = 0;

    /// Whether to restore a snapshot that some peer has. `app_hash` is known to be that of its height. Begins over
    /// when one is being restored.
    virtual OfferAnswer offer(const SnapshotInfo& snapshot, const Hash256& app_hash) = 0;
    /// The chunks of the one that was accepted, in order. After the last the state machine is at its height.
    virtual ApplyAnswer apply_chunk(std::uint32_t index, const Bytes& chunk, const std::string& sender) = 0;
};

}  // namespace assay::consensus
