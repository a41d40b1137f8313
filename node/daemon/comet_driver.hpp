// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <consensus/cometbft/handler.hpp>
#include <client/engine_rpc.hpp>
#include <consensus/cometbft/server.hpp>
#include <consensus/cometbft/supervisor.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/comet_sender.hpp>
#include <node/daemon/driver.hpp>
#include <node/daemon/state_sync.hpp>

namespace assay::node {

struct CometOptions {
    contracts::Genesis genesis;
    std::string software_version;
    std::string listen;      ///< address at which the engine connects to this node (see cometbft::Server)
    std::string engine_rpc;  ///< "http://127.0.0.1:26657"
    /// How to run the engine; nullopt: an external engine connects by itself.
    std::optional<cometbft::EngineSettings> engine;
    std::filesystem::path engine_log;
    StateSyncOptions state_sync;  ///< its on_restored is not used
    consensus::MempoolLimits mempool{};
    std::function<void(const std::string&)> on_note{};  ///< messages for the operator, one line each; may be empty
    /// Called once, on a thread of the driver, when no further block can be made.
    std::function<void(const std::string&)> on_failure;
};

/// CometBFT as the engine: the ABCI server for the application, and the engine's process if this node runs it.
class CometDriver final : public Driver {
  public:
    /// Starts to listen. `application` must keep its blocks and must outlive the driver. Throws std::runtime_error.
    CometDriver(Application& application, CometOptions options);
    ~CometDriver() override;

    const char* name() const override { return "cometbft"; }
    /// Starts the engine if this node runs it, and returns when it answers. Throws cometbft::EngineError if it does
    /// not. Returns at once if the engine is external.
    void start() override;
    void stop() override;
    std::vector<std::string> start_notes() const override;
    Tip tip() const override;
    AccountId proposer() const override { return {}; }
    Result<Hash256, consensus::Refusal> submit(Bytes tx) override;
    Height wait_for_block(Height after, std::chrono::milliseconds timeout) override;
    Waiting waiting() const override;
    consensus::Mempool::Tally tally() const override;
    std::optional<bool> is_catching_up() const override;
    bool is_waiting(const Hash256& tx) const override { return handler_.mempool().contains(tx); }
    std::optional<std::uint64_t> next_nonce(const AccountId& sender) const override {
        return handler_.mempool().next_nonce(sender);
    }
    StoredBlock block(Height height) const override;
    std::optional<Bytes> tx(const history::TxPlace& place, const history::TxRecord& record) const override;
    std::optional<Bytes> light_block(Height height) const override;

    /// Returns the address at which the engine connects to this node.
    std::string listen_address() const { return server_.address(); }

  private:
    void note_commit(const consensus::FinalizeRequest& block, const consensus::FinalizeResult& result);
    void note_refusal(const consensus::FinalizeRequest& proposal, consensus::ProposalError error) const;
    void note_restored();
    void note_halt(const std::string& why);
    void fail(const std::string& why);
    void await_engine();
    void watch();

    Application& application_;
    const CometOptions options_;
    const client::EngineRpc rpc_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Tip tip_;
    bool stopping_ = false;
    bool failed_ = false;
    struct Halted {
        std::string why;
        std::chrono::steady_clock::time_point until;
    };
    std::optional<Halted> halted_;
    StateSync state_sync_;
    cometbft::Handler handler_;
    cometbft::Server server_;
    CometSender sender_;
    std::unique_ptr<cometbft::Supervisor> supervisor_;
    std::thread watcher_;
};

}  // namespace assay::node
