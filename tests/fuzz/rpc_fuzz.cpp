// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <nlohmann/json.hpp>

#include <contracts/state/state.hpp>
#include <node/rpc/methods.hpp>
#include <tests/fuzz/fuzz.hpp>

/// Request bodies of any content, over a node that has one record of each kind, all under ids of zeros. An input that
/// begins with a 0 byte is instead a transaction that the node has stored, and is asked to show.
namespace assay::fuzz {
namespace {

using contracts::DisputeId;
using contracts::TaskId;

class FakeNode final : public node::NodeApi {
  public:
    explicit FakeNode(Bytes tx) : tx_(std::move(tx)) {
        put(contracts::keys::account({}), contracts::Account{});
        put(contracts::keys::stake(contracts::Role::kSolver, {}), contracts::Stake{});
        put(contracts::keys::task({}), contracts::Task{});
        put(contracts::keys::checkpoint({}, 0), contracts::Checkpoint{});
        put(contracts::keys::dispute({}), contracts::Dispute{});
    }
    node::NodeStatus status() const override { return {}; }
    contracts::Params params() const override { return {}; }
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override {
        if (tx.size() % 2 == 0) {
            return Unexpected{consensus::Refusal{.code = 4}};
        }
        return contracts::tx_hash(tx);
    }
    Height wait_for_block(Height after, std::chrono::milliseconds) override { return after; }
    std::optional<node::StoredBlock> block(Height height) const override {
        node::StoredBlock out;
        out.height = height;
        out.txs = {tx_};
        out.receipts.resize(1);
        return out;
    }
    std::optional<Bytes> light_block(Height) const override { return Bytes{1, 2}; }
    std::optional<node::StoredTx> tx(const Hash256& hash) const override {
        return hash.is_zero() ? std::optional(stored()) : std::nullopt;
    }
    bool in_mempool(const Hash256& tx) const override { return tx.data[0] == 1; }
    std::optional<Bytes> state(const Bytes& key) const override {
        const auto found = slots_.find(key);
        return found == slots_.end() ? std::nullopt : std::optional(found->second);
    }
    consensus::QueryResult prove(const Bytes& key, std::optional<Height> height) const override {
        return consensus::QueryResult{
            .height = height.value_or(Height{}), .app_hash = {}, .value = state(key), .proof = {}};
    }
    std::uint64_t next_nonce(const AccountId&) const override { return 0; }
    node::Page<contracts::HistoryRecord> task_history(const TaskId&, std::uint64_t from, std::uint32_t) const override {
        return {.items = {contracts::HistoryRecord{}}, .next = from};
    }
    node::Page<TaskId> tasks(std::uint64_t, std::uint32_t, node::Order) const override {
        return {.items = {TaskId{}}, .next = {}};
    }
    node::Page<node::StoredTx> account_history(const AccountId&, std::uint64_t from, std::uint32_t) const override {
        return {.items = {stored()}, .next = from};
    }
    node::Page<DisputeId> disputes(const std::optional<TaskId>&, std::uint64_t, std::uint32_t, node::Order)
        const override {
        return {.items = {DisputeId{}}, .next = {}};
    }
    std::vector<node::DisputeMove> dispute_moves(const DisputeId&) const override { return {node::DisputeMove{}}; }
    std::optional<double> one_step_us(const DisputeId&) const override { return 1.5; }
    node::Page<contracts::HistoryRecord> events(
        const std::optional<AccountId>&, std::uint64_t from, std::uint32_t, node::Order
    ) const override {
        return {.items = {contracts::HistoryRecord{}}, .next = from};
    }
    std::vector<contracts::HistoryRecord> events_of(Height) const override { return {}; }
    node::Page<node::Payment> payments(const AccountId&, std::uint64_t from, std::uint32_t, node::Order)
        const override {
        return {.items = {node::Payment{}}, .next = from};
    }
    node::Page<node::ValidatorChange> validator_changes(
        const std::optional<AccountId>&, std::uint64_t from, std::uint32_t
    ) const override {
        return {.items = {node::ValidatorChange{}}, .next = from};
    }
    node::Page<node::ValidatorPenalty> validator_penalties(
        const std::optional<AccountId>&, std::uint64_t from, std::uint32_t, node::Order
    ) const override {
        return {.items = {node::ValidatorPenalty{}}, .next = from};
    }
    std::vector<node::BlockFees> fees(Height last, std::uint32_t) const override {
        return {{.height = last, .base_fee = std::nullopt, .gas = 1}};
    }
    std::vector<node::Named> search(const node::IdPrefix& prefix, std::uint32_t) const override {
        return {{.kind = node::NameKind::kTask, .id = prefix.bytes, .height = {}, .owner = {}}};
    }
    std::vector<node::Named> tasks_titled(const std::string& beginning, std::uint32_t) const override {
        return {{.kind = node::NameKind::kTask, .id = Bytes(32, 1), .height = {}, .owner = {}, .title = beginning}};
    }

  private:
    template <class T>
    void put(const Bytes& key, const T& value) {
        slots_[key] = codec::encode(value);
    }
    node::StoredTx stored() const { return {.bytes = tx_, .height = Height{1}, .index = 0, .receipt = {}}; }

    Bytes tx_;
    std::map<Bytes, Bytes> slots_;
};

void check_answer(const std::string& text) {
    if (text.empty()) {
        return;  // a notification
    }
    const auto answer = nlohmann::json::parse(text, nullptr, false);
    ASSERT(answer.is_object() || (answer.is_array() && !answer.empty() && answer.size() <= rpc::kBatchMax));
    for (const auto& one : answer.is_array() ? answer : nlohmann::json::array({answer})) {
        ASSERT(one.at("jsonrpc") == "2.0" && one.contains("id"));
        ASSERT(one.contains("result") != one.contains("error"));
        ASSERT(!one.contains("error") || one["error"]["code"] != rpc::kInternalError);
    }
}

constexpr std::string_view kShow = R"([
    {"jsonrpc":"2.0","id":1,"method":"tx_get","params":{"hash":"0000000000000000000000000000000000000000000000000000000000000000"}},
    {"jsonrpc":"2.0","id":2,"method":"chain_block","params":{"height":1}}])";

}  // namespace

void run(ByteView input) {
    const bool is_stored_tx = !input.empty() && input[0] == 0;
    const ByteView tx = is_stored_tx ? input.subspan(1) : ByteView{};
    FakeNode node(Bytes(tx.begin(), tx.end()));
    const rpc::Dispatcher dispatcher = rpc::make_dispatcher(node);
    rpc::Work work;
    if (!is_stored_tx) {
        check_answer(dispatcher.handle(as_text(input), work));
    } else if (codec::decode<contracts::Tx>(tx)) {
        check_answer(dispatcher.handle(kShow, work));
    }
}

}  // namespace assay::fuzz
