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
#include <client/history_chain.hpp>
#include <client/proof.hpp>

namespace assay::client {
namespace {

using contracts::TaskId;
using nlohmann::json;

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
