// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <consensus/solo/block_log.hpp>
#include <node/api/node_api.hpp>
#include <node/daemon/application.hpp>

/// Committed blocks as NodeApi shows them, without their receipts.
namespace assay::node {

/// Reads a block of the embedded engine's log. Throws storage::StorageError if it is not there.
StoredBlock logged_block(const solo::BlockLog& log, Height height);
/// Reads a block that the application keeps. Throws consensus::HeightNotKept.
StoredBlock kept_block(const Application& application, Height height);

}  // namespace assay::node
