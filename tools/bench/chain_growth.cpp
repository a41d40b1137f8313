// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/chain.hpp>

#include <array>
#include <memory>
#include <stdexcept>

#include <contracts/chain/chain.hpp>
#include <contracts/state/slots.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/jmt.hpp>
#include <node/state/state_store.hpp>
#include <node/state/chunk.hpp>
#include <node/state/store.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/scratch.hpp>
#include <tools/bench/measure.hpp>

namespace assay::bench {
namespace {

using nlohmann::json;
using storage::Column;

constexpr int kBlocks = 9;  ///< measured at each size
constexpr std::size_t kBuckets = 256;
constexpr contracts::Account kLoaded{.balance = Amount{1'000'000'000'000}, .nonce = 0};

/// How often something was read, and how much of it.
struct Reads {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

class CountingNodes final : public merkle::NodeReader {
  public:
    explicit CountingNodes(const storage::Snapshot& snapshot) : snapshot_(snapshot) {}
    std::optional<Bytes> read_node(const merkle::NodeKey& key) const override {
        auto node = snapshot_.get(Column::kTree, merkle::to_key(key));
        ++reads.count;
        reads.bytes += node ? node->size() : 0;
        return node;
    }
    mutable Reads reads;

  private:
    const storage::Snapshot& snapshot_;
};

Bytes to_bytes(const Hash256& hash) { return {hash.data.begin(), hash.data.end()}; }

class CountingSlots final : public contracts::StateView {
  public:
    explicit CountingSlots(const storage::Snapshot& snapshot) : snapshot_(snapshot) {}
    std::optional<Bytes> get(const Bytes& key) const override {
        const auto entry = snapshot_.get(Column::kState, to_bytes(crypto::sha256(key)));
        ++reads.count;
        reads.bytes += entry ? entry->size() : 0;
        return entry ? std::optional(codec::decode<snapshot::Slot>(*entry).value().value) : std::nullopt;
    }
    mutable Reads reads;

  private:
    const storage::Snapshot& snapshot_;
};

void append_big_endian(Bytes& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(number >> static_cast<unsigned>(shift)));
    }
}

/// What a node's columns get for a version of the state.
void put_slots(storage::Batch& batch, std::uint64_t version, const contracts::Changes& changes) {
    for (const auto& [slot, value] : changes) {
        const Bytes hash = to_bytes(crypto::sha256(slot));
        if (value) {
            Bytes key;
            append_big_endian(key, version);
            append(key, hash);
            const Bytes encoded = codec::encode(snapshot::Slot{slot, *value});
            batch.put(Column::kValues, key, encoded);
            batch.put(Column::kState, hash, encoded);
        } else {
            batch.erase(Column::kState, hash);
        }
    }
}

void put_nodes(storage::Batch& batch, const merkle::TreeUpdate& update) {
    for (const auto& [key, node] : update.nodes) {
        batch.put(Column::kTree, merkle::to_key(key), node);
    }
}

/// Per transaction of one block. The parts' times are CPU time of the thread that makes blocks; `cpu_us` has the
/// database's threads as well.
struct Sample {
    double slots_read = 0, nodes_read = 0, nodes_written = 0, hashes = 0, bytes_read = 0, bytes_written = 0;
    double execute_us = 0, tree_us = 0, write_us = 0, cpu_us = 0;
};

/// A state of accounts on a disk, as a node keeps it.
class GrownState {
  public:
    GrownState(const std::filesystem::path& directory, Load& load) : directory_(directory), load_(load) {
        open();
        contracts::Changes changes =
            contracts::make_genesis({.chain_id = kChainId, .params = {}, .balances = {}, .validators = {}}).value();
        for (const AccountId& sender : load_.senders()) {
            changes[contracts::keys::account(sender)] = codec::encode(kLoaded);
        }
        apply(changes, std::nullopt);
        accounts_ = load_.senders().size();
    }

    /// Adds accounts until there are `accounts`. In the order of their hashes, so that each part of the tree is
    /// written about once; nothing old is kept.
    void grow(std::uint64_t accounts) {
        std::array<std::vector<std::uint64_t>, kBuckets> buckets;
        for (; accounts_ < accounts; ++accounts_, ++numbered_) {
            buckets[crypto::sha256(contracts::keys::account(account_numbered(numbered_))).data[0]].push_back(numbered_);
        }
        for (auto& bucket : buckets) {
            contracts::Changes changes;
            for (const std::uint64_t number : bucket) {
                changes[contracts::keys::account(account_numbered(number))] = codec::encode(kLoaded);
            }
            bucket = {};
            if (!changes.empty()) {
                apply(changes, version_++);
            }
        }
        load_.set_accounts(numbered_);
        // Closing writes everything to files; caches start cold.
        store_.reset();
        open();
    }

