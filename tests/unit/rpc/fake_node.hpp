// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <core/crypto/keys.hpp>
#include <node/api/node_api.hpp>

/// A node whose state is whatever a test puts there, and whose blocks execute every transaction that waits.
namespace assay::rpc::test {

crypto::SecretKey key(std::uint8_t seed);
/// 32 bytes that say nothing but `seed`.
template <class Id>
Id id(std::uint8_t seed) {
    Id out;
    out.data.fill(seed);
    return out;
}

class FakeNode final : public node::NodeApi {
  public:
    FakeNode();

    node::NodeStatus status() const override;
    contracts::Params params() const override { return params_; }
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    /// Makes a block of what waits when there is anything and `makes_blocks`.
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    std::optional<node::StoredBlock> block(Height height) const override;
    std::optional<Bytes> light_block(Height height) const override {
        return height.value == 0 || height.value > height_ ? std::nullopt : std::optional(Bytes{7});
    }
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

    void put(const Bytes& slot, Bytes value);
    /// Executes a transaction of `sender` that did not come through this test's client.
    void take_nonce(const AccountId& sender);
    /// Leaves everything that waits out of all blocks.
    void drop_mempool();
    /// What the executed transfers moved.
    Amount moved() const;

    // Set before the server runs.
    std::function<std::optional<consensus::Refusal>(const Bytes& tx)> refuse;
    std::function<void()> before_block;
    std::uint8_t receipt_code = 0;
    bool makes_blocks = true;
    std::uint64_t fee_least = 0;                 ///< grains; blocks leave out what offers less
    std::uint64_t owed_at = 0;                   ///< where not 0: somebody owes one answer, which is due at that height
    int answers_left_out = 0;                    ///< by so many blocks
    mutable std::atomic<int> hidden_lookups{0};  ///< of transactions, which find nothing
    std::vector<contracts::HistoryRecord> history;
    std::vector<contracts::TaskId> task_ids;
    std::vector<contracts::DisputeId> dispute_ids;
    std::vector<node::DisputeMove> moves;
    std::vector<node::Payment> paid;
    std::vector<node::ValidatorChange> changes;
    std::vector<node::ValidatorPenalty> penalties;
    std::vector<node::Named> names;
    std::vector<node::Named> titled;
    mutable std::string searched_title{};  ///< the last title that was searched for
    mutable node::IdPrefix searched{};     ///< the last prefix that was searched for
    std::uint64_t oldest_height = 0;
    std::uint64_t first_block = 1;
    std::uint64_t first_history = 1;

  private:
    void make_block();

    contracts::Params params_;
    mutable std::mutex mutex_;
    std::uint64_t height_ = 7;
    std::map<Bytes, Bytes> state_;
    std::map<AccountId, std::uint64_t> nonces_;
    std::vector<Bytes> waiting_;
    std::vector<node::StoredTx> executed_;
};

}  // namespace assay::rpc::test
