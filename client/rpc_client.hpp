// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <core/crypto/keys.hpp>
#include <contracts/transaction/transaction.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <client/http/http.hpp>
#include <client/node_address.hpp>

/// The JSON-RPC client of the CLI and the workers. Typed reads decode the Borsh bytes that answers contain beside the
/// JSON.
namespace assay::client {

/// The node answered with an error object. `name` is its stable name ("tx_rejected"); `data` is whatever it contains.
class RpcError : public std::runtime_error {
  public:
    RpcError(int error_code, std::string error_name, const std::string& message, nlohmann::json error_data)
        : std::runtime_error(message), code(error_code), name(std::move(error_name)), data(std::move(error_data)) {}
    int code;
    std::string name;
    nlohmann::json data;
};

/// A node has seen a signed transaction, but its result is not known: it may have been executed, or may be executed
/// later. Signing the same action again may pay twice.
class TxUncertain : public http::NetTimeout {
  public:
    using http::NetTimeout::NetTimeout;
};

/// The fee that a transaction needs exceeds what the caller allows.
class FeeTooHigh : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The chain data that a transaction is signed with: the node's word, or proven (client/proven_chain.hpp).
struct SigningBase {
    std::string chain_id;
    contracts::Params params;
    Amount base_fee;          ///< FEE-2: grains per unit of gas
    std::uint64_t nonce = 0;  ///< the account's nonce in the state; pending transactions may use this and later ones
    std::optional<AccountId> owner = std::nullopt;  ///< OPR-2: the account to act for, which has named the signer
};

/// A signed transaction that a node may have seen. Sending it again means sending the same bytes.
struct SignedTx {
    AccountId sender;
    std::uint64_t nonce = 0;
    Amount fee;
    Bytes bytes;
    Hash256 hash;
};

/// The highest fee that a client pays for one transaction, unless its user allows more.
inline constexpr Amount kFeeMax{100'000'000};

struct TxResult {
    Hash256 hash;
    Height height;
    std::uint8_t code = 0;  ///< contracts::TxError; 0 if it was executed
    std::string error;      ///< to_string(code)
};

/// Ends a listing that a lying node would continue forever. Pages may be empty, because a node looks at a limited
/// number of records for each. An honest listing stays below the limits for consecutive empty pages, items and time.
class Listing {
  public:
    explicit Listing(std::string method) : method_(std::move(method)) {}
    /// Counts a page with so many items. Throws RpcError "bad_answer" if a limit is exceeded.
    void count(std::size_t items);

  private:
    std::string method_;
    std::size_t items_ = 0;
    std::size_t empty_pages_ = 0;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

class RpcClient {
  public:
    explicit RpcClient(std::string url, std::chrono::milliseconds timeout = std::chrono::seconds(10));
    /// Throws crypto::KeyFileError if the token file cannot be read.
    explicit RpcClient(const NodeAddress& node, std::chrono::milliseconds timeout = std::chrono::seconds(10));

    /// Calls a method and returns its result. Where the node says that this client calls too often, waits as long as it
    /// says and calls again, up to the timeout. Throws RpcError or http::NetError.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object());

    // Typed reads.
    Height height();
    Height wait_for_block(Height after, std::chrono::milliseconds timeout);  ///< long poll
    /// FEE-2: the price of a unit of gas in the next block.
    Amount base_fee();
    contracts::Params params();
    std::string chain_id();
    std::optional<contracts::Task> task(const contracts::TaskId& id);
    std::vector<contracts::TaskId> tasks();  ///< all of them, following cursors
    std::optional<contracts::Checkpoint> checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// Returns the report that `profiler` published for a task; nullopt: none.
    std::optional<contracts::ProfileReport> profile(const contracts::TaskId& task, const AccountId& profiler);
    std::optional<contracts::Dispute> dispute(const contracts::DisputeId& id);
    /// Returns a slot of the newest state without verifying its proof; client/proven_chain.hpp verifies it.
    std::optional<Bytes> slot(const Bytes& key);
    std::vector<contracts::DisputeId> disputes(const contracts::TaskId& task);
    /// Returns the beacon: seed, contributors and open round.
    contracts::Beacon beacon();
    /// Returns the decoded transactions that made moves in a dispute, in order.
    std::vector<contracts::Tx> dispute_moves(const contracts::DisputeId& id);

    /// Signs `action` with `base`, the account's next nonce (not below base.nonce), and a fee above the minimum by half
    /// of the gas fee (FEE-1). Throws FeeTooHigh if the fee exceeds `fee_max`.
    SignedTx sign(
        const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max
    );
    /// Submits a transaction. Throws RpcError "tx_rejected" if the mempool refuses it; TxUncertain if it does so
    /// because of the nonce: another transaction of the account has that nonce, possibly this very one.
    void submit(const SignedTx& tx);
    /// Waits until the transaction is in a block. If it failed there, the TxResult has a code. Resubmits the same bytes
    /// if the node has lost them. Throws TxUncertain at the timeout, or if the node cannot say what happened to it.
    TxResult await(const SignedTx& tx, std::chrono::milliseconds timeout);

    /// Signs with `base`, submits and waits. Each block that leaves the transaction out doubles the fee, up to
    /// `fee_max`, with the same nonce: whatever the node says, the account cannot pay twice for it (POOL-2). Throws
    /// like these three.
    TxResult send(
        const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base,
        Amount fee_max = kFeeMax, std::chrono::milliseconds timeout = std::chrono::seconds(60)
    );
    /// Answers a duty that is due at `due`; this costs no fee (DTY-2). The answer is signed and submitted again after
    /// each block that leaves it out, so that it reaches nodes that did not know the duty yet. Throws RpcError
    /// "tx_rejected" if the duty is not, or no longer, owed; TxUncertain at the timeout. With `owner`, the duty is the
    /// owner's (OPR-4).
    TxResult answer(
        const crypto::SecretKey& key, const contracts::Action& action, const std::string& chain_id, Height due,
        std::chrono::milliseconds timeout = std::chrono::seconds(60),
        const std::optional<AccountId>& owner = std::nullopt
    );
    /// The same as the first send(), but takes the node's word for chain, parameters and base fee; for one's own node.
    TxResult send(
        const crypto::SecretKey& key, const contracts::Action& action,
        std::chrono::milliseconds timeout = std::chrono::seconds(60)
    );

  private:
    /// Returns the whole answer to one request.
    nlohmann::json post(const std::string& request, std::chrono::milliseconds timeout) const;
    /// Returns the same transaction with a higher fee, or nullopt if the fee must not be raised.
    using Raise = std::function<std::optional<SignedTx>()>;
    contracts::TxBody make_body(
        const AccountId& sender, const contracts::Action& action, const SigningBase& base, Amount fee_max
    );
    /// Waits for one of `bids`. They have the same nonce, so at most one of them is executed.
    TxResult follow(std::vector<SignedTx> bids, std::chrono::milliseconds timeout, const Raise& raise);
    /// submit() for a higher bid while an earlier one is pending: a refusal is ignored.
    void show(const SignedTx& tx);

    std::string url_;    ///< as the user gave it
    std::string place_;  ///< as libcurl takes it
    http::HttpAccess access_;
    std::chrono::milliseconds timeout_;
    std::string chain_id_;
    std::optional<contracts::Params> params_;
};

}  // namespace assay::client
