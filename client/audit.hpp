// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <client/rpc_client.hpp>
#include <client/proof.hpp>

/// Audits a task. Used by the CLI's `audit task` and by the demo.
namespace assay::client {

struct AuditResult {
    bool verified = false;
    std::uint64_t records = 0;  ///< number of history records checked
    std::uint64_t height = 0;   ///< of the state that the proof is for
    Hash256 app_hash;
    std::int64_t signed_at_s = 0;  ///< Unix time of the block that carries the app hash
    /// All records if they are verified, else empty.
    std::vector<contracts::HistoryRecord> history;
    std::string problem;  ///< the first thing that does not verify; empty if everything does
};

/// Proves the task's record against the app hash, checks the signature of the block that carries that app hash, fetches
/// the task's whole history and recomputes its history root. If the root differs, proofs against older states find the
/// first wrong record. `trust` says whose signatures count; without it the node's word is taken. Throws RpcError or
/// http::NetError; wrong data from the node is reported in the result, not thrown.
AuditResult audit_task(RpcClient& rpc, const contracts::TaskId& task, const Trust& trust = {});

}  // namespace assay::client
