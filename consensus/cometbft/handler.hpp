// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <consensus/mempool.hpp>
#include <consensus/state_machine.hpp>
#include <consensus/state_sync.hpp>

namespace assay::abci {
class Request;
class Response;
}  // namespace assay::abci

/// The state machine behind CometBFT v0.38, by ABCI 2.0. Addresses of validators are 20 bytes there; the proposer that
/// the rules see is that address followed by zeros.
namespace assay::cometbft {

/// The engine asked for what cannot be answered: another chain, a block out of order. Whoever serves the engine ends
/// the connection, for ABCI has no answer that lets it go on.
class ProtocolError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// CheckTx's codes for what is no TxError: the mempool is full; what is asked about again is no longer in it.
inline constexpr std::uint32_t kMempoolFull = 1'000;
inline constexpr std::uint32_t kDropped = 1'001;

/// The application's own version; part of the headers' version and of no rule.
inline constexpr std::uint64_t kAppVersion = 1;

struct HandlerOptions {
    contracts::Genesis genesis;
    std::string software_version;
    /// Called when a block is committed, on the thread that served it. May be empty.
    std::function<void(const consensus::FinalizeRequest&, const consensus::FinalizeResult&)> on_commit;
    /// Gives and takes snapshots; nullptr: there are none. Outlives the handler.
    consensus::StateSync* state_sync = nullptr;
    /// Called when a proposal is refused, likewise.
    std::function<void(const consensus::FinalizeRequest&, consensus::ProposalError)> on_refusal{};
    consensus::MempoolLimits mempool{};
};

/// Answers requests. Thread-safe: what the consensus connection asks runs one at a time, check and query run beside it
/// against the last committed state (CMT-9).
class Handler {
  public:
    /// `state` outlives the handler; it is initialised by the engine's InitChain, or was before.
    Handler(consensus::StateMachine& state, HandlerOptions options);

    /// One answer to one request. Throws ProtocolError, and what the state machine throws when storage fails.
    abci::Response handle(const abci::Request& request);

    /// What waits for a block (CMT-4). The engine's own mempool only passes it on to other nodes.
    const consensus::Mempool& mempool() const { return mempool_; }

  private:
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
};

}  // namespace assay::cometbft
