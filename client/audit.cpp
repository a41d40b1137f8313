// SPDX-License-Identifier: Apache-2.0
#include <client/audit.hpp>

#include <optional>
#include <string>
#include <utility>

#include <client/rpc_codes.hpp>
#include <contracts/state/state.hpp>
#include <contracts/state/history.hpp>
#include <contracts/state/task.hpp>
#include <core/codec/borsh.hpp>
#include <client/proof.hpp>

namespace assay::client {
namespace {

using contracts::HistoryRecord;
using contracts::TaskId;
using nlohmann::json;

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
            throw Mismatch(
                name + " is missing: the node sent record " + std::to_string(record.index) + " in its place"
            );
        }
        if (record.height < last_height_ || record.height > limit_) {
            throw Mismatch(name + " is of height " + std::to_string(record.height.value) + ", which cannot be");
        }
        last_height_ = record.height;
        roots_.push_back(contracts::extend_history(roots_.back(), record));
        ++count_;
        records_.push_back(record);
    }
    std::uint64_t count() const { return count_; }
    std::vector<HistoryRecord>& records() { return records_; }
    const Hash256& root() const { return roots_.back(); }
    /// After the first `count` records.
    const Hash256& root_after(std::uint64_t count) const { return roots_.at(count); }

  private:
    TaskId task_;
    Height limit_;
    Height last_height_;
    std::uint64_t count_ = 0;
    std::vector<Hash256> roots_{Hash256{}};
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
void fetch_history(RpcClient& rpc, const TaskId& task, std::uint64_t count, HistoryChain& chain) {
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

/// What the chain says of the history after a block.
struct Extent {
    std::uint64_t count = 0;
    Hash256 root;
};

/// nullopt when the node does not keep the state of `height`.
std::optional<Extent> prove_extent(RpcClient& rpc, const TaskId& id, Height height, const Trust& trust) {
    ProvenSlot slot;
    try {
        slot = prove_slot(rpc, contracts::keys::task(id), height);
        check_signed(rpc, slot, trust);
    } catch (const RpcError& error) {
        if (error.code == kUnavailable) {
            return std::nullopt;
        }
        throw;
    }
    if (!slot.value) {
        return Extent{};
    }
    const auto task = codec::decode<contracts::Task>(*slot.value);
    if (!task) {
        throw Mismatch("the proven record of block " + std::to_string(height.value) + " does not decode");
    }
    return Extent{.count = task->history_count, .root = task->history_root};
}

/// The records that no longer make the chain's root belong to one block, found by halving: each state says how many
/// there were after its block and their root. Of states that are not kept nothing is known; they are older than those
/// that are.
std::string name_first_wrong(
    RpcClient& rpc, const TaskId& id, const HistoryChain& chain, Height last, const Extent& proven, Trust trust
) {
    trust.max_age_s.reset();  // older states are what this is about
    Height good{0};
    Height bad = last;
    Extent before;
    Extent after = proven;
    while (bad.value - good.value > 1) {
        const Height middle{good.value + (bad.value - good.value) / 2};
        const auto extent = prove_extent(rpc, id, middle, trust);
        const bool is_later =
            !extent || (extent->count <= chain.count() && chain.root_after(extent->count) == extent->root);
        (is_later ? good : bad) = middle;
        if (extent) {
            (is_later ? before : after) = *extent;
        }
    }
    const bool is_one = after.count == before.count + 1;
    return (is_one ? "history record " + std::to_string(before.count)
                   : "one of the history records " + std::to_string(before.count) + " to " +
                         std::to_string(after.count - 1)) +
           " is not the chain's: after block " + std::to_string(bad.value) + " the chain's history root is " +
           to_hex(after.root.view());
}

std::string describe_wrong_root(
    RpcClient& rpc, const TaskId& id, const HistoryChain& chain, Height last, const Extent& proven, const Trust& trust
) {
    try {
        return name_first_wrong(rpc, id, chain, last, proven, trust);
    } catch (const std::runtime_error& why) {  // a node that lies about older states, or hides them
        return "the history records hash to " + to_hex(chain.root().view()) + ", the chain's history root is " +
               to_hex(proven.root.view()) + "; which record differs cannot be told: " + why.what();
    }
}

contracts::Task decode_task(const ProvenSlot& slot, const TaskId& id) {
    if (!slot.value) {
        throw RpcError(kNotFound, "not_found", "the chain has no task " + to_hex(id.view()), json::object());
    }
    auto task = codec::decode<contracts::Task>(*slot.value);
    if (!task || task->id != id) {
        throw Mismatch("the proven record is not that of task " + to_hex(id.view()));
    }
    return *std::move(task);
}

}  // namespace

AuditResult audit_task(RpcClient& rpc, const contracts::TaskId& task, const Trust& trust) {
    AuditResult result;
    try {
        const ProvenSlot slot = prove_slot(rpc, contracts::keys::task(task));
        result.height = slot.height.value;
        result.app_hash = slot.app_hash;
        const contracts::Task proven = decode_task(slot, task);
        result.signed_at_s = check_signed(rpc, slot, trust);
        HistoryChain chain(task, slot.height);
        fetch_history(rpc, task, proven.history_count, chain);
        result.records = chain.count();
        if (chain.root() != proven.history_root) {
            const Extent extent{.count = proven.history_count, .root = proven.history_root};
            throw Mismatch(describe_wrong_root(rpc, task, chain, slot.height, extent, trust));
        }
        result.history = std::move(chain.records());
        result.verified = true;
    } catch (const Mismatch& mismatch) {
        result.problem = mismatch.what();
    } catch (const json::exception& malformed) {
        result.problem = std::string("the node's answer is malformed: ") + malformed.what();
    }
    return result;
}

}  // namespace assay::client