    /// Executes and writes a block of `count` transfers between accounts chosen at random. Their signatures are not
    /// verified here: that costs the same whatever the state is.
    Sample run_block(std::uint64_t count) {
        const auto txs = load_.next(count).front();
        const auto snapshot = store_->snapshot();
        const CountingSlots slots(*snapshot);
        const CountingNodes nodes(*snapshot);
        contracts::BlockContext context;
        context.height = Height{version_ + 1};
        context.time_ms = version_ + 1;
        context.block_hash = crypto::sha256(as_bytes(std::to_string(version_)));

        // A node has decoded and verified them when they entered its mempool.
        const auto believe = [](const AccountId&, ByteView, const Signature&) { return true; };
        const contracts::Params params = contracts::get_params(slots);
        std::vector<contracts::BlockEntry> entries;
        for (const Bytes& tx : txs) {
            entries.push_back(contracts::make_entry(tx, contracts::tx_hash(tx), params, believe));
        }

        const double cpu = own_cpu_seconds();
        const double start = thread_cpu_seconds();
        const auto outcome = contracts::apply_block(slots, kChainId, context, entries);
        const double executed = thread_cpu_seconds();
        const auto update = merkle::update_tree(nodes, version_, version_ + 1, outcome.changes);
        const double hashed = thread_cpu_seconds();
        storage::Batch batch;
        put_nodes(batch, update);
        for (const merkle::NodeKey& stale : update.stale) {
            Bytes key;
            append_big_endian(key, version_ + 1);
            append(key, merkle::to_key(stale));
            batch.put(Column::kStale, key, {});
        }
        put_slots(batch, version_ + 1, outcome.changes);
        store_->write(batch, false);
        const double written = thread_cpu_seconds();
        const double cpu_s = own_cpu_seconds() - cpu;

        for (const contracts::Receipt& receipt : outcome.receipts) {
            if (receipt.code != 0) {
                throw std::runtime_error("a transfer failed with code " + std::to_string(receipt.code));
            }
        }
        ++version_;
        const auto per_tx = [count](auto number) { return static_cast<double>(number) / static_cast<double>(count); };
        return {
            .slots_read = per_tx(slots.reads.count),
            .nodes_read = per_tx(nodes.reads.count),
            .nodes_written = per_tx(update.nodes.size()),
            .hashes = per_tx(update.hashes),
            .bytes_read = per_tx(slots.reads.bytes + nodes.reads.bytes),
            .bytes_written = per_tx(batch.size_bytes()),
            .execute_us = per_tx((executed - start) * 1e6),
            .tree_us = per_tx((hashed - executed) * 1e6),
            .write_us = per_tx((written - hashed) * 1e6),
            .cpu_us = per_tx(cpu_s * 1e6)};
    }

  private:
    void open() {
        store_ = std::make_unique<storage::Store>(directory_, storage::StoreOptions{.in_memory = false, .fault = {}});
    }

    void apply(const contracts::Changes& changes, std::optional<std::uint64_t> base) {
        const auto snapshot = store_->snapshot();
        const std::uint64_t version = base ? *base + 1 : 0;
        const auto update = merkle::update_tree(CountingNodes(*snapshot), base, version, changes);
        storage::Batch batch;
        put_nodes(batch, update);
        for (const merkle::NodeKey& stale : update.stale) {
            batch.erase(Column::kTree, merkle::to_key(stale));
        }
        put_slots(batch, version, changes);
        store_->write(batch, false);
    }

    const std::filesystem::path directory_;
    Load& load_;
    std::unique_ptr<storage::Store> store_;
    std::uint64_t version_ = 0;
    std::uint64_t accounts_ = 0;
    std::uint64_t numbered_ = 0;
};

json to_json(const std::vector<Sample>& samples) {
    const auto of = [&](double Sample::*field) {
        std::vector<double> values;
        values.reserve(samples.size());
        for (const Sample& sample : samples) {
            values.push_back(sample.*field);
        }
        return spread(std::move(values));
    };
    return {
        {"slots_read", of(&Sample::slots_read)},       {"nodes_read", of(&Sample::nodes_read)},
        {"nodes_written", of(&Sample::nodes_written)}, {"hashes", of(&Sample::hashes)},
        {"bytes_read", of(&Sample::bytes_read)},       {"bytes_written", of(&Sample::bytes_written)},
        {"execute_us", of(&Sample::execute_us)},       {"tree_us", of(&Sample::tree_us)},
        {"write_us", of(&Sample::write_us)},           {"cpu_us", of(&Sample::cpu_us)},
    };
}

}  // namespace

json run_growth_bench(const ChainOptions& options) {
    if (options.accounts.empty()) {
        throw std::runtime_error("no sizes of the state to measure");
    }
    const Scratch scratch(options.scratch);
    // Each sender sends once or a few times: both ends of a transfer are anywhere in the tree.
    Load load(options.quick ? 100 : 10'000, 1, 1);
    GrownState state(scratch.path() / "db", load);
    json sizes = json::array();
    for (const std::uint64_t accounts : options.accounts) {
        const Stopwatch loading;
        state.grow(accounts);
        const double load_s = loading.seconds();
        const std::uint64_t bytes = size_on_disk(scratch.path());
        std::vector<Sample> samples;
        samples.reserve(kBlocks);
        state.run_block(options.block_transfers);  // warm up
        for (int i = 0; i < kBlocks; ++i) {
            samples.push_back(state.run_block(options.block_transfers));
        }
        const auto bytes_per_account = static_cast<double>(bytes) / static_cast<double>(accounts);
        sizes.push_back(
            {{"accounts", accounts},
             {"load_s", load_s},
             {"database_bytes", bytes},
             {"database_bytes_per_account", bytes_per_account},
             {"per_transfer", to_json(samples)}}
        );
    }
    return {{"block_transfers", options.block_transfers}, {"blocks", kBlocks}, {"sizes", sizes}};
}

}  // namespace assay::bench
