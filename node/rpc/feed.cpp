// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/feed.hpp>

#include <cstring>
#include <stdexcept>
#include <utility>

#include <contracts/ledger/actions/ledger_actions.hpp>
#include <contracts/state/mentions.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <node/rpc/arguments.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

namespace {

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

FeedItem block_item(const node::StoredBlock& block, const contracts::Params& params) {
    Json head = render_block(block, params);
    head["txs"] = block.txs.size();
    for (const char* name : {"raw", "signature", "txs_root"}) {
        head.erase(name);
    }
    return {.kind = "block", .data = json_text(head)};
}

FeedItem tx_item(const node::StoredBlock& block, std::uint32_t index) {
    const node::StoredTx stored{
        .bytes = block.txs[index], .height = block.height, .index = index, .receipt = block.receipts[index]};
    FeedItem item{.kind = "tx", .data = json_text(render_tx(stored, false))};
    // Whoever made a transaction that was not charged need not be whom it names.
    if (stored.receipt.is_charged) {
        item.accounts.insert(stored.receipt.sender);
        item.accounts.insert(stored.receipt.owner.value_or(stored.receipt.sender));
    }
    if (stored.receipt.code == 0) {
        const auto tx = codec::decode<contracts::Tx>(stored.bytes);
        const auto* transfer = tx ? std::get_if<contracts::Transfer>(&tx->body.action) : nullptr;
        if (transfer != nullptr) {
            item.accounts.insert(transfer->to);
        }
    }
    return item;
}

}  // namespace

FeedBlock make_feed(const node::NodeApi& api, Height height) {
    const auto block = api.block(height);
    if (!block) {
        throw std::runtime_error("block " + std::to_string(height.value) + " is not there");
    }
    FeedBlock out{.height = height, .items = {}};
    out.items.push_back(block_item(*block, api.params()));
    for (std::uint32_t i = 0; i < block->txs.size(); ++i) {
        out.items.push_back(tx_item(*block, i));
    }
    for (const contracts::HistoryRecord& record : api.events_of(height)) {
        out.items.push_back(
            {.kind = "event",
             .data = json_text(render(record)),
             .accounts = contracts::accounts_of(record),
             .task = record.task,
             .dispute = contracts::dispute_of(record.event)}
        );
    }
    return out;
}

const char* to_string(TopicKind kind) noexcept {
    switch (kind) {
        case TopicKind::kBlocks:
            return "blocks";
        case TopicKind::kEvents:
            return "events";
        case TopicKind::kAccount:
            return "account";
        case TopicKind::kTask:
            return "task";
        case TopicKind::kDispute:
            return "dispute";
    }
    return "unknown";
}

Topic topic_argument(const Json& params) {
    const Arguments arguments(params);
    const std::string name = arguments.text("topic");
    Topic out;
    for (const auto kind :
         {TopicKind::kBlocks, TopicKind::kEvents, TopicKind::kAccount, TopicKind::kTask, TopicKind::kDispute}) {
        if (name != to_string(kind)) {
            continue;
        }
        out.kind = kind;
        if (kind == TopicKind::kAccount) {
            out.account = arguments.account("account");
        } else if (kind == TopicKind::kTask) {
            out.task = arguments.id<contracts::TaskId>("task");
        } else if (kind == TopicKind::kDispute) {
            out.dispute = arguments.id<contracts::DisputeId>("dispute");
        }
        return out;
    }
    throw Fault(
        kInvalidParams, "parameter \"topic\" must be blocks, events, account, task or dispute", {{"parameter", "topic"}}
    );
}

bool concerns(const Topic& topic, const FeedItem& item) {
    switch (topic.kind) {
        case TopicKind::kBlocks:
            return std::strcmp(item.kind, "block") == 0;
        case TopicKind::kEvents:
            return std::strcmp(item.kind, "event") == 0;
        case TopicKind::kAccount:
            return item.accounts.contains(topic.account);
        case TopicKind::kTask:
            return item.task == topic.task;
        case TopicKind::kDispute:
            return item.dispute == topic.dispute;
    }
    return false;
}

}  // namespace assay::rpc
