// SPDX-License-Identifier: Apache-2.0
#include <node/history/names.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <core/base/fields.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/task.hpp>
#include <node/history/index.hpp>
#include <node/history/keys.hpp>

namespace assay::history {
namespace {

using node::NameKind;
using storage::Column;

/// The kind follows the id in the key, so that a prefix finds every kind at once.
void put_name(storage::Batch& batch, ByteView id, NameKind kind, const Bytes& value = {}) {
    Bytes key = make_key(Kind::kName, id);
    key.push_back(static_cast<std::uint8_t>(kind));
    batch.put(Column::kHistory, key, value);
}

node::Named decode_name(const storage::Entry& entry) {
    node::Named out;
    const std::uint8_t kind = entry.key.back();
    if (kind < static_cast<std::uint8_t>(NameKind::kAccount) ||
        kind > static_cast<std::uint8_t>(NameKind::kValidator)) {
        throw storage::StorageError("database: a name does not decode");
    }
    out.kind = NameKind{kind};
    out.id.assign(entry.key.begin() + 1, entry.key.end() - 1);
    if (out.kind == NameKind::kBlock) {
        out.height = decode_stored<Height>(entry.value);
    } else if (out.kind == NameKind::kValidator) {
        out.owner = decode_stored<AccountId>(entry.value);
    }
    return out;
}

/// Whether an id begins with the prefix's bits.
bool begins_with(ByteView id, const node::IdPrefix& prefix) {
    const std::size_t whole = prefix.bits / 8;
    const std::uint32_t rest = prefix.bits % 8;
    if (id.size() < whole + (rest == 0 ? 0 : 1) ||
        !std::equal(prefix.bytes.begin(), prefix.bytes.begin() + static_cast<std::ptrdiff_t>(whole), id.begin())) {
        return false;
    }
    const auto mask = static_cast<std::uint8_t>(0xffU << (8U - rest));
    return rest == 0 || (id[whole] & mask) == prefix.bytes[whole];
}

/// The entries of a column whose id, which follows one byte of the key, begins with the prefix.
std::vector<storage::Entry> scan_ids(
    const storage::Snapshot& snapshot, Column column, Kind kind, const node::IdPrefix& prefix, std::size_t limit
) {
    const std::size_t whole = prefix.bits / 8;
    auto entries =
        snapshot.scan(column, make_key(kind, ByteView(prefix.bytes).first(whole)), make_key(kind, prefix.bytes), limit);
    const auto end = std::find_if(entries.begin(), entries.end(), [&](const storage::Entry& entry) {
        return !begins_with(ByteView(entry.key).subspan(1), prefix);
    });
    entries.erase(end, entries.end());
    return entries;
}

/// What a listing by title has as its value.
struct Titled {
    contracts::TaskId task;
    std::string title;
    static constexpr auto fields() { return Fields<&Titled::task, &Titled::title>{}; }
};

/// Titles are printable ASCII (TASK-2), so small letters are these.
Bytes to_small(const std::string& text) {
    Bytes out;
    for (const char c : text) {
        out.push_back(static_cast<std::uint8_t>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
    }
    return out;
}

void put_title(
    storage::Batch& batch, const contracts::Changes& changes, const contracts::TaskId& task, std::uint64_t here
) {
    const auto slot = changes.find(contracts::keys::task(task));
    if (slot == changes.end() || !slot->second) {
        return;
    }
    const std::string title = decode_stored<contracts::Task>(*slot->second).spec.title;
    Bytes key = make_key(Kind::kTitle, to_small(title));
    key.push_back(0);
    put(batch, with_number(key, here), Titled{.task = task, .title = title});
}

}  // namespace

void index_names(storage::Batch& batch, const contracts::Changes& changes) {
    for (const auto& [key, value] : changes) {
        const ByteView id = ByteView(key).subspan(1);
        const contracts::SlotKind kind{key.front()};
        if (value && kind == contracts::SlotKind::kAccount) {
            put_name(batch, id, NameKind::kAccount);
        } else if (value && kind == contracts::SlotKind::kConsensusAccount) {
            put_name(batch, id, NameKind::kValidator, *value);
        }
    }
}

void index_names(
    storage::Batch& batch, const consensus::FinalizeRequest& block, const contracts::BlockOutcome& outcome
) {
    index_names(batch, outcome.changes);
    put_name(batch, block.block_hash.view(), NameKind::kBlock, codec::encode(block.height));
    for (std::size_t i = 0; i < outcome.history.size(); ++i) {
        const contracts::HistoryRecord& record = outcome.history[i];
        if (std::holds_alternative<contracts::history::Submitted>(record.event)) {
            put_name(batch, record.task.view(), NameKind::kTask);
            put_title(batch, outcome.changes, record.task, position(block.height, i));
        } else if (const auto dispute = opened_dispute(record.event)) {
            put_name(batch, dispute->view(), NameKind::kDispute);
        }
    }
}

std::vector<node::Named> find_names(
    const storage::Snapshot& snapshot, const node::IdPrefix& prefix, std::uint32_t limit
) {
    std::vector<node::Named> out;
    for (const auto& entry : scan_ids(snapshot, Column::kHistory, Kind::kName, prefix, limit)) {
        out.push_back(decode_name(entry));
    }
    for (const auto& entry : scan_ids(snapshot, Column::kTxs, Kind::kTx, prefix, limit - out.size())) {
        const auto place = decode_stored<TxPlace>(entry.value);
        out.push_back(
            {.kind = NameKind::kTx,
             .id = Bytes(entry.key.begin() + 1, entry.key.end()),
             .height = place.height,
             .owner = {}}
        );
    }
    return out;
}

std::vector<node::Named> find_titles(
    const storage::Snapshot& snapshot, const std::string& beginning, std::uint32_t limit
) {
    // What follows a title in a key are a zero byte and a position: what could match these is asked for by nobody.
    if (std::any_of(beginning.begin(), beginning.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; })) {
        return {};
    }
    const Bytes prefix = make_key(Kind::kTitle, to_small(beginning));
    std::vector<node::Named> out;
    for (const auto& entry : snapshot.scan(Column::kHistory, prefix, prefix, limit)) {
        auto found = decode_stored<Titled>(entry.value);
        out.push_back(
            {.kind = NameKind::kTask,
             .id = Bytes(found.task.data.begin(), found.task.data.end()),
             .height = {},
             .owner = {},
             .title = std::move(found.title)}
        );
    }
    return out;
}

}  // namespace assay::history
