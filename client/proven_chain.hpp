// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <client/anchor.hpp>
#include <client/proof.hpp>
#include <contracts/state/beacon.hpp>
#include <contracts/state/account.hpp>
#include <contracts/state/params.hpp>
#include <core/codec/borsh.hpp>
#include <client/rpc_client.hpp>

namespace assay::client {

/// The chain as it is proven to a home that has pinned it. Transactions are signed based on this and not on a node's
/// word. The state is the one before the node's last block, whose signed header carries its app hash.
class ProvenChain {
  public:
    /// Pins the chain when the home is first used, then verifies the newest block. Throws Mismatch if the node is on
    /// another chain or its blocks do not verify; also RpcError, http::NetError, AnchorError.
    ProvenChain(RpcClient& rpc, std::filesystem::path file, Expected expected = {});

    /// Verifies up to the node's last block and moves the pinned one forward. Throws like the constructor.
    void refresh();

    const std::string& chain_id() const { return anchor_.chain_id; }
    const Anchor& anchor() const { return anchor_; }
    /// Returns the height of the proven state.
    Height height() const { return state_height_; }

    /// Returns a slot of that state; nullopt: it is empty. Throws RpcError, http::NetError, Mismatch.
    std::optional<Bytes> slot(const Bytes& key);
    contracts::Params params();
    contracts::Account account(const AccountId& account);  ///< zeros if the account does not exist
    contracts::Beacon beacon();
    Amount base_fee();  ///< FEE-2: of the block after that state

    /// Returns the proven data that a transaction of `account` is signed with.
    SigningBase base(const AccountId& account);
    /// Returns whether block `height` contains the transaction; the block's signatures are verified.
    bool holds(Height height, const Hash256& tx);

  private:
    template <class T>
    std::optional<T> find(const Bytes& key, const char* what);
    Trust trust() const;
    void meet(const nlohmann::json& status);
    void hold_against(const nlohmann::json& status) const;

    RpcClient& rpc_;
    std::filesystem::path file_;
    Expected expected_;
    Anchor anchor_;
    Height state_height_;
    Hash256 app_hash_;
    std::optional<contracts::Params> params_;
    Height params_height_;  ///< of the state that `params_` are from
};

}  // namespace assay::client
