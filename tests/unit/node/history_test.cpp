// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/state/tx_error.hpp>
#include <node/history/index.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::node::test;
namespace events = assay::contracts::history;

namespace {

template <class Id>
Id id(std::uint8_t number) {
    Id out;
    out.data[31] = number;
    return out;
}

struct Index {
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    std::uint64_t height = 0;

    void add(
        std::vector<Bytes> txs, std::vector<Receipt> receipts, std::vector<HistoryRecord> records,
        std::vector<assay::history::OneStepTime> times = {}
    ) {
        BlockOutcome outcome;
        for (std::size_t i = 0; i < txs.size(); ++i) {
            receipts[i].tx = tx_hash(txs[i]);
        }
        outcome.receipts = std::move(receipts);
        outcome.history = std::move(records);
        storage::Batch batch;
        assay::history::index_block(batch, *store.snapshot(), make_block(++height, std::move(txs)), outcome, times);
        store.write(batch, false);
    }
};

Receipt receipt(std::uint8_t sender, std::string action, TxError code = TxError{0}, bool is_charged = true) {
    return {
        .tx = {},
        .code = static_cast<std::uint8_t>(code),
        .action = std::move(action),
        .sender = key(sender).account(),
        .task = std::nullopt,
        .is_charged = is_charged};
}

HistoryRecord record(std::uint8_t task, std::uint32_t index, HistoryEvent event, const Bytes& tx = {}) {
    return {
        .task = id<TaskId>(task),
        .index = index,
        .height = {},
        .tx = tx.empty() ? Hash256{} : tx_hash(tx),
        .actor = {},
        .event = std::move(event)};
}

}  // namespace

TEST_CASE("transactions are found by hash and by sender, by sender only when it was charged for them") {
    Index index;
    const Bytes a = transfer(key(1), 0, key(2).account(), 1);
    const Bytes b = transfer(key(1), 1, key(2).account(), 1);
    const Bytes c = transfer(key(1), 2, key(2).account(), 1);
    const Bytes d = transfer(key(2), 0, key(2).account(), 1);
    index.add({a, d}, {receipt(1, "transfer"), receipt(2, "transfer")}, {});
    index.add(
        {b, c},
        {receipt(1, "transfer", TxError::kBadSignature, false), receipt(1, "transfer", TxError::kInsufficientBalance)},
        {}
    );
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    CHECK(reader.find_tx(tx_hash(c)) == assay::history::TxPlace{{2}, 1});
    CHECK(reader.find_tx(tx_hash(b)) == assay::history::TxPlace{{2}, 0});
    CHECK_FALSE(reader.find_tx(crypto::sha256(as_bytes("x"))).has_value());
    CHECK(reader.receipts({1})->size() == 2);
    CHECK(reader.receipts({2})->at(1).tx == tx_hash(c));
    CHECK_FALSE(reader.receipts({3}).has_value());
    const auto sent = reader.account_txs(key(1).account(), 0, 10);
    CHECK(sent.items == std::vector<assay::history::TxPlace>{{{1}, 0}, {{2}, 1}});
    CHECK_FALSE(sent.next.has_value());
    const auto first = reader.account_txs(key(1).account(), 0, 1);
    CHECK(first.items.size() == 1);
    REQUIRE(first.next.has_value());
    CHECK(reader.account_txs(key(1).account(), *first.next, 1).items.at(0) == assay::history::TxPlace{{2}, 1});
    CHECK_FALSE(reader.account_txs(key(1).account(), *first.next, 1).next.has_value());
    CHECK(reader.account_txs(key(5).account(), 0, 10).items.empty());
}

TEST_CASE("OPR-6: what an operator sent is in its history and in its owner's, and is pruned from both") {
    Index index;
    const Bytes a = transfer(key(1), 0, key(2).account(), 1);
    const Bytes b = transfer(key(1), 1, key(2).account(), 1);
    Receipt acted = receipt(1, "register_terms");
    acted.owner = key(3).account();
    index.add({a, b}, {acted, receipt(1, "transfer")}, {});
    {
        const auto snapshot = index.store.snapshot();
        const assay::history::Reader reader(*snapshot);
        CHECK(reader.account_txs(key(1).account(), 0, 10).items.size() == 2);
        const auto owners = reader.account_txs(key(3).account(), 0, 10);
        CHECK(owners.items == std::vector<assay::history::TxPlace>{{{1}, 0}});
        CHECK(reader.receipts({1})->at(0).owner == key(3).account());
        storage::Batch batch;
        assay::history::prune_block(batch, *snapshot, Height{1});
        index.store.write(batch, false);
    }
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    CHECK(reader.account_txs(key(1).account(), 0, 10).items.empty());
    CHECK(reader.account_txs(key(3).account(), 0, 10).items.empty());
}

