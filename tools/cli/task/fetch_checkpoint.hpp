// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <contracts/state/task.hpp>
#include <client/proof.hpp>
#include <client/rpc_client.hpp>

namespace assay::cli {

struct FetchedCheckpoint {
    std::uint32_t index = 0;
    contracts::Checkpoint checkpoint;  ///< the proven record
    Bytes bytes;                       ///< the safetensors file
};

/// Downloads checkpoint `index` of a task (default: the last one) and verifies it against the chain: both records
/// proven and signed, the artifact's SHA-256, the program's commitment, and the state root of its tensors. Throws
/// RpcError, NetError, Mismatch, and Failure kExitNotFound or kExitInvalidArtifact.
FetchedCheckpoint fetch_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& task, std::optional<std::uint32_t> index,
    const client::Trust& trust = {}
);

}  // namespace assay::cli
