// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
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
};

/// Answers requests. Thread-safe: what the consensus connection asks runs one at a time, check and query run beside it
/// against the last committed state (CMT-9).
class Handler {
  public:
    /// `state` outlives the handler; it is initialised by the engine's InitChain, or was before.
    Handler(consensus::StateMachine& state, HandlerOptions options);

    /// One answer to one request. Throws ProtocolError, and what the state machine throws when storage fails.
    abci::Response handle(const abci::Request& request);

    /// What this node's mempool has taken since the last block, as far as CheckTx has said so.
    struct Waiting {
        std::uint64_t txs = 0;
        std::uint64_t bytes = 0;
    };
    Waiting waiting() const;
    bool is_waiting(const Hash256& tx) const;
    /// The nonce that follows what waits of `sender`, or nullopt when nothing does.
    std::optional<std::uint64_t> next_nonce(const AccountId& sender) const;

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

    /// What the mempool took since the last commit; the engine checks what is left in it again after each.
    mutable std::mutex mempool_mutex_;
    std::map<AccountId, std::uint64_t> nonces_;   ///< by sender, the next
    std::map<Hash256, std::uint64_t> sizes_;      ///< by transaction, its bytes
};

}  // namespace assay::cometbft