TEST_CASE("what one transaction did and its bytes are found without its block") {
    Index index;
    const std::vector<Bytes> txs{
        transfer(key(1), 0, key(2).account(), 1), transfer(key(1), 1, key(2).account(), 100'000), Bytes{1, 2, 3}};
    index.add(txs, {receipt(1, "transfer"), receipt(1, "transfer", TxError::kNonceTooLow), receipt(2, "")}, {});
    index.add({}, {}, {});
    storage::Batch batch;
    assay::history::keep_block(batch, make_block(1, txs));
    index.store.write(batch, false);
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    const Bytes list = codec::encode(txs);
    for (std::uint32_t i = 0; i < txs.size(); ++i) {
        const auto record = reader.tx_record({{1}, i});
        REQUIRE(record.has_value());
        CHECK(record->receipt.tx == tx_hash(txs[i]));
        const ByteView bytes = ByteView(list).subspan(list.size() - record->before_end, record->size_bytes);
        CHECK(Bytes(bytes.begin(), bytes.end()) == txs[i]);
        CHECK(reader.kept_tx({{1}, i}) == txs[i]);
    }
    CHECK_FALSE(reader.tx_record({{1}, 3}).has_value());
    CHECK_FALSE(reader.tx_record({{2}, 0}).has_value());
    CHECK_FALSE(reader.kept_tx({{2}, 0}).has_value());
    CHECK(reader.kept_block({1})->txs == txs);
    CHECK(reader.receipts({1})->at(1).code == static_cast<std::uint8_t>(TxError::kNonceTooLow));
    CHECK(reader.receipts({2})->empty());
    storage::Batch pruning;
    CHECK(assay::history::prune_block(pruning, *snapshot, {1}) == 4);
    index.store.write(pruning, false);
    const auto later = index.store.snapshot();
    const assay::history::Reader pruned(*later);
    CHECK_FALSE(pruned.tx_record({{1}, 0}).has_value());
    CHECK_FALSE(pruned.kept_tx({{1}, 2}).has_value());
    CHECK_FALSE(pruned.kept_block({1}).has_value());
    CHECK_FALSE(pruned.receipts({1}).has_value());
    CHECK(pruned.receipts({2}).has_value());
}

TEST_CASE("TX-8: a receipt without effect never replaces one with") {
    Index index;
    const Bytes a = transfer(key(1), 0, key(2).account(), 1);
    const Bytes b = transfer(key(2), 0, key(1).account(), 1);
    const Receipt done = receipt(1, "transfer");
    const Receipt again = receipt(1, "transfer", TxError::kNonceTooLow, false);
    const Receipt early = receipt(2, "transfer", TxError::kNonceTooHigh, false);
    index.add({b, a, a}, {early, done, again}, {});  // twice in one block
    index.add({a, b}, {again, early}, {});           // and in a later one
    {
        const auto snapshot = index.store.snapshot();
        const assay::history::Reader reader(*snapshot);
        CHECK(reader.find_tx(tx_hash(a)) == assay::history::TxPlace{{1}, 1});
        CHECK(reader.find_tx(tx_hash(b)) == assay::history::TxPlace{{1}, 0});
        CHECK(reader.account_txs(key(1).account(), 0, 10).items.size() == 1);
    }
    index.add({b}, {receipt(2, "transfer")}, {});
    const auto snapshot = index.store.snapshot();
    CHECK(assay::history::Reader(*snapshot).find_tx(tx_hash(b)) == assay::history::TxPlace{{3}, 0});
}

TEST_CASE("an account's transactions are listed one by one, however many of them a block has") {
    Index index;
    const auto sends = [](std::uint64_t nonce) { return transfer(key(1), nonce, key(2).account(), 1); };
    const Bytes other = transfer(key(2), 0, key(1).account(), 1);
    index.add(
        {sends(0), other, sends(1), sends(2)},
        {receipt(1, "transfer"), receipt(2, "transfer"), receipt(1, "transfer"), receipt(1, "transfer")}, {}
    );
    index.add({other}, {receipt(2, "transfer")}, {});
    index.add({sends(3), sends(4)}, {receipt(1, "transfer"), receipt(1, "transfer")}, {});
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    const std::vector<assay::history::TxPlace> all{{{1}, 0}, {{1}, 2}, {{1}, 3}, {{3}, 0}, {{3}, 1}};
    for (const std::size_t limit : {1U, 2U, 3U, 4U, 5U, 6U}) {
        std::vector<assay::history::TxPlace> found;
        for (std::optional<std::uint64_t> from = 0; from;) {
            const auto part = reader.account_txs(key(1).account(), *from, limit);
            CHECK(part.items.size() == std::min(limit, all.size() - found.size()));
            found.insert(found.end(), part.items.begin(), part.items.end());
            from = part.next;
        }
        CHECK(found == all);
    }
}

TEST_CASE("tasks, their records and disputes are listed in order and in pages") {
    Index index;
    index.add({}, {}, {record(7, 0, events::Submitted{}), record(3, 0, events::Submitted{})});
    index.add(
        {}, {},
        {
            record(7, 1, events::DisputeOpened{.dispute = id<DisputeId>(20), .segment = 1}),
            record(3, 1, events::Completed{}),
            record(3, 2, events::DisputeOpened{.dispute = id<DisputeId>(10), .segment = 1}),
            record(7, 2, events::DisputeOpened{.dispute = id<DisputeId>(5), .segment = 2}),
            record(
                7, 3,
                events::Accused{.dispute = id<DisputeId>(30), .segment = 2, .accuser = {}, .member = {}, .answers = {}}
            ),
        }
    );
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    CHECK(reader.tasks(0, 10).items == std::vector<TaskId>{id<TaskId>(7), id<TaskId>(3)});
    CHECK(
        reader.disputes(std::nullopt, 0, 10).items ==
        std::vector<DisputeId>{id<DisputeId>(20), id<DisputeId>(10), id<DisputeId>(5), id<DisputeId>(30)}
    );
    CHECK(
        reader.disputes(id<TaskId>(7), 0, 10).items ==
        std::vector<DisputeId>{id<DisputeId>(20), id<DisputeId>(5), id<DisputeId>(30)}
    );
    CHECK(reader.disputes(id<TaskId>(9), 0, 10).items.empty());

    std::vector<std::uint32_t> indices;
    for (std::optional<std::uint64_t> from = 0; from;) {
        const auto part = reader.task_history(id<TaskId>(7), *from, 2);
        for (const HistoryRecord& entry : part.items) {
            indices.push_back(entry.index);
        }
        from = part.next;
    }
    CHECK(indices == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a dispute's moves are its opening and the moves that succeeded, with sizes") {
    Index index;
    const auto dispute = id<DisputeId>(20);
    const Bytes open = make_tx(key(1), 0, OpenDispute{.task = id<TaskId>(7), .segment = 1, .role = Role::kVerifier});
    const Bytes publish_verdict =
        make_tx(key(4), 0, PublishVerdict{.task = id<TaskId>(7), .segment = 1, .verdict = {}});
    const Bytes reveal = make_tx(key(2), 0, RevealMove{.dispute = dispute, .round = 0, .children = {{}, {}}});
    const Bytes failed = make_tx(key(2), 1, RevealMove{.dispute = dispute, .round = 0, .children = {}});
    const Bytes select = make_tx(key(1), 1, SelectMove{.dispute = dispute, .round = 0, .selection = {}});
    const Bytes prove = make_tx(key(1), 2, ProveMove{.dispute = dispute, .proof = {}});
    index.add(
        {open, publish_verdict}, {receipt(1, "open_dispute"), receipt(4, "publish_verdict")},
        {record(7, 0, events::DisputeOpened{.dispute = dispute, .segment = 1}, open),
         record(7, 1, events::DisputeOpened{.dispute = id<DisputeId>(21), .segment = 1}, publish_verdict)}
    );
    index.add({reveal, failed}, {receipt(2, "reveal_move"), receipt(2, "reveal_move", TxError::kWrongRound)}, {});
    index.add({select, prove}, {receipt(1, "select_move"), receipt(1, "prove_move")}, {}, {{dispute, 12'500}});
    const auto snapshot = index.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    const auto moves = reader.moves(dispute);
    REQUIRE(moves.size() == 4);
    CHECK(moves[0].tx == tx_hash(open));
    CHECK(moves[0].action == "open_dispute");
    CHECK(moves[1].tx == tx_hash(reveal));
    CHECK(moves[1].height.value == 2);
    CHECK(moves[1].size_bytes == reveal.size());
    CHECK(moves[2].action == "select_move");
    CHECK(moves[3].tx == tx_hash(prove));
    CHECK(reader.moves(id<DisputeId>(21)).size() == 1);
    CHECK(reader.one_step_nanoseconds(dispute) == 12'500);
    CHECK_FALSE(reader.one_step_nanoseconds(id<DisputeId>(21)).has_value());
}
