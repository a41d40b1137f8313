// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/task.hpp>
#include <client/rpc_client.hpp>
#include <client/proof.hpp>

/// Implemented by the CLI's `audit task`; the demo uses it too.
namespace assay::client {

struct AuditResult {
    bool verified = false;
    std::uint64_t records = 0;   ///< history records checked
    std::uint64_t height = 0;    ///< of the state that the proof is against
    Hash256 app_hash;
    std::int64_t signed_at_s = 0;  ///< Unix time of the block that signs it
    /// Every record, once it is verified; empty otherwise.
    std::vector<contracts::HistoryRecord> history;
    std::string problem;  ///< the first thing that does not verify; empty when everything does
};

/// Proves the task's record against the app hash, checks the signature of the block that carries that app hash, fetches
/// the task's whole history and rebuilds its history root. When that is another, proofs against states of older blocks
/// find the first record that is not the chain's. `trust` says whose signatures count; without it the node's word is
/// taken. Throws RpcError or http::NetError; what the node got wrong is a result, not an exception.
AuditResult audit_task(
    RpcClient& rpc, const contracts::TaskId& task, const Trust& trust = {}
);

}  // namespace assay::client
