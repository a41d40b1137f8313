// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/node.hpp>

#include <ctime>
#include <stdexcept>
#include <utility>

#include <core/crypto/random.hpp>
#include <contracts/state/slots.hpp>
#include <node/daemon/comet_start.hpp>
#include <node/daemon/solo_driver.hpp>
#include <node/daemon/inspect_driver.hpp>
#include <node/history/names.hpp>

namespace assay::node {
namespace {

/// What the thread has computed, not how long others kept it waiting.
std::uint64_t thread_cpu_ns() {
    timespec now{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        throw std::runtime_error("this machine has no clock of a thread's CPU time");
    }
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t unix_ms() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()
    );
}

/// A page of transactions ends when it has read so much, whatever its limit.
constexpr std::size_t kPageBytes = 1U << 20U;

/// WRK-3: what follows work is counted in blocks of a stated length.
void warn_of_interval(const NodeOptions& options, const contracts::Params& params) {
    if (options.on_note && options.config.block_interval_ms < params.block_ms) {
        options.on_note(
            "warning: engine.block_interval_ms is " + std::to_string(options.config.block_interval_ms) +
            ", and the genesis counts on blocks of " + std::to_string(params.block_ms) +
            " ms (block_ms): there is less time to replay segments than its rules mean"
        );
    }
}

/// The address of the consensus key in the engine's home; nullopt if the home has no engine.
std::optional<contracts::ConsensusAddress> find_consensus_address(const NodeOptions& options) {
    // The key of a remote signer is not in the home, and what is there belongs to nobody.
    const bool has_key_file = options.config.cometbft_remote_signer.empty();
    if (options.only_inspects || options.config.engine != EngineKind::kCometBft || !has_key_file) {
        return std::nullopt;
    }
    try {
        return contracts::address_of(consensus_key(cometbft::read_validator(options.home.cometbft())));
    } catch (const cometbft::EngineError&) {
        return std::nullopt;  // an engine that is attached may keep its key elsewhere
    }
}

/// Makes the data directory before anything in it is opened.
const Home& prepare(const Home& home) {
    std::filesystem::create_directories(home.data());
    return home;
}

}  // namespace

consensus::MempoolLimits mempool_limits(const Config& config) {
    return {
        .txs_max = config.mempool_txs_max,
        .bytes_max = config.mempool_bytes_max,
        .sender_txs_max = config.mempool_sender_txs_max,
        .turnover_max = config.mempool_txs_max};
}

Node::Node(NodeOptions options)
    : options_(std::move(options)),
      lock_(prepare(options_.home)),
      last_stop_(options_.only_inspects ? read_last_stop(options_.home) : take_last_stop(options_.home)),
      started_at_(std::chrono::steady_clock::now()),
      consensus_address_(find_consensus_address(options_)),
      store_(options_.home.db(), {.in_memory = false, .fault = {}, .on_disk_failure = options_.on_disk_failure}),
      application_(
          store_, thread_cpu_ns, options_.config.engine == EngineKind::kCometBft, options_.config.pruning_keep_blocks,
          options_.program
      ),
      driver_(make_driver()) {}

Node::~Node() { driver_->stop(); }

void Node::fail(const std::string& what) {
    failed_ = !application_.why_halted();
    if (options_.on_failure) {
        options_.on_failure(what);
    }
}

std::unique_ptr<Driver> Node::make_driver() {
    application_.observe(options_.observer);
    application_.init(options_.genesis);
    warn_of_interval(options_, application_.committed()->params());
    check_pruning(options_.config, application_.committed()->params().unbonding_blocks);
    if (options_.only_inspects) {
        return std::make_unique<InspectDriver>(
            application_, options_.config.engine, options_.home, options_.genesis.chain_id
        );
    }
    if (const auto why = application_.why_halted()) {
        if (last_stop_ == LastStop::kClean) {
            mark_clean_stop(options_.home);
        }
        throw consensus::HaltError(*why);
    }
    const auto on_failure = [this](const std::string& what) { fail(what); };
    if (options_.config.engine == EngineKind::kCometBft) {
        return make_comet_driver(options_, application_, on_failure);
    }
    solo::EngineOptions engine{
        .chain_id = options_.genesis.chain_id,
        .proposer = options_.key,
        .block_interval = std::chrono::milliseconds(options_.config.block_interval_ms),
        .create_empty_blocks = options_.config.create_empty_blocks,
        .block_bytes_max = options_.genesis.params.block_size_max,
        .mempool = mempool_limits(options_.config),
        .now_ms = unix_ms,
        .signing_randomness =
            [] {
                std::array<std::uint8_t, 32> out{};
                crypto::fill_random(out);
                return out;
            },
        .after_stage = {},
        .on_failure = on_failure,
    };
    return std::make_unique<SoloDriver>(
        application_, options_.home.block_log(), options_.home.log_base(), std::move(engine)
    );
}

