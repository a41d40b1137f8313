// SPDX-License-Identifier: Apache-2.0
#include <client/audit_check.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <client/history_chain.hpp>
#include <client/proof.hpp>
#include <consensus/light/verify.hpp>
#include <contracts/state/state.hpp>
#include <contracts/transaction/transaction.hpp>
#include <core/codec/borsh.hpp>
#include <core/merkle/jmt.hpp>

namespace assay::client {
namespace {

using contracts::HistoryRecord;
using contracts::TaskId;
using Kind = AuditSubject::Kind;

std::string place(const char* list, std::size_t index) { return std::string(list) + "[" + std::to_string(index) + "]"; }

Bytes bytes_of(const Hash256& hash) { return {hash.data.begin(), hash.data.end()}; }

/// The parts of the file in the order in which they depend on each other: blocks, slots, histories.
class AuditCheck {
  public:
    AuditCheck(const AuditFile& file, const Trust& trust) : file_(file), trust_(trust) {}

    AuditFacts run() {
        facts_.subject = file_.subject;
        facts_.height = file_.height;
        facts_.app_hash = file_.app_hash;
        if (!trust_.chain_id.empty() && trust_.chain_id != file_.chain_id) {
            throw Mismatch("chain_id is \"" + file_.chain_id + "\", and \"" + trust_.chain_id + "\" is expected");
        }
        if (!trust_.engine.empty() && trust_.engine != file_.engine) {
            throw Mismatch("engine is \"" + file_.engine + "\", and \"" + trust_.engine + "\" is expected");
        }
        const std::uint64_t last = file_.height.value + 1;
        if (file_.blocks.empty() || file_.blocks.back().height.value != last) {
            throw Mismatch(
                (file_.blocks.empty() ? "blocks" : place("blocks", file_.blocks.size() - 1)) + " is not block " +
                std::to_string(last) + ", which signs the state of height " + std::to_string(file_.height.value)
            );
        }
        file_.engine == "solo" ? check_solo() : check_light();
        check_slots();
        check_histories();
        if (has_txs()) {
            check_heights();
        }
        facts_.slots = file_.slots.size();
        facts_.blocks = file_.blocks.size();
        return std::move(facts_);
    }

  private:
    bool is_chain() const { return file_.subject.kind == Kind::kChain; }
    /// Whether the file has the transactions of its blocks, under CometBFT beside them.
    bool has_txs() const { return file_.engine == "solo" || is_chain(); }

    void check_app_hash(const Hash256& carried) const {
        if (carried != file_.app_hash) {
            throw Mismatch(
                "app_hash is " + to_hex(file_.app_hash.view()) + ", and block " +
                std::to_string(file_.height.value + 1) + " carries " + to_hex(carried.view())
            );
        }
    }

    AccountId proposer() const {
        if (trust_.proposer) {
            return *trust_.proposer;
        }
        const auto last = codec::decode<solo::Block>(file_.blocks.back().raw);
        return last ? last->header.proposer : AccountId{};
    }

