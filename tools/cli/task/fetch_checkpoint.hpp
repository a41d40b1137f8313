// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include <contracts/state/task.hpp>
#include <client/proof.hpp>
#include <client/rpc_client.hpp>
#include <core/crypto/keys.hpp>

namespace assay::cli {

struct FetchedCheckpoint {
    std::uint32_t index = 0;
    contracts::Checkpoint checkpoint;  ///< the proven record
    std::uint64_t size_bytes = 0;      ///< of the safetensors file
};

/// Downloads checkpoint `index` of a task (default: the last one) and verifies it against the chain: both records
/// proven and signed, the artifact's SHA-256, the program's commitment, and the state root of its tensors. The
/// safetensors file is written to `out`. What arrives is kept in the directory `<out>.parts` until then, so that
/// another call goes on where this one was cut off; it stays behind if nobody serves the rest. Throws RpcError,
/// NetError, StoreError, Mismatch, and Failure kExitNotFound, kExitUnreachable or kExitInvalidArtifact.
///
/// With `local`, what the store in this directory has of the program and the checkpoint is not fetched.
///
/// What a private task has in stores is opened with the key of its submitter, which `unlock` returns; then `out` is the
/// only plaintext that stays. Throws Failure kExitUsage if that key has not sealed the task.
FetchedCheckpoint fetch_checkpoint(
    client::RpcClient& rpc, const contracts::TaskId& task, std::optional<std::uint32_t> index,
    const std::filesystem::path& out, const client::Trust& trust = {},
    const std::function<crypto::SecretKey()>& unlock = {}, const std::filesystem::path& local = {}
);

}  // namespace assay::cli
