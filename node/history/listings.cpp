// SPDX-License-Identifier: Apache-2.0
#include <node/history/listings.hpp>

#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <core/base/fields.hpp>
#include <contracts/state/mentions.hpp>
#include <contracts/state/slots.hpp>
#include <node/history/index.hpp>
#include <node/history/keys.hpp>
#include <node/state/state_store.hpp>

namespace assay::history {
namespace {

/// Where the record of an event is.
struct RecordPlace {
    contracts::TaskId task;
    std::uint32_t index = 0;
    static constexpr auto fields() { return Fields<&RecordPlace::task, &RecordPlace::index>{}; }
};

void put_payment(storage::Batch& batch, const AccountId& to, std::uint64_t here, const node::Payment& payment) {
    put(batch, with_number(make_key(Kind::kPayment, to.view()), here), payment);
}

void index_events(storage::Batch& batch, Height height, const std::vector<contracts::HistoryRecord>& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
        const contracts::HistoryRecord& record = records[i];
        const std::uint64_t here = position(height, i);
        const RecordPlace place{.task = record.task, .index = record.index};
        put(batch, with_number(make_key(Kind::kEvent), here), place);
        for (const AccountId& account : contracts::accounts_of(record)) {
            put(batch, with_number(make_key(Kind::kAccountEvent, account.view()), here), place);
        }
        const auto* paid = std::get_if<contracts::history::Paid>(&record.event);
        if (paid != nullptr && !paid->to.is_zero()) {
            put_payment(
                batch, paid->to, here,
                {.height = height,
                 .tx = record.tx,
                 .task = record.task,
                 .reason = paid->reason,
                 .from = {},
                 .amount = paid->amount}
            );
        }
    }
}

/// Transfers come after the block's events: a position says no more than an order.
void index_transfers(
    storage::Batch& batch, const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome
) {
    static const std::string kTransfer = contracts::action_name(contracts::Transfer{});
    for (std::size_t i = 0; i < block.txs.size(); ++i) {
        const contracts::Receipt& receipt = outcome.receipts[i];
        if (receipt.code != 0 || receipt.action != kTransfer) {
            continue;
        }
        const auto tx = codec::decode<contracts::Tx>(block.txs[i]);
        const auto* transfer = tx ? std::get_if<contracts::Transfer>(&tx->body.action) : nullptr;
        if (transfer != nullptr) {
            put_payment(
                batch, transfer->to, position(block.height, outcome.history.size() + i),
                {.height = block.height,
                 .tx = receipt.tx,
                 .task = std::nullopt,
                 .reason = std::nullopt,
                 .from = receipt.sender,
                 .amount = transfer->amount}
            );
        }
    }
}

node::ValidatorChange change_of(Height height, const AccountId& account, const contracts::Validator& record) {
    return {
        .height = height,
        .account = account,
        .power = record.power,
        .jailed_until = record.jailed_until,
        .is_banned = record.is_banned,
        .slashed = record.slashed};
}

/// Whether more has changed than how many blocks a validator missed.
bool is_news(const std::optional<Bytes>& before, const contracts::Validator& now) {
    if (!before) {
        return true;
    }
    const auto old = decode_stored<contracts::Validator>(*before);
    return old.key != now.key || old.power != now.power || old.jailed_until != now.jailed_until ||
           old.is_banned != now.is_banned || old.slashed != now.slashed;
}

/// VAL-5, VAL-7: what the validator was punished for between the two records. A new record was not.
std::optional<node::ValidatorPenalty> penalty_of(
    Height height, const AccountId& account, const std::optional<Bytes>& before, const contracts::Validator& now
) {
    if (!before) {
        return std::nullopt;
    }
    const auto old = decode_stored<contracts::Validator>(*before);
    node::ValidatorPenalty out{
        .height = height,
        .account = account,
        .is_double_sign = now.is_banned && !old.is_banned,
        .amount = {},
        .jailed_until = {}};
    if (out.is_double_sign) {
        out.amount = Amount{now.slashed.grains - old.slashed.grains};
        return out;
    }
    if (now.is_banned || now.jailed_until.value == 0 || now.jailed_until == old.jailed_until) {
        return std::nullopt;
    }
    out.jailed_until = now.jailed_until;
    return out;
}

void index_validators(
    storage::Batch& batch, const storage::Snapshot& before, Height height, const contracts::Changes& changes
) {
    std::uint64_t count = 0;
    const Bytes first{static_cast<std::uint8_t>(contracts::SlotKind::kValidator)};
    for (auto it = changes.lower_bound(first); it != changes.end() && it->first.front() == first.front(); ++it) {
        const auto& [key, value] = *it;
        AccountId account;
        if (!value || key.size() != first.size() + account.data.size()) {
            continue;
        }
        std::copy(key.begin() + 1, key.end(), account.data.begin());
        const auto record = decode_stored<contracts::Validator>(*value);
        const auto earlier = node::read_slot(before, key);
        if (is_news(earlier, record)) {
            const auto change = change_of(height, account, record);
            const std::uint64_t here = position(height, count++);
            if (const auto penalty = penalty_of(height, account, earlier, record)) {
                put(batch, with_number(make_key(Kind::kPenalty), here), *penalty);
                put(batch, with_number(make_key(Kind::kAccountPenalty, account.view()), here), *penalty);
            }
            put(batch, with_number(make_key(Kind::kValidatorChange), here), change);
            put(batch, with_number(make_key(Kind::kAccountChange, account.view()), here), change);
        }
    }
}

void index_fees(
    storage::Batch& batch, const storage::Snapshot& before, Height height,
    const std::vector<contracts::Receipt>& receipts
) {
    const auto price = node::read_slot(before, contracts::keys::base_fee());
    const std::uint64_t gas = std::accumulate(
        receipts.begin(), receipts.end(), std::uint64_t{0},
        [](std::uint64_t sum, const contracts::Receipt& receipt) { return sum + receipt.gas; }
    );
    put(batch, height_key(Kind::kFees, height),
        node::BlockFees{
            .height = height,
            .base_fee = price ? std::optional(decode_stored<Amount>(*price)) : std::nullopt,
            .gas = gas});
}

}  // namespace

