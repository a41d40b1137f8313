// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/comet_driver.hpp>
#include <node/daemon/stored_blocks.hpp>

#include <utility>

#include <client/light_source.hpp>
#include <core/codec/borsh.hpp>
#include <client/http/http.hpp>

namespace assay::node {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{100};
/// GOV-8: how long a node that halts still gives its last blocks to those that are behind.
constexpr std::chrono::seconds kHaltGrace{10};
/// The engine replays on its way up what the state is behind it.
constexpr std::chrono::minutes kStartPatience{10};

Unexpected<consensus::Refusal> refuse(consensus::Refusal error) { return Unexpected{error}; }

StateSyncOptions with_restored(StateSyncOptions options, std::function<void()> on_restored) {
    options.on_restored = std::move(on_restored);
    return options;
}

}  // namespace

CometDriver::CometDriver(Application& application, CometOptions options)
    : application_(application),
      options_(std::move(options)),
      rpc_(options_.engine_rpc),
      state_sync_(application, with_restored(options_.state_sync, [this] { note_restored(); })),
      handler_(
          application, {.genesis = options_.genesis,
                        .software_version = options_.software_version,
                        .on_commit = [this](const auto& block, const auto& result) { note_commit(block, result); },
                        .state_sync = &state_sync_,
                        .on_refusal = [this](const auto& proposal, auto error) { note_refusal(proposal, error); },
                        .on_halt = [this](const std::string& why) { note_halt(why); },
                        .mempool = options_.mempool}
      ),
      server_(handler_, {.address = options_.listen, .on_failure = [this](const std::string& why) { fail(why); }}),
      sender_(rpc_, handler_.outbox(), options_.on_note) {
    note_restored();
}

CometDriver::~CometDriver() { stop(); }

void CometDriver::start() {
    if (!options_.engine) {
        return;
    }
    auto settings = *options_.engine;
    settings.application = server_.address();
    // CMT-4: what the application evicts stays in the engine's mempool until the next block, and answers come besides
    // (POOL-4). Of a bundle half may be what the application does not have (CMT-17), so it is twice as
    // much in bytes.
    settings.mempool_txs = 2 * options_.mempool.txs_max + options_.mempool.turnover_max;
    settings.mempool_bytes = 6 * options_.mempool.bytes_max;
    supervisor_ = std::make_unique<cometbft::Supervisor>(settings, options_.engine_log);
    await_engine();
    watcher_ = std::thread([this] { watch(); });
}

void CometDriver::await_engine() {
    const auto give_up_at = std::chrono::steady_clock::now() + kStartPatience;
    while (std::chrono::steady_clock::now() < give_up_at) {
        if (const auto status = supervisor_->exit_status()) {
            throw cometbft::EngineError(
                "cometbft ended with " + std::to_string(*status) + " at its start; its last words in " +
                options_.engine_log.string() + ":\n" + supervisor_->last_words()
            );
        }
        try {
            rpc_.call("health");
            return;
        } catch (const http::NetError&) {
            std::this_thread::sleep_for(kWatchInterval);
        }
    }
    throw cometbft::EngineError(
        "cometbft does not answer at " + options_.engine_rpc + "; its log is " + options_.engine_log.string()
    );
}

void CometDriver::watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        changed_.wait_for(lock, kWatchInterval);
        lock.unlock();
        const auto status = supervisor_->exit_status();
        lock.lock();
        if (halted_ && !stopping_ && std::chrono::steady_clock::now() >= halted_->until) {
            const std::string why = halted_->why;
            lock.unlock();
            fail(why);
            return;
        }
        if (status && !stopping_) {
            lock.unlock();
            fail(
                "cometbft ended with " + std::to_string(*status) + "; its last words in " +
                options_.engine_log.string() + ":\n" + supervisor_->last_words()
            );
            return;
        }
    }
}

/// Proposals are refused from now on, so nothing else happens meanwhile.
void CometDriver::note_halt(const std::string& why) {
    if (!options_.engine) {
        fail(why);  // nobody here watches an engine that is attached
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!halted_) {
        halted_ = Halted{.why = why, .until = std::chrono::steady_clock::now() + kHaltGrace};
    }
}

