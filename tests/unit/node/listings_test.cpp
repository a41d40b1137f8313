// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <contracts/state/slots.hpp>
#include <core/codec/borsh.hpp>
#include <node/daemon/application.hpp>
#include <node/history/index.hpp>
#include <node/history/names.hpp>
#include <tests/unit/node/chain.hpp>

using namespace assay;
using namespace assay::contracts;
using namespace assay::node::test;
namespace events = assay::contracts::history;

namespace {

template <class Id>
Id id(std::uint8_t number) {
    Id out;
    out.data[0] = number;
    out.data[31] = number;
    return out;
}

/// A database whose blocks had whatever a test says.
struct Chain {
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    std::uint64_t height = 0;

    void add(BlockOutcome outcome, std::vector<Bytes> txs = {}) {
        storage::Batch batch;
        assay::history::index_block(batch, *store.snapshot(), make_block(++height, std::move(txs)), outcome, {});
        store.write(batch, false);
    }
};

HistoryRecord record(std::uint8_t task, std::uint32_t index, HistoryEvent event, const AccountId& actor = {}) {
    return {
        .task = id<TaskId>(task), .index = index, .height = {}, .tx = {}, .actor = actor, .event = std::move(event)};
}

node::IdPrefix prefix(Bytes bytes, std::uint32_t bits) { return {.bytes = std::move(bytes), .bits = bits}; }

}  // namespace

TEST_CASE("events are listed in order, and by every account that they name") {
    Chain chain;
    const AccountId alice = key(1).account();
    const AccountId bob = key(2).account();
    BlockOutcome first;
    first.history = {
        record(7, 0, events::Submitted{}, alice), record(7, 1, events::SolverDrawn{.solver = bob}),
        record(3, 0, events::Submitted{}, bob)};
    chain.add(first);
    BlockOutcome second;
    second.history = {
        record(7, 2, events::Accepted{.bond = {}, .seats = {alice, bob, bob}}), record(7, 3, events::Completed{}),
        record(
            3, 1,
            events::RoundClosed{
                .round = 1, .seed = {}, .contributors = 1, .withheld = {{.contributor = alice, .burned = {}}}}
        )};
    chain.add(second);
    const auto snapshot = chain.store.snapshot();
    const assay::history::Reader reader(*snapshot);
    const auto all = reader.events(std::nullopt, 0, 10);
    CHECK(all.items.size() == 6);
    CHECK(all.items.at(2).task == id<TaskId>(3));
    CHECK_FALSE(all.next.has_value());
    std::vector<std::string> of_alice;
    for (std::optional<std::uint64_t> from = 0; from;) {
        const auto page = reader.events(alice, *from, 2);
        for (const HistoryRecord& each : page.items) {
            of_alice.emplace_back(event_name(each.event));
        }
        from = page.next;
    }
    CHECK(of_alice == std::vector<std::string>{"submitted", "accepted", "round_closed"});
    CHECK(reader.events(bob, 0, 10).items.size() == 3);
    std::vector<std::string> backwards;
    for (std::optional<std::uint64_t> from = 0; from;) {
        const auto page = reader.events(alice, *from, 2, node::Order::kNewest);
        for (const HistoryRecord& each : page.items) {
            backwards.emplace_back(event_name(each.event));
        }
        from = page.next;
    }
    CHECK(backwards == std::vector<std::string>(of_alice.rbegin(), of_alice.rend()));
    CHECK(reader.events(key(3).account(), 0, 10).items.empty());
}

TEST_CASE("payments are what tasks paid and what others transferred, and nothing that failed") {
    Chain chain;
    const AccountId bob = key(2).account();
    BlockOutcome outcome;
    outcome.history = {
        record(7, 0, events::Paid{.to = bob, .amount = Amount{5}, .reason = Reason::kReward}),
        record(7, 1, events::Paid{.to = {}, .amount = Amount{6}, .reason = Reason::kTax})};
    const std::vector<Bytes> txs{transfer(key(1), 0, bob, 7), transfer(key(1), 1, bob, 8)};
    for (std::size_t i = 0; i < txs.size(); ++i) {
        outcome.receipts.push_back(
            {.tx = tx_hash(txs[i]),
             .code = static_cast<std::uint8_t>(i),  // the second fails
             .action = "transfer",
             .sender = key(1).account(),
             .task = std::nullopt,
             .is_charged = true}
        );
    }
    chain.add(outcome, txs);
    const auto snapshot = chain.store.snapshot();
    const auto paid = assay::history::Reader(*snapshot).payments(bob, 0, 10).items;
    REQUIRE(paid.size() == 2);
    CHECK(paid[0].reason == Reason::kReward);
    CHECK(paid[0].task == id<TaskId>(7));
    CHECK(paid[1].amount == Amount{7});
    CHECK(paid[1].from == key(1).account());
    CHECK_FALSE(paid[1].reason.has_value());
    CHECK(assay::history::Reader(*snapshot).payments({}, 0, 10).items.empty());
}

