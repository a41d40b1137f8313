// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <node/api/node_api.hpp>
#include <node/rpc/work.hpp>

namespace assay::rpc {

/// The node API for one request: every call that is not answered from memory is charged to the request's budget
/// according to its cost.
class MeteredApi final : public node::NodeApi {
  public:
    /// Both must outlive this object.
    MeteredApi(node::NodeApi& api, Work& work) : api_(api), work_(work) {}

    node::NodeStatus status() const override;
    contracts::Params params() const override;
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    std::optional<node::StoredBlock> block(Height height) const override;
    std::optional<Bytes> light_block(Height height) const override;
    std::optional<node::StoredTx> tx(const Hash256& hash) const override;
    bool in_mempool(const Hash256& tx) const override;
    std::optional<Bytes> state(const Bytes& key) const override;
    consensus::QueryResult prove(const Bytes& key, std::optional<Height> height) const override;
    std::uint64_t next_nonce(const AccountId& account) const override;
    node::Page<contracts::HistoryRecord> task_history(
        const contracts::TaskId& task, std::uint64_t from, std::uint32_t limit
    ) const override;
    node::Page<contracts::TaskId> tasks(std::uint64_t from, std::uint32_t limit, node::Order order) const override;
    node::Page<node::StoredTx> account_history(const AccountId& account, std::uint64_t from, std::uint32_t limit)
        const override;
    node::Page<contracts::DisputeId> disputes(
        const std::optional<contracts::TaskId>& task, std::uint64_t from, std::uint32_t limit, node::Order order
    ) const override;
    std::vector<node::DisputeMove> dispute_moves(const contracts::DisputeId& dispute) const override;
    std::optional<double> one_step_us(const contracts::DisputeId& dispute) const override;
    node::Page<contracts::HistoryRecord> events(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, node::Order order
    ) const override;
    std::vector<contracts::HistoryRecord> events_of(Height height) const override;
    node::Page<node::Payment> payments(
        const AccountId& account, std::uint64_t from, std::uint32_t limit, node::Order order
    ) const override;
    node::Page<node::ValidatorChange> validator_changes(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit
    ) const override;
    node::Page<node::ValidatorPenalty> validator_penalties(
        const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, node::Order order
    ) const override;
    std::vector<node::BlockFees> fees(Height last, std::uint32_t count) const override;
    std::vector<node::Named> search(const node::IdPrefix& prefix, std::uint32_t limit) const override;
    std::vector<node::Named> tasks_titled(const std::string& beginning, std::uint32_t limit) const override;

  private:
    node::NodeApi& api_;
    Work& work_;
};

}  // namespace assay::rpc