void Node::stop() {
    driver_->stop();
    if (!stopped_.exchange(true) && !failed_ && !options_.only_inspects) {
        mark_clean_stop(options_.home);
    }
}

EngineProgress Node::progress() const {
    const bool joins = !options_.config.cometbft_state_sync_rpc.empty() && driver_->tip().height.value == 0;
    return {.is_catching_up = driver_->is_catching_up(), .is_restoring = joins};
}

NodeStatus Node::status() const {
    const auto tip = driver_->tip();
    const auto waiting = driver_->waiting();
    const auto committed = application_.committed();
    return {
        .chain_id = options_.genesis.chain_id,
        .genesis_hash = committed->genesis_app_hash(),
        .engine = driver_->name(),
        .height = tip.height,
        .app_hash = tip.app_hash,
        .time_ms = tip.time_ms,
        .proposer = driver_->proposer(),
        .mempool_txs = waiting.txs,
        .mempool_bytes = waiting.bytes,
        .block_interval_ms = options_.config.block_interval_ms,
        .first_state = committed->first_state(),
        .first_block = committed->first_block(),
        .first_history = committed->first_history(),
        .last_stop = last_stop_,
        .uptime_s = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_at_).count()
        ),
    };
}

contracts::Params Node::params() const { return application_.committed()->params(); }

Result<Hash256, consensus::Refusal> Node::submit(Bytes tx) { return driver_->submit(std::move(tx)); }

Height Node::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    return driver_->wait_for_block(after, timeout);
}

std::optional<StoredBlock> Node::block(Height height) const {
    const auto committed = application_.committed();
    // A log may be one block ahead of the state.
    if (height.value == 0 || height > committed->height()) {
        return std::nullopt;
    }
    if (height < committed->first_block()) {
        throw consensus::HeightNotKept("the block", height, committed->first_block(), committed->height());
    }
    StoredBlock out = driver_->block(height);
    auto receipts = history::Reader(committed->snapshot()).receipts(height);
    if (!receipts) {
        throw storage::StorageError("database: block " + std::to_string(height.value) + " is not whole");
    }
    out.receipts = *std::move(receipts);
    return out;
}

StoredTx Node::stored_tx(const storage::Snapshot& snapshot, const history::TxPlace& place) const {
    auto record = history::Reader(snapshot).tx_record(place);
    auto bytes = record ? driver_->tx(place, *record) : std::nullopt;
    // Nothing else has checked them.
    if (!bytes || contracts::tx_hash(*bytes) != record->receipt.tx) {
        throw storage::StorageError(
            "transaction " + std::to_string(place.index) + " of block " + std::to_string(place.height.value) +
            " is not whole"
        );
    }
    return {
        .bytes = *std::move(bytes),
        .height = place.height,
        .index = place.index,
        .receipt = std::move(record->receipt),
    };
}

std::optional<Bytes> Node::light_block(Height height) const { return driver_->light_block(height); }

std::optional<StoredTx> Node::tx(const Hash256& hash) const {
    const auto committed = application_.committed();
    const auto place = history::Reader(committed->snapshot()).find_tx(hash);
    return place ? std::optional(stored_tx(committed->snapshot(), *place)) : std::nullopt;
}

bool Node::in_mempool(const Hash256& tx) const { return driver_->is_waiting(tx); }

std::optional<Bytes> Node::state(const Bytes& key) const { return application_.committed()->get(key); }