TEST_CASE("a validator's history has what changed but not how many blocks it missed") {
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    node::Application application(
        store, [] { return std::uint64_t{0}; }, false, 0
    );
    application.init(make_genesis());
    const AccountId account = key(1).account();
    Validator validator{.key = {}, .power = 5, .missed = 0, .jailed_until = {}, .is_banned = false, .slashed = {}};
    std::uint64_t height = 0;
    const auto change = [&] {
        BlockOutcome outcome;
        outcome.changes[keys::validator(account)] = codec::encode(validator);
        storage::Batch batch;
        const auto before = store.snapshot();
        assay::history::index_block(batch, *before, make_block(++height, {}), outcome, {});
        std::optional<std::uint64_t> last;
        if (height > 1) {
            last = height - 1;
        }
        node::write_state(batch, *before, last, Height{height}, outcome.changes);
        store.write(batch, false);
    };
    change();
    validator.missed = 3;
    change();
    validator.jailed_until = Height{50};
    change();
    validator.jailed_until = {};  // unjailed
    change();
    validator.jailed_until = Height{5};
    validator.is_banned = true;
    validator.slashed = Amount{8};
    change();
    const auto snapshot = store.snapshot();
    const assay::history::Reader reader(*snapshot);
    const auto changes = reader.validator_changes(account, 0, 10).items;
    REQUIRE(changes.size() == 4);
    CHECK(changes[0].height == Height{1});
    CHECK(changes[1].height == Height{3});
    CHECK(changes[1].jailed_until == Height{50});
    CHECK(reader.validator_changes(std::nullopt, 0, 10).items.size() == 4);
    CHECK(reader.validator_changes(key(2).account(), 0, 10).items.empty());
    const auto penalties = reader.validator_penalties(std::nullopt, 0, 10).items;
    REQUIRE(penalties.size() == 2);
    CHECK(penalties[0].height == Height{3});
    CHECK_FALSE(penalties[0].is_double_sign);
    CHECK(penalties[0].jailed_until == Height{50});
    CHECK(penalties[1].height == Height{5});
    CHECK(penalties[1].is_double_sign);
    CHECK(penalties[1].amount == Amount{8});
    const auto newest = reader.validator_penalties(account, 0, 1, node::Order::kNewest);
    CHECK(newest.items.at(0).is_double_sign);
    CHECK(newest.next.has_value());
    CHECK(reader.validator_penalties(key(2).account(), 0, 10).items.empty());
}

TEST_CASE("fees are kept by height and go with their block") {
    Chain chain;
    BlockOutcome outcome;
    const Bytes tx = transfer(key(1), 0, key(2).account(), 7);
    outcome.receipts = {
        {.tx = tx_hash(tx), .code = 0, .action = "transfer", .sender = {}, .task = std::nullopt, .is_charged = true}};
    outcome.receipts[0].gas = 90;
    chain.add(outcome, {tx});
    const auto snapshot = chain.store.snapshot();
    const auto fees = assay::history::Reader(*snapshot).fees(Height{1});
    REQUIRE(fees.has_value());
    CHECK(fees->gas == 90);
    CHECK_FALSE(fees->base_fee.has_value());
    storage::Batch pruning;
    assay::history::prune_block(pruning, *snapshot, Height{1});
    chain.store.write(pruning, false);
    CHECK_FALSE(assay::history::Reader(*chain.store.snapshot()).fees(Height{1}).has_value());
}

