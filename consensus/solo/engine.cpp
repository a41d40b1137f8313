// SPDX-License-Identifier: Apache-2.0
#include <consensus/solo/engine.hpp>

#include <algorithm>
#include <utility>

#include <core/base/assert.hpp>

namespace assay::solo {
namespace {

std::string at_height(Height height) { return "block " + std::to_string(height.value); }

std::optional<BlockHeader> header_at(const BlockLog& log, Height height) {
    auto record = log.read(height);
    return record ? std::optional(std::move(record->block.header)) : std::nullopt;
}

}  // namespace

std::string find_fault(
    const LogRecord& record, const std::string& chain_id, const std::optional<BlockHeader>& parent,
    const Hash256& app_hash
) {
    const BlockHeader& header = record.block.header;
    if (header.chain_id != chain_id) {  // BLK-13
        return "is of chain " + header.chain_id + ", not of " + chain_id;
    }
    if (header.height.value != (parent ? parent->height.value : 0) + 1 ||
        header.parent != (parent ? block_hash(*parent) : Hash256{})) {  // BLK-13
        return "does not follow its parent";
    }
    if (parent && header.proposer != parent->proposer) {  // BLK-16
        return "has another proposer than its parent";
    }
    if (header.time_ms <= (parent ? parent->time_ms : 0)) {  // BLK-14
        return "is not later than its parent";
    }
    if (header.app_hash != app_hash) {  // BLK-15
        const std::string fault = "names another app hash than the state before it has";
        return parent ? fault
                      : fault +
                            ": the log is of another genesis, or of a release with another version of the protocol "
                            "(docs/operations/upgrade.md)";
    }
    if (!is_authentic(record.block)) {  // BLK-12
        return "is not signed by its proposer";
    }
    return {};
}

consensus::FinalizeRequest to_request(const Block& block) {
    return {
        .height = block.header.height,
        .time_ms = block.header.time_ms,
        .block_hash = block_hash(block.header),
        .proposer = block.header.proposer,
        .txs = block.txs,
    };
}

std::uint64_t replay(
    consensus::StateMachine& state, const BlockLog& log, const std::string& chain_id,
    const std::function<void(Height)>& progress
) {
    consensus::Info info = state.info();
    const Height last = log.height();
    if (info.height > last) {
        throw HandshakeError(
            "the state is at height " + std::to_string(info.height.value) + " but the block log ends at " +
            std::to_string(last.value) +
            ": the log was lost or replaced. Restore it, or delete the db directory to rebuild the state from the log"
        );
    }
    if (const Height first = log.first_height(); first.value > 1 && info.height < first) {
        throw HandshakeError(
            "the state is at height " + std::to_string(info.height.value) + " and the block log, which was pruned, " +
            "begins with block " + std::to_string(first.value) + ": restore a backup"
        );
    }
    if (info.height.value > 0) {
        const auto record = log.read(info.height);
        if (!record || record->app_hash != info.app_hash) {
            throw AppHashMismatch(
                at_height(info.height) + ": the log has app hash " + (record ? to_hex(record->app_hash.view()) : "?") +
                ", the state has " + to_hex(info.app_hash.view()) + ": they are not of the same chain"
            );
        }
    }
    std::optional<BlockHeader> parent = header_at(log, info.height);
    std::uint64_t count = 0;
    for (Height height{info.height.value + 1}; height <= last; ++height.value, ++count) {
        const auto record = log.read(height);
        ASSERT(record.has_value());
        if (const std::string fault = find_fault(*record, chain_id, parent, info.app_hash); !fault.empty()) {
            throw HandshakeError(at_height(height) + " of the log " + fault);
        }
        if (const auto why = state.why_halted()) {
            throw consensus::HaltError(*why);
        }
        const auto request = to_request(record->block);
        if (const auto fits = state.process(request); !fits) {  // BLK-17, FEE-4
            throw HandshakeError(at_height(height) + " of the log is not valid: " + consensus::to_string(fits.error()));
        }
        const auto result = state.finalize(request);
        if (result.app_hash != record->app_hash) {
            throw AppHashMismatch(
                at_height(height) + ": replay gives app hash " + to_hex(result.app_hash.view()) + ", the log has " +
                to_hex(record->app_hash.view())
            );
        }
        state.commit();
        info = {.height = height, .app_hash = result.app_hash};
        parent = record->block.header;
        if (progress) {
            progress(height);
        }
    }
    return count;
}

SoloEngine::SoloEngine(consensus::StateMachine& state, BlockLog& log, EngineOptions options)
    : state_(state),
      log_(log),
      options_(std::move(options)),
      proposer_(options_.proposer.account()),
      replayed_(replay(state_, log_, options_.chain_id, {})),
      mempool_(state_, options_.mempool) {
    const auto info = state_.info();
    tip_ = {.height = info.height, .app_hash = info.app_hash, .block_hash = {}, .time_ms = 0};
    if (const auto header = header_at(log_, info.height)) {
        if (header->proposer != proposer_) {
            throw HandshakeError("this node's key is not the one that proposed the blocks of the log");
        }
        tip_.block_hash = block_hash(*header);
        tip_.time_ms = header->time_ms;
    }
}

SoloEngine::~SoloEngine() { stop(); }

void SoloEngine::pass(BlockStage stage) const {
    if (options_.after_stage) {
        options_.after_stage(stage);
    }
}

void SoloEngine::make_block() {
    const Tip parent = tip();
    BlockHeader header{
        .chain_id = options_.chain_id,
        .height = Height{parent.height.value + 1},
        .time_ms = std::max(options_.now_ms(), parent.time_ms + 1),
        .parent = parent.block_hash,
        .txs_root = {},
        .app_hash = parent.app_hash,
        .proposer = proposer_,
    };
    auto txs = state_.prepare(mempool_.candidates(options_.block_bytes_max), options_.block_bytes_max);
    auto hashes = contracts::tx_hashes(txs);
    LogRecord record{
        .block =
            sign_block(std::move(header), std::move(txs), hashes, options_.proposer, options_.signing_randomness()),
        .app_hash = {},
    };
    auto request = to_request(record.block);
    request.tx_hashes = std::move(hashes);
    ASSERT(state_.process(request).has_value());
    record.app_hash = state_.finalize(request).app_hash;
    pass(BlockStage::kFinalized);
    log_.append(record);
    pass(BlockStage::kLogged);
    state_.commit();
    pass(BlockStage::kCommitted);
    mempool_.update(record.block.txs);
    pass(BlockStage::kMempoolUpdated);
    {
        const std::lock_guard lock(mutex_);
        tip_ = {
            .height = request.height,
            .app_hash = record.app_hash,
            .block_hash = request.block_hash,
            .time_ms = request.time_ms,
        };
    }
    changed_.notify_all();
}

void SoloEngine::start() {
    ASSERT(!thread_.joinable());
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& error) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
            }
            changed_.notify_all();
            if (options_.on_failure) {
                options_.on_failure(error.what());
            }
        }
    });
}

void SoloEngine::run() {
    auto due = std::chrono::steady_clock::now() + options_.block_interval;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (changed_.wait_until(lock, due, [this] { return stopping_; })) {
                return;
            }
        }
        if (const auto why = state_.why_halted()) {
            throw consensus::HaltError(*why);
        }
        if (options_.create_empty_blocks || mempool_.size().txs > 0) {
            make_block();
        }
        // A block that took longer than the interval moves the schedule: no burst of blocks to catch up.
        due = std::max(due + options_.block_interval, std::chrono::steady_clock::now());
    }
}

void SoloEngine::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

Result<Hash256, consensus::Refusal> SoloEngine::submit(Bytes tx) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            return Unexpected{consensus::Refusal{.reason = consensus::RefusalReason::kStopping, .code = 0}};
        }
    }
    TRY_ASSIGN(const consensus::Admitted admitted, mempool_.add(std::move(tx)));
    return admitted.hash;
}

Height SoloEngine::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return stopping_ || tip_.height > after; });
    return tip_.height;
}

SoloEngine::Tip SoloEngine::tip() const {
    const std::lock_guard lock(mutex_);
    return tip_;
}

}  // namespace assay::solo
