// SPDX-License-Identifier: Apache-2.0
#include <client/audit_export.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <client/anchor.hpp>
#include <client/audit_check.hpp>
#include <client/history_chain.hpp>
#include <client/rpc_answers.hpp>
#include <contracts/state/state.hpp>
#include <core/codec/borsh.hpp>

namespace assay::client {
namespace {

using contracts::HistoryRecord;
using contracts::TaskId;
using nlohmann::json;
using Kind = AuditSubject::Kind;

constexpr std::uint64_t kPage = 100;

/// The tasks whose events name the account: the node's word, and so in the end is that none is missing.
std::set<TaskId> tasks_of(RpcClient& rpc, const AccountId& account) {
    std::set<TaskId> out;
    Listing listing("event_list");
    json params{{"account", to_hex(account.view())}, {"limit", kPage}};
    do {
        const json page = rpc.call("event_list", params);
        const json& events = answer_list("event_list", page, "events");
        listing.count(events.size());
        for (const json& event : events) {
            out.insert(answer_id<TaskId>("event_list", answer_member("event_list", event, "task")));
        }
        params["cursor"] = answer_member("event_list", page, "next_cursor");
    } while (!params["cursor"].is_null());
    return out;
}

class Export {
  public:
    Export(RpcClient& rpc, const AuditSubject& subject, const Trust& trust) : rpc_(rpc), trust_(trust) {
        file_.subject = subject;
    }

    AuditFile run(std::optional<Height> height) {
        const json status = rpc_.call("node_status");
        check_protocol(status);
        signers_ = signers_of(status, trust_);
        file_.chain_id = signers_.chain_id;
        file_.engine = signers_.by_many ? kCometBft : "solo";
        begin(height, Height{std::max<std::uint64_t>(number_member(status, "height"), 1) - 1});
        for (const Bytes& key : subject_slots(file_.subject)) {
            add_slot(key);
        }
        for (const TaskId& task : tasks()) {
            add_task(task);
        }
        add_blocks();
        return std::move(file_);
    }

  private:
    /// Chooses the state, by default the `newest` that is signed already, and checks the block that signs it.
    void begin(std::optional<Height> height, Height newest) {
        const ProvenSlot slot = prove_slot(rpc_, contracts::keys::supply(), height ? *height : newest);
        Trust trust = trust_;
        if (height) {
            trust.max_age_s.reset();  // an old state is what was asked for
        }
        const SignedHeader header = read_signing(rpc_, slot, trust);
        file_.height = slot.height;
        file_.app_hash = slot.app_hash;
        signing_ = header.raw;
    }

    std::optional<Bytes> add_slot(const Bytes& key) {
        ProvenSlot slot = prove_slot(rpc_, key, file_.height);
        if (slot.app_hash != file_.app_hash) {
            throw Mismatch("the node proved two slots of one height against two app hashes");
        }
        file_.slots.push_back({.key = key, .value = slot.value, .proof = std::move(slot.proof)});
        return slot.value;
    }

    std::vector<TaskId> tasks() {
        if (file_.subject.kind == Kind::kTask) {
            return {file_.subject.task};
        }
        if (file_.subject.kind == Kind::kAccount) {
            const std::set<TaskId> found = tasks_of(rpc_, file_.subject.account);
            return {found.begin(), found.end()};
        }
        std::vector<TaskId> out;
        std::set<TaskId> seen;
        for (std::uint64_t height = 1; height <= file_.height.value; ++height) {
            const std::vector<Bytes> txs = signers_.by_many ? light_txs(height) : solo_block(Height{height}).txs;
            for (const TaskId& task : submitted_tasks(txs)) {
                if (seen.insert(task).second) {
                    out.push_back(task);
                }
            }
        }
        return out;
    }

    solo::Block solo_block(Height height) {
        Bytes raw = hex_member(rpc_.call("chain_block", {{"height", height.value}}), "raw");
        solo::Block block = check_solo_block(raw, height, signers_);
        blocks_[height.value] = std::move(raw);
        return block;
    }

