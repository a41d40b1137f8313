// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <consensus/solo/block_log.hpp>
#include <consensus/solo/engine.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/driver.hpp>

namespace assay::node {

/// The embedded engine: single-node consensus with its own block log.
class SoloDriver final : public Driver {
  public:
    /// Replays the logged blocks that the state does not have yet, of a pruned log after the state in `log_base`.
    /// `state` must outlive this object. Throws solo::BlockLogError, solo::HandshakeError.
    SoloDriver(
        Application& state, const std::filesystem::path& block_log, const std::filesystem::path& log_base,
        solo::EngineOptions options
    );

    const char* name() const override { return "solo"; }
    void start() override { engine_.start(); }
    void stop() override { engine_.stop(); }
    std::vector<std::string> start_notes() const override;
    Tip tip() const override;
    AccountId proposer() const override { return proposer_; }
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    Waiting waiting() const override;
    consensus::Mempool::Tally tally() const override;
    std::optional<bool> is_catching_up() const override { return false; }
    bool is_waiting(const Hash256& tx) const override { return engine_.mempool().contains(tx); }
    std::optional<std::uint64_t> next_nonce(const AccountId& sender) const override {
        return engine_.mempool().next_nonce(sender);
    }
    StoredBlock block(Height height) const override;
    std::optional<Bytes> tx(const history::TxPlace& place, const history::TxRecord& record) const override;
    std::optional<Bytes> light_block(Height /*height*/) const override { return std::nullopt; }

  private:
    const AccountId proposer_;
    solo::BlockLog log_;
    const std::optional<Height> base_;  ///< whose state was restored at the start
    solo::SoloEngine engine_;
};

}  // namespace assay::node
