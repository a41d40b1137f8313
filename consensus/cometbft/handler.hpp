// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/base/result.hpp>
#include <consensus/cometbft/intake.hpp>
#include <consensus/cometbft/outbox.hpp>
#include <consensus/mempool.hpp>
#include <consensus/state_machine.hpp>
#include <consensus/state_sync.hpp>

namespace assay::abci {
class Request;
class Response;
}  // namespace assay::abci

/// The ABCI 2.0 application for CometBFT v0.38, on top of the state machine. CometBFT's validator addresses have 20
/// bytes; the rules see the proposer as that address followed by zeros.
namespace assay::cometbft {

/// The engine sent a request that cannot be answered, such as one of another chain or a block out of order. The server
/// must then close the connection: ABCI has no response after which the engine could continue.
class ProtocolError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct HandlerOptions {
    contracts::Genesis genesis;
    std::string software_version;
    /// Called after a block is committed, on the thread that handles the Commit request. May be empty.
    std::function<void(const consensus::FinalizeRequest&, const consensus::FinalizeResult&)> on_commit;
    /// Serves and restores snapshots; nullptr: no state sync. Must outlive the handler.
    consensus::StateSync* state_sync = nullptr;
    /// Called when a proposal is rejected, on the thread that handles the ProcessProposal request. May be empty.
    std::function<void(const consensus::FinalizeRequest&, consensus::ProposalError)> on_refusal{};
    /// Called after a block before whose successor this program halts (GOV-8), with the reason. May be empty.
    std::function<void(const std::string&)> on_halt{};
    consensus::MempoolLimits mempool{};
};

/// Answers ABCI requests. Thread-safe: requests of the consensus connection run one at a time. CheckTx and Query run
/// concurrently with them, against the last committed state (CMT-9), and so do requests that read snapshots.
class Handler {
  public:
    /// `state` must outlive the handler. It is initialised either before or by the engine's InitChain.
    Handler(consensus::StateMachine& state, HandlerOptions options);

    /// Returns the response to one request. Throws ProtocolError if it cannot be answered, and whatever the state
    /// machine throws when storage fails.
    abci::Response handle(const abci::Request& request);

    /// Adds a transaction of a user of this node to the mempool, and queues it for the engine (CMT-18).
    Result<consensus::Admitted, consensus::Refusal> submit(Bytes tx) { return intake_.submit(std::move(tx)); }
    /// What the engine has to be given, so that it passes it on to other nodes.
    Outbox& outbox() { return outbox_; }
    /// The node's mempool (CMT-4). CometBFT's own mempool only forwards transactions to other nodes.
    const consensus::Mempool& mempool() const { return mempool_; }

  private:
    /// The requests of consensus, one at a time; the caller holds consensus_mutex_.
    abci::Response handle_consensus(const abci::Request& request);
    void init_chain(const abci::Request& request, abci::Response& response);
    void check_tx(const abci::Request& request, abci::Response& response);
    void query(const abci::Request& request, abci::Response& response) const;
    void prepare_proposal(const abci::Request& request, abci::Response& response) const;
    void process_proposal(const abci::Request& request, abci::Response& response) const;
    void finalize_block(const abci::Request& request, abci::Response& response);
    void commit(abci::Response& response);
    void list_snapshots(abci::Response& response) const;
    void load_chunk(const abci::Request& request, abci::Response& response) const;
    void offer_snapshot(const abci::Request& request, abci::Response& response);
    void apply_chunk(const abci::Request& request, abci::Response& response);

    consensus::StateMachine& state_;
    const HandlerOptions options_;
    std::mutex consensus_mutex_;
    struct Finalized {
        consensus::FinalizeRequest request;
        consensus::FinalizeResult result;
    };
    std::optional<Finalized> finalized_;

    consensus::Mempool mempool_;
    Outbox outbox_;
    Intake intake_;
};

}  // namespace assay::cometbft
