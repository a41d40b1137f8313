// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/metered_api.hpp>

#include <utility>

namespace assay::rpc {

namespace {

// In units of one read of the database.
constexpr std::uint64_t kRead = 1;
constexpr std::uint64_t kProof = 50;          // nodes of the tree, each a read, and their hashes
constexpr std::uint64_t kSubmission = 100;    // a signature
constexpr std::uint64_t kEngine = 500;        // a question to the consensus engine's process
constexpr std::uint64_t kBytesPerUnit = 256;  // read, written in hex and as JSON, and sent

std::uint64_t units_of(std::size_t bytes) { return kRead + bytes / kBytesPerUnit; }

/// Its record and its bytes.
std::uint64_t units_of(const node::StoredTx& tx) { return kRead + units_of(tx.bytes.size()); }

std::uint64_t units_of(const node::StoredBlock& block) {
    std::uint64_t units = kRead;
    for (const Bytes& tx : block.txs) {
        units += units_of(tx.size());
    }
    return units;
}

}  // namespace

node::NodeStatus MeteredApi::status() const { return api_.status(); }

contracts::Params MeteredApi::params() const { return api_.params(); }

Result<Hash256, consensus::Refusal> MeteredApi::submit(Bytes tx) {
    work_.charge(kSubmission + units_of(tx.size()));
    return api_.submit(std::move(tx));
}

Height MeteredApi::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    work_.charge(kRead);
    return api_.wait_for_block(after, timeout);
}

std::optional<node::StoredBlock> MeteredApi::block(Height height) const {
    work_.charge(kRead);
    auto block = api_.block(height);
    if (block) {
        work_.charge(units_of(*block));
    }
    return block;
}

std::optional<Bytes> MeteredApi::light_block(Height height) const {
    work_.charge(kEngine);
    return api_.light_block(height);
}

std::optional<node::StoredTx> MeteredApi::tx(const Hash256& hash) const {
    work_.charge(kRead);
    auto tx = api_.tx(hash);
    if (tx) {
        work_.charge(units_of(*tx));
    }
    return tx;
}

bool MeteredApi::in_mempool(const Hash256& tx) const {
    work_.charge(kRead);
    return api_.in_mempool(tx);
}

std::optional<Bytes> MeteredApi::state(const Bytes& key) const {
    work_.charge(kRead);
    auto value = api_.state(key);
    if (value) {
        work_.charge(value->size() / kBytesPerUnit);
    }
    return value;
}

consensus::QueryResult MeteredApi::prove(const Bytes& key, std::optional<Height> height) const {
    work_.charge(kProof);
    return api_.prove(key, height);
}

std::uint64_t MeteredApi::next_nonce(const AccountId& account) const {
    work_.charge(kRead);
    return api_.next_nonce(account);
}

node::Page<contracts::HistoryRecord> MeteredApi::task_history(
    const contracts::TaskId& task, std::uint64_t from, std::uint32_t limit
) const {
    work_.charge(kRead);
    auto page = api_.task_history(task, from, limit);
    work_.charge(page.items.size());
    return page;
}

node::Page<contracts::TaskId> MeteredApi::tasks(std::uint64_t from, std::uint32_t limit, node::Order order) const {
    work_.charge(kRead);
    auto page = api_.tasks(from, limit, order);
    work_.charge(page.items.size());
    return page;
}

node::Page<node::StoredTx> MeteredApi::account_history(
    const AccountId& account, std::uint64_t from, std::uint32_t limit
) const {
    work_.charge(kRead);
    auto page = api_.account_history(account, from, limit);
    std::uint64_t units = 0;
    for (const node::StoredTx& tx : page.items) {
        units += units_of(tx);
    }
    work_.charge(units);
    return page;
}

node::Page<contracts::DisputeId> MeteredApi::disputes(
    const std::optional<contracts::TaskId>& task, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    work_.charge(kRead);
    auto page = api_.disputes(task, from, limit, order);
    work_.charge(page.items.size());
    return page;
}

std::vector<node::DisputeMove> MeteredApi::dispute_moves(const contracts::DisputeId& dispute) const {
    work_.charge(kRead);
    auto moves = api_.dispute_moves(dispute);
    work_.charge(moves.size());
    return moves;
}

std::optional<double> MeteredApi::one_step_us(const contracts::DisputeId& dispute) const {
    work_.charge(kRead);
    return api_.one_step_us(dispute);
}

node::Page<contracts::HistoryRecord> MeteredApi::events(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    work_.charge(kRead);
    auto page = api_.events(account, from, limit, order);
    work_.charge(2 * page.items.size());  // each is a place, and a record there
    return page;
}

std::vector<contracts::HistoryRecord> MeteredApi::events_of(Height height) const {
    work_.charge(kRead);
    auto events = api_.events_of(height);
    work_.charge(2 * events.size());
    return events;
}

node::Page<node::Payment> MeteredApi::payments(
    const AccountId& account, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    work_.charge(kRead);
    auto page = api_.payments(account, from, limit, order);
    work_.charge(page.items.size());
    return page;
}

node::Page<node::ValidatorChange> MeteredApi::validator_changes(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit
) const {
    work_.charge(kRead);
    auto page = api_.validator_changes(account, from, limit);
    work_.charge(page.items.size());
    return page;
}

node::Page<node::ValidatorPenalty> MeteredApi::validator_penalties(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, node::Order order
) const {
    work_.charge(kRead);
    auto page = api_.validator_penalties(account, from, limit, order);
    work_.charge(page.items.size());
    return page;
}

std::vector<node::BlockFees> MeteredApi::fees(Height last, std::uint32_t count) const {
    work_.charge(kRead);
    auto fees = api_.fees(last, count);
    work_.charge(fees.size());
    return fees;
}

std::vector<node::Named> MeteredApi::search(const node::IdPrefix& prefix, std::uint32_t limit) const {
    work_.charge(kRead);
    auto names = api_.search(prefix, limit);
    work_.charge(names.size());
    return names;
}

std::vector<node::Named> MeteredApi::tasks_titled(const std::string& beginning, std::uint32_t limit) const {
    work_.charge(kRead);
    auto names = api_.tasks_titled(beginning, limit);
    work_.charge(names.size());
    return names;
}

}  // namespace assay::rpc
