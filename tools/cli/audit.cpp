// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/audit.hpp>

#include <optional>
#include <string>
#include <utility>

#include <contracts/chain/state.hpp>
#include <contracts/tasks/task.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/proof.hpp>

namespace assay::cli {
namespace {

using contracts::HistoryRecord;
using contracts::TaskId;
using nlohmann::json;

constexpr int kNotFound = -32001;
constexpr int kPageRecords = 100;

/// The history as the records make it, link by link from nothing.
class HistoryChain {
  public:
    HistoryChain(const TaskId& task, Height limit) : task_(task), limit_(limit) {}

    void add(const HistoryRecord& record) {
        const std::string name = "history record " + std::to_string(count_);
        if (record.task != task_) {
            throw Mismatch(name + " is of another task");
        }
        if (record.index != count_) {
            throw Mismatch(name + " is missing: the node sent record " + std::to_string(record.index) + " in its place");
        }
        if (record.height < last_height_ || record.height > limit_) {
            throw Mismatch(name + " is of height " + std::to_string(record.height.value) + ", which cannot be");
        }
        last_height_ = record.height;
        root_ = contracts::extend_history(root_, record);
        ++count_;
        records_.push_back(record);
    }
    std::uint64_t count() const { return count_; }
    std::vector<HistoryRecord>& records() { return records_; }
    const Hash256& root() const { return root_; }

  private:
    TaskId task_;
    Height limit_;
    Height last_height_;
    std::uint64_t count_ = 0;
    Hash256 root_;
    std::vector<HistoryRecord> records_;
};

HistoryRecord decode_record(const json& item, std::uint64_t index) {
    auto record = codec::decode<HistoryRecord>(hex_member(item, "raw"));
    if (!record) {
        throw Mismatch("history record " + std::to_string(index) + " does not decode");
    }
    return *std::move(record);
}

/// Records beyond `count` are of blocks after the proof's and are left out.
void fetch_history(net::RpcClient& rpc, const TaskId& task, std::uint64_t count, HistoryChain& chain) {
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
            throw Mismatch("history record " + std::to_string(chain.count()) + " is missing: the chain counts " +
                           std::to_string(count));
        }
        params["cursor"] = next;
    }
}

contracts::Task decode_task(const ProvenSlot& slot, const TaskId& id) {
    if (!slot.value) {
        throw net::RpcError(kNotFound, "not_found", "the chain has no task " + to_hex(id.view()), json::object());
    }
    auto task = codec::decode<contracts::Task>(*slot.value);
    if (!task || task->id != id) {
        throw Mismatch("the proven record is not that of task " + to_hex(id.view()));
    }
    return *std::move(task);
}

}  // namespace

AuditResult audit_task(
    net::RpcClient& rpc, const contracts::TaskId& task, const Trust& trust
) {
    AuditResult result;
    try {
        const ProvenSlot slot = prove_slot(rpc, contracts::keys::task(task));
        result.height = slot.height.value;
        result.app_hash = slot.app_hash;
        const contracts::Task proven = decode_task(slot, task);
        HistoryChain chain(task, slot.height);
        fetch_history(rpc, task, proven.history_count, chain);
        result.records = chain.count();
        if (chain.root() != proven.history_root) {
            throw Mismatch("the history records hash to " + to_hex(chain.root().view()) + ", the chain's history root is " +
                           to_hex(proven.history_root.view()));
        }
        check_signed(rpc, slot, trust);
        result.history = std::move(chain.records());
        result.verified = true;
    } catch (const Mismatch& mismatch) {
        result.problem = mismatch.what();
    } catch (const json::exception& malformed) {
        result.problem = std::string("the node's answer is malformed: ") + malformed.what();
    }
    return result;
}

}  // namespace assay::cli
