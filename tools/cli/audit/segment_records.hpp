// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <contracts/state/transaction.hpp>
#include <client/rpc_client.hpp>
#include <tools/cli/common/proof.hpp>
#include <verifier/artifacts/segment_records.hpp>

namespace assay::cli {

/// The records of a segment of a task, each proven against one app hash that a block carries and was signed
/// by those who `trust` makes count. Throws RpcError, NetError, Mismatch, and Failure
/// kExitNotFound for a task, segment or checkpoint that is not there.
artifacts::SegmentRecords prove_segment(
    client::RpcClient& rpc, const contracts::TaskId& task, std::uint32_t segment,
    const Trust& trust
);

}  // namespace assay::cli
