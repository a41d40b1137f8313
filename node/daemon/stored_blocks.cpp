// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/stored_blocks.hpp>

#include <utility>

#include <node/history/index.hpp>
#include <node/state/store.hpp>

namespace assay::node {

StoredBlock logged_block(const solo::BlockLog& log, Height height) {
    auto record = log.read(height);
    if (!record) {
        throw storage::StorageError("block log: block " + std::to_string(height.value) + " is not there");
    }
    const solo::BlockHeader& header = record->block.header;
    StoredBlock out{
        .height = header.height,
        .hash = solo::block_hash(header),
        .parent = header.parent,
        .time_ms = header.time_ms,
        .proposer = header.proposer,
        .parent_app_hash = header.app_hash,
        .app_hash = record->app_hash,
        .txs = record->block.txs,
        .receipts = {},
        .signed_block = {}};
    out.signed_block = std::move(record->block);
    return out;
}

StoredBlock kept_block(const Application& application, Height height) {
    history::KeptBlock block = application.kept_block(height);
    StoredBlock out{
        .height = height,
        .hash = block.hash,
        .parent = std::nullopt,
        .time_ms = block.time_ms,
        .proposer = block.proposer,
        .parent_app_hash = application.app_hash_at(Height{height.value - 1}),
        .app_hash = application.app_hash_at(height),
        .txs = std::move(block.txs),
        .receipts = {},
        .signed_block = std::nullopt};
    if (height.value == 1) {
        out.parent = Hash256{};
    } else if (height > application.committed()->first_block()) {
        out.parent = application.kept_block(Height{height.value - 1}).hash;
    }
    return out;
}

}  // namespace assay::node
