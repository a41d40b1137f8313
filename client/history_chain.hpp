// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/state/history.hpp>
#include <client/rpc_client.hpp>

/// A task's history as auditors compute it: from nothing, one record after the other.
namespace assay::client {

class HistoryChain {
  public:
    /// No record may be of a block after `limit`.
    HistoryChain(const contracts::TaskId& task, Height limit) : task_(task), limit_(limit) {}

    /// Adds the next record. Throws Mismatch, naming the record, if it cannot be the next one.
    void add(const contracts::HistoryRecord& record);
    std::uint64_t count() const { return count_; }
    std::vector<contracts::HistoryRecord>& records() { return records_; }
    const Hash256& root() const { return roots_.back(); }
    /// After the first `count` records.
    const Hash256& root_after(std::uint64_t count) const { return roots_.at(count); }

  private:
    contracts::TaskId task_;
    Height limit_;
    Height last_height_;
    std::uint64_t count_ = 0;
    std::vector<Hash256> roots_{Hash256{}};
    std::vector<contracts::HistoryRecord> records_;
};

/// Fetches the first `count` records into `chain`. Later ones are of blocks after the proof's and are left out. Throws
/// RpcError, http::NetError, and Mismatch naming the record that is wrong or missing.
void fetch_history(RpcClient& rpc, const contracts::TaskId& task, std::uint64_t count, HistoryChain& chain);

}  // namespace assay::client