    Bytes light_block(std::uint64_t height) {
        Bytes raw = hex_member(rpc_.call("chain_light_block", {{"height", height}}), "raw");
        blocks_[height] = raw;
        return raw;
    }

    /// The transactions of a block that CometBFT's validators signed, one call for each.
    const std::vector<Bytes>& light_txs(std::uint64_t height) {
        const auto block = codec::decode<light::LightBlock>(light_block(height));
        std::vector<Bytes> txs;
        const json answer = rpc_.call("chain_block", {{"height", height}});
        for (const json& item : answer_list("chain_block", answer, "txs")) {
            const json hash = answer_member("chain_block", item, "hash");
            txs.push_back(hex_member(rpc_.call("tx_get", {{"hash", hash}}), "raw"));
        }
        if (!block || !are_txs_of(block->header, txs)) {
            throw Mismatch(
                "the node's transactions of block " + std::to_string(height) +
                " are not those that its validators signed"
            );
        }
        return txs_[height] = std::move(txs);
    }

    void add_task(const TaskId& id) {
        const auto value = add_slot(contracts::keys::task(id));
        if (!value) {
            if (file_.subject.kind == Kind::kTask) {
                throw RpcError(kNotFound, "not_found", "the chain has no task " + to_hex(id.view()), json::object());
            }
            if (file_.subject.kind == Kind::kAccount) {  // submitted after this state
                file_.slots.pop_back();
            }
            return;
        }
        const auto task = codec::decode<contracts::Task>(*value);
        if (!task || task->id != id) {
            throw Mismatch("the proven record is not that of task " + to_hex(id.view()));
        }
        const auto keys = task_slots(id, task->checkpoints);
        for (std::size_t i = 1; i < keys.size(); ++i) {
            add_slot(keys[i]);
        }
        HistoryChain chain(id, file_.height);
        fetch_history(rpc_, id, task->history_count, chain);
        if (chain.root() != task->history_root) {
            throw Mismatch(
                "the history records of task " + to_hex(id.view()) + " hash to " + to_hex(chain.root().view()) +
                ", the chain's history root is " + to_hex(task->history_root.view()) +
                "; assay audit task finds the record that differs"
            );
        }
        AuditFile::History history{.task = id, .records = {}};
        for (const HistoryRecord& record : chain.records()) {
            history.records.push_back(codec::encode(record));
            record_heights_.insert(record.height.value);
        }
        file_.histories.push_back(std::move(history));
    }

    void add_blocks() {
        const std::uint64_t last = file_.height.value + 1;
        if (signers_.by_many) {
            add_light_blocks(last);
        } else {
            for (const std::uint64_t height : record_heights_) {
                if (!blocks_.contains(height)) {
                    solo_block(Height{height});
                }
            }
        }
        blocks_[last] = std::move(signing_);
        for (auto& [height, raw] : blocks_) {
            file_.blocks.push_back({.height = Height{height}, .raw = std::move(raw)});
            if (const auto txs = txs_.find(height); txs != txs_.end()) {
                file_.blocks.back().txs = std::move(txs->second);
            }
        }
    }

    /// The blocks from the trusted one to the last, as many as it takes to follow the validators.
    void add_light_blocks(std::uint64_t last) {
        if (!trust_.block || trust_.block->height > last) {
            return;  // earlier blocks are followed by hashes, each of them, and the last one needs none
        }
        const BlockSource source = [this](std::uint64_t height) { return light_block(height); };
        static_cast<void>(check_header(source, Height{last}, signers_, trust_, now_seconds()));
    }

    RpcClient& rpc_;
    const Trust& trust_;
    Signers signers_;
    AuditFile file_;
    Bytes signing_;
    std::map<std::uint64_t, Bytes> blocks_;
    std::map<std::uint64_t, std::vector<Bytes>> txs_;  ///< of a whole chain under CometBFT
    std::set<std::uint64_t> record_heights_;
};

}  // namespace

AuditFile export_audit(RpcClient& rpc, const AuditSubject& subject, std::optional<Height> height, const Trust& trust) {
    return Export(rpc, subject, trust).run(height);
}

}  // namespace assay::client
