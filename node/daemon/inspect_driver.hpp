// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>

#include <consensus/solo/block_log.hpp>
#include <node/api/engine_kind.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/driver.hpp>

namespace assay::node {

/// No engine at all: shows what a home has, makes no blocks and takes no transactions.
class InspectDriver final : public Driver {
  public:
    /// With the embedded engine's log, replays the blocks that the state does not have yet. `application` must outlive
    /// this object. Throws solo::BlockLogError, solo::HandshakeError.
    InspectDriver(Application& application, EngineKind engine, const Home& home, const std::string& chain_id);

    const char* name() const override { return to_string(engine_); }
    void start() override {}
    void stop() override;
    std::vector<std::string> start_notes() const override;
    Tip tip() const override { return tip_; }
    AccountId proposer() const override { return proposer_; }
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    Waiting waiting() const override { return {}; }
    consensus::Mempool::Tally tally() const override { return {}; }
    std::optional<bool> is_catching_up() const override { return false; }
    bool is_waiting(const Hash256& /*tx*/) const override { return false; }
    std::optional<std::uint64_t> next_nonce(const AccountId& /*sender*/) const override { return std::nullopt; }
    StoredBlock block(Height height) const override;
    std::optional<Bytes> tx(const history::TxPlace& place, const history::TxRecord& record) const override;
    std::optional<Bytes> light_block(Height /*height*/) const override { return std::nullopt; }

  private:
    const Application& application_;
    const EngineKind engine_;
    std::optional<solo::BlockLog> log_;  ///< of the embedded engine
    Tip tip_;
    AccountId proposer_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool is_stopping_ = false;
};

}  // namespace assay::node
