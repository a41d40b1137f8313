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
#include <contracts/state/transaction.hpp>
#include <contracts/state/dispute.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/params.hpp>
#include <contracts/state/task.hpp>
#include <client/http/http.hpp>

/// The JSON-RPC client of CLI and workers. Typed reads decode the Borsh bytes that answers carry beside the JSON.
namespace assay::client {

/// The node answered with an error object. `name` is its stable slug ("tx_rejected"), `data` whatever it carries.
class RpcError : public std::runtime_error {
  public:
    RpcError(int error_code, std::string error_name, const std::string& message, nlohmann::json error_data)
        : std::runtime_error(message), code(error_code), name(std::move(error_name)), data(std::move(error_data)) {}
    int code;
    std::string name;
    nlohmann::json data;
};

/// A node has seen a signed transaction, and what became of it is not known: it may have been executed, or be executed yet.
/// Whoever signs the same action once more may pay twice.
class TxUncertain : public http::NetTimeout {
  public:
    using http::NetTimeout::NetTimeout;
};

/// The fee that a transaction needs is more than the caller allows.
class FeeTooHigh : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What a signature rests on: the node's word, or what was proven (client/proven_chain.hpp).
struct SigningBase {
    std::string chain_id;
    contracts::Params params;
    Amount base_fee;          ///< FEE-2: grains per unit of gas
    std::uint64_t nonce = 0;  ///< of the account in the state; transactions of its own may wait before the next
};

/// A transaction that may have been shown to a node. To send it again is to send these bytes.
struct SignedTx {
    AccountId sender;
    std::uint64_t nonce = 0;
    Amount fee;
    Bytes bytes;
    Hash256 hash;
};

/// The most that a client pays in fees for one transaction, unless its user says more.
inline constexpr Amount kFeeMax{100'000'000};

struct TxResult {
    Hash256 hash;
    Height height;
    std::uint8_t code = 0;   ///< contracts::TxError, 0 when executed
    std::string error;       ///< to_string of it
};

/// Ends a listing that a lying node would never end. Pages may be empty, since a node looks at a bounded number of records
/// for each: an honest listing has fewer empty pages in a row, fewer items and less time than the limits.
class Listing {
  public:
    explicit Listing(std::string method) : method_(std::move(method)) {}
    /// Counts a page of so many items. Throws RpcError "bad_answer" when that is beyond any honest listing.
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

    /// Throws RpcError or http::NetError.
    nlohmann::json call(const std::string& method, const nlohmann::json& params = nlohmann::json::object());

    // Typed reads.
    Height height();
    Height wait_for_block(Height after, std::chrono::milliseconds timeout);  ///< long poll
    /// FEE-2: what a unit of gas costs in the next block.
    Amount base_fee();
    contracts::Params params();
    std::string chain_id();
    std::optional<contracts::Task> task(const contracts::TaskId& id);
    std::vector<contracts::TaskId> tasks();  ///< all, following cursors
    std::optional<contracts::Checkpoint> checkpoint(const contracts::TaskId& task, std::uint32_t index);
    /// What `profiler` published of a task.
    std::optional<contracts::ProfileReport> profile(const contracts::TaskId& task, const AccountId& profiler);
    std::optional<contracts::Dispute> dispute(const contracts::DisputeId& id);
    /// A slot of the newest state, whose proof is not looked at; client/proven_chain.hpp has what is proven.
    std::optional<Bytes> slot(const Bytes& key);
    std::vector<contracts::DisputeId> disputes(const contracts::TaskId& task);
    /// Seed, contributors and open round.
    contracts::Beacon beacon();
    /// The transactions that moved a dispute, decoded, in order.
    std::vector<contracts::Tx> dispute_moves(const contracts::DisputeId& id);

    /// Signs `action` on `base` with the account's next nonce, which is not below the base's, and a fee that is half more
    /// than the least (FEE-1). Throws FeeTooHigh when that is above `fee_max`.
    SignedTx sign(const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base, Amount fee_max);
    /// Throws RpcError "tx_rejected" when the mempool refuses it, TxUncertain when it does so for the nonce: another
    /// transaction of the account has it, which may be these very bytes.
    void submit(const SignedTx& tx);
    /// Waits until it is in a block. One that failed there is a TxResult with a code. Shows the same bytes to a node that
    /// has lost them. Throws TxUncertain when the time is over, or when the node cannot say what became of it.
    TxResult await(const SignedTx& tx, std::chrono::milliseconds timeout);

    /// All three, on `base`. Each block that leaves it out makes it offer twice as much, up to `fee_max`, under the same
    /// nonce: whatever the node says, the account cannot pay twice for it (POOL-2).
    TxResult send(const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base,
                  Amount fee_max = kFeeMax, std::chrono::milliseconds timeout = std::chrono::seconds(60));
    /// Answers a duty that is due at `due`, for nothing (DTY-2). It is signed anew, and shown to the node again, with each block that
    /// leaves it out, so that nodes that did not know of the duty yet hear of it. Throws RpcError "tx_rejected" when the duty is
    /// not owed, or is no longer, and TxUncertain when the time is over.
    TxResult answer(const crypto::SecretKey& key, const contracts::Action& action, const std::string& chain_id, Height due,
                    std::chrono::milliseconds timeout = std::chrono::seconds(60));
    /// The same, taking the node's word for chain and parameters: for a node of one's own.
    TxResult send(const crypto::SecretKey& key, const contracts::Action& action,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  private:
    /// The same transaction with a higher fee, or nullopt when it is not to have one.
    using Raise = std::function<std::optional<SignedTx>()>;
    contracts::TxBody make_body(
        const AccountId& sender, const contracts::Action& action, const SigningBase& base, Amount fee_max
    );
    /// Waits for one of `bids`, which have one nonce, so that at most one of them is executed.
    TxResult follow(std::vector<SignedTx> bids, std::chrono::milliseconds timeout, const Raise& raise);
    /// submit() where an earlier bid waits already, so that a refusal changes nothing.
    void show(const SignedTx& tx);

    std::string url_;
    std::chrono::milliseconds timeout_;
    std::string chain_id_;
    std::optional<contracts::Params> params_;
};

}  // namespace assay::client