    void check_solo() {
        facts_.proposer = proposer();
        facts_.is_signer_known = trust_.proposer.has_value();
        const Signers signers{.chain_id = file_.chain_id, .by_many = false, .proposer = facts_.proposer};
        Hash256 parent{};
        Hash256 carried{};
        for (std::size_t i = 0; i < file_.blocks.size(); ++i) {
            const AuditFile::Block& item = file_.blocks[i];
            const solo::Block block = named(i, item, signers);
            if (is_chain() && block.header.height.value == i + 1 && block.header.parent != parent) {
                throw Mismatch(place("blocks", i) + " does not name the block before it as its parent");
            }
            parent = solo::block_hash(block.header);
            carried = block.header.app_hash;
            if (i == 0 && is_chain()) {
                facts_.genesis = carried;
            }
            facts_.block_times_ms[item.height] = block.header.time_ms;
            facts_.signed_at_s = static_cast<std::int64_t>(block.header.time_ms / 1'000U);
            if (item.txs) {
                throw Mismatch(place("blocks", i) + ".txs does not belong there: the block has its transactions in it");
            }
            note_transactions(block.header.height, block.txs);
        }
        check_app_hash(carried);
    }

    static solo::Block named(std::size_t index, const AuditFile::Block& item, const Signers& signers) {
        try {
            return check_solo_block(item.raw, item.height, signers);
        } catch (const Mismatch& mismatch) {
            throw Mismatch(place("blocks", index) + ": " + mismatch.what());
        }
    }

    void note_transactions(Height height, const std::vector<Bytes>& txs) {
        for (const Bytes& tx : txs) {
            txs_.insert({height, contracts::tx_hash(tx)});
        }
        if (is_chain() && height <= file_.height) {
            for (const TaskId& task : submitted_tasks(txs)) {
                if (seen_.insert(task).second) {
                    submitted_.push_back(task);
                }
            }
        }
    }

    /// LGT-8, and that the block is the one that the next one names. `parent` is the header before it.
    void check_linked(std::size_t index, const light::Header& header, const std::optional<light::Header>& parent) {
        const AuditFile::Block& item = file_.blocks[index];
        const std::string name = place("blocks", index);
        if (!parent) {
            facts_.genesis = fixed_from_hex<Hash256>(to_hex(header.app_hash));
        } else if (header.last_block_id.hash != bytes_of(light::header_hash(*parent))) {
            throw Mismatch(name + " does not name the block before it as its parent");
        }
        facts_.block_times_ms[item.height] = static_cast<std::uint64_t>(header.time.seconds) * 1'000U +
                                             static_cast<std::uint64_t>(header.time.nanos) / 1'000'000U;
        const bool is_last = item.height > file_.height;
        if (is_last == item.txs.has_value()) {
            throw Mismatch(name + (is_last ? ".txs does not belong there" : " lacks its transactions, \"txs\""));
        }
        if (!is_last) {
            if (!are_txs_of(header, *item.txs)) {
                throw Mismatch(name + ".txs are not the transactions that the block's header commits to");
            }
            note_transactions(item.height, *item.txs);
        }
    }

    void check_light() {
        std::map<std::uint64_t, const Bytes*> by_height;
        std::optional<light::Header> parent;
        for (std::size_t i = 0; i < file_.blocks.size(); ++i) {
            const AuditFile::Block& item = file_.blocks[i];
            const auto block = codec::decode<light::LightBlock>(item.raw);
            if (!block || block->header.height != item.height.value) {
                throw Mismatch(place("blocks", i) + " is not light block " + std::to_string(item.height.value));
            }
            if (i != 0 && item.height <= file_.blocks[i - 1].height) {
                throw Mismatch(place("blocks", i) + " is not in the order of heights");
            }
            if (const auto checked = light::check_block(*block, file_.chain_id); !checked) {
                throw Mismatch(place("blocks", i) + ": " + light::to_string(checked.error()));
            }
            if (is_chain()) {
                check_linked(i, block->header, parent);
                parent = block->header;
            } else if (item.txs) {
                throw Mismatch(place("blocks", i) + ".txs does not belong there: only a chain's file has it");
            }
            by_height[item.height.value] = &item.raw;
        }
        const BlockSource source = [&by_height](std::uint64_t height) -> Bytes {
            const auto found = by_height.find(height);
            if (found == by_height.end()) {
                throw Mismatch(
                    "the file lacks block " + std::to_string(height) +
                    ", which is needed to follow the chain from the block that you trust; trust the last block of the "
                    "file, or export again with --trust-height and --trust-hash"
                );
            }
            return *found->second;
        };
        const Signers signers{.chain_id = file_.chain_id, .by_many = true, .proposer = {}};
        const SignedHeader header =
            check_header(source, Height{file_.height.value + 1}, signers, trust_, now_seconds());
        check_app_hash(header.app_hash);
        facts_.signed_at_s = header.time_s;
        facts_.is_signer_known = trust_.block.has_value();
    }

    /// Takes the next slot, which must be the one of `key`, and returns its proven value.
    std::optional<Bytes> take(const Bytes& key) {
        const std::string name = place("slots", next_slot_);
        if (next_slot_ == file_.slots.size()) {
            throw Mismatch(name + " is missing: the slot of key " + to_hex(key));
        }
        const AuditFile::Slot& slot = file_.slots[next_slot_++];
        if (slot.key != key) {
            throw Mismatch(name + " has the key " + to_hex(slot.key) + " where " + to_hex(key) + " belongs");
        }
        const auto proof = codec::decode<merkle::JmtProof>(slot.proof);
        if (!proof) {
            throw Mismatch(name + ".proof does not decode");
        }
        if (!merkle::verify_proof(file_.app_hash, key, slot.value, *proof)) {
            throw Mismatch(name + ": the proof does not lead from the value to the app hash");
        }
        return slot.value;
    }

    /// The tasks of the file, in its order: what the subject says, or the blocks, or for an account the histories.
    std::vector<TaskId> tasks() const {
        if (file_.subject.kind == Kind::kTask) {
            return {file_.subject.task};
        }
        std::vector<TaskId> out;
        if (is_chain()) {
            return submitted_;
        }
        for (std::size_t i = 0; i < file_.histories.size(); ++i) {
            out.push_back(file_.histories[i].task);
            if (i != 0 && !(out[i - 1] < out[i])) {
                throw Mismatch(place("histories", i) + " is not in the order of the tasks' ids");
            }
        }
        return out;
    }

    void check_slots() {
        for (const Bytes& key : subject_slots(file_.subject)) {
            const auto value = take(key);
            if (file_.subject.kind == Kind::kAccount && !facts_.account) {
                facts_.account = value ? decode<contracts::Account>(*value) : contracts::Account{};
            }
        }
        for (const TaskId& id : tasks()) {
            const std::string name = place("slots", next_slot_);
            const auto value = take(contracts::keys::task(id));
            if (!value) {
                if (!is_chain()) {
                    throw Mismatch(name + " shows that the chain has no task " + to_hex(id.view()));
                }
                continue;  // submitted by a transaction that failed
            }
            AuditFacts::Task task{.task = decode<contracts::Task>(*value), .records = {}};
            const auto keys = task_slots(id, task.task.checkpoints);
            for (std::size_t i = 1; i < keys.size(); ++i) {
                take(keys[i]);
            }
            facts_.tasks.push_back(std::move(task));
        }
        if (next_slot_ != file_.slots.size()) {
            throw Mismatch(place("slots", next_slot_) + " does not belong there: the file is complete without it");
        }
    }

    template <class T>
    T decode(const Bytes& value) const {
        auto out = codec::decode<T>(value);
        if (!out) {
            throw Mismatch(place("slots", next_slot_ - 1) + ".value is proven and does not decode");
        }
        return *std::move(out);
    }

    void check_histories() {
        for (std::size_t i = 0; i < std::max(file_.histories.size(), facts_.tasks.size()); ++i) {
            const std::string name = place("histories", i);
            if (i == file_.histories.size()) {
                throw Mismatch(name + " is missing: task " + to_hex(facts_.tasks[i].task.id.view()));
            }
            if (i == facts_.tasks.size() || file_.histories[i].task != facts_.tasks[i].task.id) {
                throw Mismatch(
                    name + " is of task " + to_hex(file_.histories[i].task.view()) + ", not of the one proven"
                );
            }
            check_history(file_.histories[i], name, facts_.tasks[i]);
        }
    }

    void check_history(const AuditFile::History& history, const std::string& name, AuditFacts::Task& task) {
        HistoryChain chain(task.task.id, file_.height);
        for (std::size_t i = 0; i < history.records.size(); ++i) {
            const std::string at = name + "." + place("records", i);
            const auto record = codec::decode<HistoryRecord>(history.records[i]);
            if (!record) {
                throw Mismatch(at + " does not decode");
            }
            try {
                chain.add(*record);
            } catch (const Mismatch& mismatch) {
                throw Mismatch(at + ": " + mismatch.what());
            }
            if (has_txs() && !record->tx.is_zero() && !txs_.contains({record->height, record->tx})) {
                throw Mismatch(
                    at + ": transaction " + to_hex(record->tx.view()) + " is not in block " +
                    std::to_string(record->height.value) + " of the file"
                );
            }
        }
        if (chain.count() != task.task.history_count) {
            throw Mismatch(
                name + " has " + std::to_string(chain.count()) + " records, and the chain counts " +
                std::to_string(task.task.history_count)
            );
        }
        if (chain.root() != task.task.history_root) {
            throw Mismatch(
                name + ".records hash to " + to_hex(chain.root().view()) + ", and the chain's history root is " +
                to_hex(task.task.history_root.view())
            );
        }
        if (file_.subject.kind == Kind::kAccount && !names_account(history, task.task)) {
            throw Mismatch(name + " is of a task that does not name the account");
        }
        facts_.records += chain.count();
        task.records = std::move(chain.records());
    }

    bool names_account(const AuditFile::History& history, const contracts::Task& task) const {
        const auto& id = file_.subject.account.data;
        const auto holds = [&id](const Bytes& bytes) {
            return std::search(bytes.begin(), bytes.end(), id.begin(), id.end()) != bytes.end();
        };
        return task.submitter == file_.subject.account ||
               std::any_of(history.records.begin(), history.records.end(), holds);
    }

    /// A file has the blocks of its records, whose transactions caused them, and no others.
    void check_heights() const {
        std::set<std::uint64_t> needed{file_.height.value + 1};
        for (const AuditFacts::Task& task : facts_.tasks) {
            for (const HistoryRecord& record : task.records) {
                needed.insert(record.height.value);
            }
        }
        for (std::uint64_t height = 1; is_chain() && height <= file_.height.value; ++height) {
            needed.insert(height);
        }
        std::size_t i = 0;
        for (const std::uint64_t height : needed) {
            if (i == file_.blocks.size() || file_.blocks[i].height.value != height) {
                throw Mismatch(
                    place("blocks", i) + " is not block " + std::to_string(height) + ", which belongs there"
                );
            }
            ++i;
        }
        if (i != file_.blocks.size()) {
            throw Mismatch(place("blocks", i) + " does not belong there: the file is complete without it");
        }
    }

    const AuditFile& file_;
    const Trust& trust_;
    AuditFacts facts_;
    std::size_t next_slot_ = 0;
    std::set<std::pair<Height, Hash256>> txs_;
    std::vector<TaskId> submitted_;  ///< in the order of the blocks
    std::set<TaskId> seen_;          ///< the same
};

}  // namespace

AuditFacts check_audit_file(const AuditFile& file, const Trust& trust) { return AuditCheck(file, trust).run(); }

bool are_txs_of(const light::Header& header, const std::vector<Bytes>& txs) {
    std::vector<Bytes> hashes;
    hashes.reserve(txs.size());
    for (const Bytes& tx : txs) {
        hashes.push_back(bytes_of(contracts::tx_hash(tx)));
    }
    return commits_to(header.data_hash, hashes);
}

std::vector<TaskId> submitted_tasks(const std::vector<Bytes>& txs) {
    std::vector<TaskId> out;
    for (const Bytes& bytes : txs) {
        const auto tx = codec::decode<contracts::Tx>(bytes);
        if (!tx) {
            continue;
        }
        if (const auto* submit = std::get_if<contracts::SubmitTask>(&tx->body.action)) {
            out.push_back(submit->new_task(tx->body.sender, tx->body.nonce));
        }
    }
    return out;
}

}  // namespace assay::client
