// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/inspect_driver.hpp>

#include <utility>

#include <consensus/solo/engine.hpp>
#include <node/daemon/log_base.hpp>
#include <node/daemon/stored_blocks.hpp>
#include <node/history/index.hpp>

namespace assay::node {

InspectDriver::InspectDriver(Application& application, EngineKind engine, const Home& home, const std::string& chain_id)
    : application_(application), engine_(engine) {
    if (engine == EngineKind::kSolo) {
        log_.emplace(home.block_log(), solo::BlockLog::Mode::kReadOnly);
        begin_at_base(application, *log_, home.log_base());
        solo::replay(application, *log_, chain_id, {});
    }
    const auto info = application.info();
    tip_ = {.height = info.height, .app_hash = info.app_hash, .time_ms = 0};
    if (info.height.value != 0 && info.height >= application.committed()->first_block()) {
        const StoredBlock last = block(info.height);
        tip_.time_ms = last.time_ms;
        proposer_ = log_ ? last.proposer : AccountId{};
    }
}

void InspectDriver::stop() {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    stopped_.notify_all();
}

std::vector<std::string> InspectDriver::start_notes() const {
    return {"only shows what is here: no blocks are made, and no transactions are taken"};
}

Result<Hash256, consensus::Refusal> InspectDriver::submit(Bytes /*tx*/) {
    return Unexpected{consensus::Refusal{.reason = consensus::RefusalReason::kReadOnly}};
}

Height InspectDriver::wait_for_block(Height /*after*/, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, timeout, [this] { return is_stopping_; });
    return tip_.height;
}

StoredBlock InspectDriver::block(Height height) const {
    return log_ ? logged_block(*log_, height) : kept_block(application_, height);
}

std::optional<Bytes> InspectDriver::tx(const history::TxPlace& place, const history::TxRecord& record) const {
    return log_ ? log_->read_part(place.height, record.before_end, record.size_bytes)
                : history::Reader(application_.committed()->snapshot()).kept_tx(place);
}

}  // namespace assay::node
