// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <contracts/transaction/transaction.hpp>
#include <client/rpc_client.hpp>
#include <tools/cli/common/proof.hpp>
#include <verifier/artifacts/segment_records.hpp>

namespace assay::cli {

/// Returns the records of a task's segment, all proven against one app hash in a block whose signatures are trusted
/// according to `trust`. Throws RpcError, NetError, Mismatch, and Failure kExitNotFound if the task, segment or
/// checkpoint does not exist.
artifacts::SegmentRecords prove_segment(
    client::RpcClient& rpc, const contracts::TaskId& task, std::uint32_t segment, const Trust& trust
);

}  // namespace assay::cli