consensus::QueryResult Node::prove(const Bytes& key, std::optional<Height> height) const {
    return application_.query({.key = key, .height = height});
}

std::uint64_t Node::next_nonce(const AccountId& account) const {
    // In this order: what leaves the mempool is in the state by then.
    const auto waiting = driver_->next_nonce(account);
    return waiting ? *waiting : contracts::get_account(*application_.committed(), account).nonce;
}

Page<contracts::HistoryRecord> Node::task_history(
    const contracts::TaskId& task, std::uint64_t from, std::uint32_t limit
) const {
    return history::Reader(application_.committed()->snapshot()).task_history(task, from, limit);
}

Page<contracts::TaskId> Node::tasks(std::uint64_t from, std::uint32_t limit, Order order) const {
    return history::Reader(application_.committed()->snapshot()).tasks(from, limit, order);
}

Page<StoredTx> Node::account_history(const AccountId& account, std::uint64_t from, std::uint32_t limit) const {
    const auto committed = application_.committed();
    const auto places = history::Reader(committed->snapshot()).account_txs(account, from, limit);
    Page<StoredTx> page{.items = {}, .next = places.next};
    std::size_t bytes = 0;
    for (const history::TxPlace& place : places.items) {
        if (bytes >= kPageBytes) {
            page.next = history::from_of(place);
            break;
        }
        page.items.push_back(stored_tx(committed->snapshot(), place));
        bytes += page.items.back().bytes.size();
    }
    return page;
}

Page<contracts::DisputeId> Node::disputes(
    const std::optional<contracts::TaskId>& task, std::uint64_t from, std::uint32_t limit, Order order
) const {
    return history::Reader(application_.committed()->snapshot()).disputes(task, from, limit, order);
}

std::vector<DisputeMove> Node::dispute_moves(const contracts::DisputeId& dispute) const {
    std::vector<DisputeMove> out;
    for (history::Move& move : history::Reader(application_.committed()->snapshot()).moves(dispute)) {
        out.push_back(
            {.tx = move.tx, .height = move.height, .action = std::move(move.action), .size_bytes = move.size_bytes}
        );
    }
    return out;
}

std::optional<double> Node::one_step_us(const contracts::DisputeId& dispute) const {
    const auto ns = history::Reader(application_.committed()->snapshot()).one_step_nanoseconds(dispute);
    return ns ? std::optional(static_cast<double>(*ns) / 1'000.0) : std::nullopt;
}

Page<contracts::HistoryRecord> Node::events(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
) const {
    return history::Reader(application_.committed()->snapshot()).events(account, from, limit, order);
}

std::vector<contracts::HistoryRecord> Node::events_of(Height height) const {
    return history::Reader(application_.committed()->snapshot()).events_of(height);
}

Page<Payment> Node::payments(const AccountId& account, std::uint64_t from, std::uint32_t limit, Order order) const {
    return history::Reader(application_.committed()->snapshot()).payments(account, from, limit, order);
}

Page<ValidatorChange> Node::validator_changes(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit
) const {
    return history::Reader(application_.committed()->snapshot()).validator_changes(account, from, limit);
}

Page<ValidatorPenalty> Node::validator_penalties(
    const std::optional<AccountId>& account, std::uint64_t from, std::uint32_t limit, Order order
) const {
    return history::Reader(application_.committed()->snapshot()).validator_penalties(account, from, limit, order);
}

std::vector<BlockFees> Node::fees(Height last, std::uint32_t count) const {
    const auto committed = application_.committed();
    const history::Reader reader(committed->snapshot());
    std::vector<BlockFees> out;
    Height height = std::min(last, committed->height());
    for (; out.size() < count && height.value != 0; --height.value) {
        auto fees = reader.fees(height);
        if (!fees) {
            break;
        }
        out.push_back(*std::move(fees));
    }
    return out;
}

std::vector<Named> Node::search(const IdPrefix& prefix, std::uint32_t limit) const {
    return history::find_names(application_.committed()->snapshot(), prefix, limit);
}

std::vector<Named> Node::tasks_titled(const std::string& beginning, std::uint32_t limit) const {
    return history::find_titles(application_.committed()->snapshot(), beginning, limit);
}

}  // namespace assay::node
