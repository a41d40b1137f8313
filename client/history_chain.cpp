// SPDX-License-Identifier: Apache-2.0
#include <client/history_chain.hpp>

#include <string>
#include <utility>

#include <core/codec/borsh.hpp>
#include <client/proof.hpp>

namespace assay::client {
namespace {

using contracts::HistoryRecord;
using nlohmann::json;

constexpr int kPageRecords = 100;

HistoryRecord decode_record(const json& item, std::uint64_t index) {
    auto record = codec::decode<HistoryRecord>(hex_member(item, "raw"));
    if (!record) {
        throw Mismatch("history record " + std::to_string(index) + " does not decode");
    }
    return *std::move(record);
}

}  // namespace

void HistoryChain::add(const HistoryRecord& record) {
    const std::string name = "history record " + std::to_string(count_);
    if (record.task != task_) {
        throw Mismatch(name + " is of another task");
    }
    if (record.index != count_) {
        throw Mismatch(name + " is missing: record " + std::to_string(record.index) + " is in its place");
    }
    if (record.height < last_height_ || record.height > limit_) {
        throw Mismatch(name + " is of height " + std::to_string(record.height.value) + ", which cannot be");
    }
    last_height_ = record.height;
    roots_.push_back(contracts::extend_history(roots_.back(), record));
    ++count_;
    records_.push_back(record);
}

void fetch_history(RpcClient& rpc, const contracts::TaskId& task, std::uint64_t count, HistoryChain& chain) {
    json params{{"task", to_hex(task.view())}, {"limit", kPageRecords}};
    while (chain.count() < count) {
        const json page = rpc.call("task_history", params);
        const std::uint64_t before = chain.count();
        for (const json& item : page.at("records")) {
            if (chain.count() < count) {
                chain.add(decode_record(item, chain.count()));
            }
        }
        const json& next = page.at("next_cursor");
        if (chain.count() < count && (next.is_null() || chain.count() == before)) {
            throw Mismatch(
                "history record " + std::to_string(chain.count()) + " is missing: the chain counts " +
                std::to_string(count)
            );
        }
        params["cursor"] = next;
    }
}

}  // namespace assay::client
