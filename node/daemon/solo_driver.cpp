// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/solo_driver.hpp>

#include <utility>

#include <node/daemon/log_base.hpp>
#include <node/daemon/stored_blocks.hpp>
#include <node/state/store.hpp>

namespace assay::node {

SoloDriver::SoloDriver(
    Application& state, const std::filesystem::path& block_log, const std::filesystem::path& log_base,
    solo::EngineOptions options
)
    : proposer_(options.proposer.account()),
      log_(block_log),
      base_(begin_at_base(state, log_, log_base)),
      engine_(state, log_, std::move(options)) {}

std::vector<std::string> SoloDriver::start_notes() const {
    std::vector<std::string> out;
    if (const auto& torn = log_.torn_tail()) {
        out.push_back(
            "block log: a record of " + std::to_string(torn->size_bytes) + " bytes at offset " +
            std::to_string(torn->offset) + " was not finished; moved to blocks.log.torn"
        );
    }
    if (base_) {
        out.push_back(
            "restored the state at height " + std::to_string(base_->value) + ", with which the pruned log begins"
        );
    }
    if (engine_.replayed() > 0) {
        out.push_back("replayed " + std::to_string(engine_.replayed()) + " blocks from the log");
    }
    return out;
}

Driver::Tip SoloDriver::tip() const {
    const auto tip = engine_.tip();
    return {.height = tip.height, .app_hash = tip.app_hash, .time_ms = tip.time_ms};
}

Result<Hash256, consensus::Refusal> SoloDriver::submit(Bytes tx) { return engine_.submit(std::move(tx)); }

Height SoloDriver::wait_for_block(Height after, std::chrono::milliseconds timeout) {
    return engine_.wait_for_block(after, timeout);
}

Driver::Waiting SoloDriver::waiting() const {
    const auto size = engine_.mempool().size();
    return {.txs = size.txs, .bytes = size.bytes};
}

consensus::Mempool::Tally SoloDriver::tally() const { return engine_.mempool().tally(); }

StoredBlock SoloDriver::block(Height height) const { return logged_block(log_, height); }

std::optional<Bytes> SoloDriver::tx(const history::TxPlace& place, const history::TxRecord& record) const {
    return log_.read_part(place.height, record.before_end, record.size_bytes);
}

}  // namespace assay::node