void CometDriver::fail(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(failed_, true) || stopping_) {
            return;
        }
        changed_.notify_all();
    }
    if (options_.on_failure) {
        options_.on_failure(why);
    }
}

void CometDriver::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (watcher_.joinable()) {
        watcher_.join();
    }
    sender_.stop();
    // The engine first: it takes a connection that breaks for a crash of the application.
    if (supervisor_) {
        supervisor_->stop();
    }
    server_.stop();
}

std::vector<std::string> CometDriver::start_notes() const {
    std::vector<std::string> out{"waiting for CometBFT at " + server_.address()};
    if (options_.engine) {
        out = {
            "CometBFT: " + options_.engine->program.string() + ", home " + options_.engine->home.string() + ", log " +
            options_.engine_log.string()};
    }
    return out;
}

void CometDriver::note_restored() {
    const auto state = application_.committed();
    const bool has_block = state->height() >= state->first_block();
    const std::lock_guard lock(mutex_);
    tip_ = {
        .height = state->height(),
        .app_hash = state->app_hash(),
        .time_ms = has_block ? application_.kept_block(state->height()).time_ms : 0};
    changed_.notify_all();
}

void CometDriver::note_commit(const consensus::FinalizeRequest& block, const consensus::FinalizeResult& result) {
    state_sync_.note_commit();
    const std::lock_guard lock(mutex_);
    tip_ = {.height = block.height, .app_hash = result.app_hash, .time_ms = block.time_ms};
    changed_.notify_all();
}

void CometDriver::note_refusal(const consensus::FinalizeRequest& proposal, consensus::ProposalError error) const {
    if (options_.on_note) {
        options_.on_note(
            "refused the proposal for block " + std::to_string(proposal.height.value) + " by validator " +
            to_hex(proposal.proposer.view()).substr(0, 40) + ": " + consensus::to_string(error)
        );
    }
}

Driver::Tip CometDriver::tip() const {
    const std::lock_guard lock(mutex_);
    return tip_;
}

Result<Hash256, consensus::Refusal> CometDriver::submit(Bytes tx) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || failed_) {
            return refuse({.reason = consensus::RefusalReason::kStopping});
        }
    }
    if (!sender_.is_engine_there()) {
        return refuse({.reason = consensus::RefusalReason::kUnreachable});
    }
    TRY_ASSIGN(const consensus::Admitted admitted, handler_.submit(std::move(tx)));
    return admitted.hash;
}

Height CometDriver::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return tip_.height > after || stopping_ || failed_; });
    return tip_.height;
}

Driver::Waiting CometDriver::waiting() const {
    const auto waiting = handler_.mempool().size();
    return {.txs = waiting.txs, .bytes = waiting.bytes};
}

consensus::Mempool::Tally CometDriver::tally() const { return handler_.mempool().tally(); }

std::optional<bool> CometDriver::is_catching_up() const {
    try {
        return rpc_.call("status").at("sync_info").at("catching_up").get<bool>();
    } catch (const std::exception&) {
        return std::nullopt;  // it does not answer, or not as it should
    }
}

StoredBlock CometDriver::block(Height height) const { return kept_block(application_, height); }

std::optional<Bytes> CometDriver::tx(const history::TxPlace& place, const history::TxRecord&) const {
    return history::Reader(application_.committed()->snapshot()).kept_tx(place);
}

std::optional<Bytes> CometDriver::light_block(Height height) const {
    // A block's commit is known with the block; the next one's is not.
    if (height.value == 0 || height > tip().height) {
        return std::nullopt;
    }
    // The engine keeps what this node told it to.
    if (const Height first = application_.committed()->first_block(); height < first) {
        throw consensus::HeightNotKept("the light block", height, first, tip().height);
    }
    return codec::encode(client::read_light_block(rpc_, height.value));
}

}  // namespace assay::node