void index_listings(
    storage::Batch& batch, const storage::Snapshot& before, const consensus::FinalizeRequest& block,
    const contracts::BlockOutcome& outcome
) {
    index_events(batch, block.height, outcome.history);
    index_transfers(batch, block, outcome);
    index_validators(batch, before, block.height, outcome.changes);
    index_fees(batch, before, block.height, outcome.receipts);
}

node::Page<contracts::HistoryRecord> Reader::events(
    const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit, node::Order order
) const {
    const Bytes prefix = account ? make_key(Kind::kAccountEvent, account->view()) : make_key(Kind::kEvent);
    const auto places = read_page<RecordPlace>(snapshot_, prefix, from, limit, order);
    node::Page<contracts::HistoryRecord> out{.items = {}, .next = places.next};
    out.items.reserve(places.items.size());
    for (const RecordPlace& place : places.items) {
        const auto record = snapshot_.get(
            storage::Column::kHistory, with_number(make_key(Kind::kTaskRecord, place.task.view()), place.index)
        );
        if (!record) {
            throw storage::StorageError("database: a record of a task's history is missing");
        }
        out.items.push_back(decode_stored<contracts::HistoryRecord>(*record));
    }
    return out;
}

std::vector<contracts::HistoryRecord> Reader::events_of(Height height) const {
    constexpr std::size_t kAtOnce = 256;
    std::vector<contracts::HistoryRecord> out;
    for (std::optional<std::uint64_t> from = position(height, 0); from;) {
        auto page = events(std::nullopt, *from, kAtOnce);
        for (contracts::HistoryRecord& record : page.items) {
            if (record.height != height) {
                return out;
            }
            out.push_back(std::move(record));
        }
        from = page.next;
    }
    return out;
}

node::Page<node::Payment> Reader::payments(
    const AccountId& account, std::uint64_t from, std::size_t limit, node::Order order
) const {
    return read_page<node::Payment>(snapshot_, make_key(Kind::kPayment, account.view()), from, limit, order);
}

node::Page<node::ValidatorChange> Reader::validator_changes(
    const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit
) const {
    return read_page<node::ValidatorChange>(
        snapshot_, account ? make_key(Kind::kAccountChange, account->view()) : make_key(Kind::kValidatorChange), from,
        limit
    );
}

node::Page<node::ValidatorPenalty> Reader::validator_penalties(
    const std::optional<AccountId>& account, std::uint64_t from, std::size_t limit, node::Order order
) const {
    return read_page<node::ValidatorPenalty>(
        snapshot_, account ? make_key(Kind::kAccountPenalty, account->view()) : make_key(Kind::kPenalty), from, limit,
        order
    );
}

std::optional<node::BlockFees> Reader::fees(Height height) const {
    const auto bytes = snapshot_.get(storage::Column::kHistory, height_key(Kind::kFees, height));
    return bytes ? std::optional(decode_stored<node::BlockFees>(*bytes)) : std::nullopt;
}

}  // namespace assay::history