TEST_CASE("ids are found by any beginning of theirs") {
    Chain chain;
    const Bytes tx = transfer(key(1), 0, key(2).account(), 7);
    BlockOutcome outcome;
    outcome.receipts = {
        {.tx = tx_hash(tx), .code = 0, .action = "transfer", .sender = {}, .task = std::nullopt, .is_charged = true}};
    outcome.history = {
        record(0xab, 0, events::Submitted{}), record(0xac, 0, events::Submitted{}),
        record(0xab, 1, events::DisputeOpened{.dispute = id<DisputeId>(0xa5), .segment = 1})};
    outcome.changes[keys::account(id<AccountId>(0xab))] = codec::encode(Account{});
    outcome.changes[keys::consensus_account(ConsensusAddress{})] = codec::encode(id<AccountId>(3));
    chain.add(outcome, {tx});
    const auto snapshot = chain.store.snapshot();
    const auto find = [&](Bytes bytes, std::uint32_t bits, std::uint32_t limit = 100) {
        return assay::history::find_names(*snapshot, prefix(std::move(bytes), bits), limit);
    };
    const auto both = find({0xab}, 8);  // an account and a task with one id
    REQUIRE(both.size() == 2);
    CHECK(both[0].kind == node::NameKind::kAccount);
    CHECK(both[1].kind == node::NameKind::kTask);
    CHECK(find({0xab, 0x00}, 12).size() == 2);
    CHECK(find({0xab, 0x10}, 12).empty());
    CHECK(find({0xa8}, 5).size() == 3);  // 1010 1...: ab twice and ac
    CHECK(find({0xa0}, 4, 2).size() == 2);
    const Hash256 hash = tx_hash(tx);
    const auto found = find(Bytes(hash.data.begin(), hash.data.end()), 256);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == node::NameKind::kTx);
    CHECK(found[0].height == Height{1});
    const auto validator = find(Bytes(20, 0), 160);
    REQUIRE(validator.size() == 1);
    CHECK(validator[0].owner == id<AccountId>(3));
    const Hash256 block = make_block(1, {}).block_hash;
    const auto blocks = find(Bytes(block.data.begin(), block.data.begin() + 4), 32);
    CHECK(std::any_of(blocks.begin(), blocks.end(), [](const node::Named& each) {
        return each.kind == node::NameKind::kBlock && each.height == Height{1};
    }));
}

TEST_CASE("tasks are found by the beginning of their titles, whatever the case") {
    Chain chain;
    BlockOutcome outcome;
    const std::vector<std::string> titles{"Char model", "char Model, again", "charm", "%_\\", "<script>"};
    for (std::size_t i = 0; i < titles.size(); ++i) {
        const auto number = static_cast<std::uint8_t>(i + 1);
        outcome.history.push_back(record(number, 0, events::Submitted{}));
        Task task;
        task.spec.title = titles[i];
        outcome.changes[keys::task(id<TaskId>(number))] = codec::encode(task);
    }
    chain.add(outcome);
    const auto snapshot = chain.store.snapshot();
    const auto find = [&](const std::string& beginning, std::uint32_t limit = 100) {
        std::vector<std::string> out;
        for (const node::Named& each : assay::history::find_titles(*snapshot, beginning, limit)) {
            CHECK(each.kind == node::NameKind::kTask);
            out.push_back(each.title);
        }
        return out;
    };
    CHECK(find("CHAR ") == std::vector<std::string>{"Char model", "char Model, again"});
    CHECK(find("cHar").size() == 3);
    CHECK(find("char", 2).size() == 2);
    CHECK(find("char model") == std::vector<std::string>{"Char model", "char Model, again"});
    CHECK(find("model").empty());  // a beginning and not a part
    CHECK(find("%") == std::vector<std::string>{"%_\\"});
    CHECK(find("<SCRIPT>") == std::vector<std::string>{"<script>"});
    CHECK(find(std::string("charm\0", 6)).empty());
    CHECK(find("").size() == 5);
}

TEST_CASE("accounts of the genesis are found") {
    storage::Store store{"/memory", {.in_memory = true, .fault = {}}};
    node::Application application(
        store, [] { return std::uint64_t{0}; }, false, 0
    );
    application.init(make_genesis());
    const AccountId account = key(4).account();
    const auto found = assay::history::find_names(
        *store.snapshot(), prefix(Bytes(account.data.begin(), account.data.begin() + 6), 48), 10
    );
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == node::NameKind::kAccount);
}
