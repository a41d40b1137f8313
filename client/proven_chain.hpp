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

/// The chain as far as it can be proven to a home that has pinned it: what is signed rests on this and not on a node's
/// word. The state is that before the node's last block, whose header carries its app hash and is signed.
class ProvenChain {
  public:
    /// Pins the chain at the home's first use, then reads the newest block. Throws Mismatch for a node of another chain or
    /// with blocks that do not verify, RpcError, http::NetError, AnchorError.
    ProvenChain(RpcClient& rpc, std::filesystem::path file, Expected expected = {});

    /// Goes on to the node's last block; moves the pinned one along. Throws like the constructor.
    void refresh();

    const std::string& chain_id() const { return anchor_.chain_id; }
    const Anchor& anchor() const { return anchor_; }
    /// Of the state that is proven.
    Height height() const { return state_height_; }

    /// A slot of that state. Throws RpcError, http::NetError, Mismatch.
    std::optional<Bytes> slot(const Bytes& key);
    contracts::Params params();
    contracts::Account account(const AccountId& account);  ///< zeros when it is not there
    contracts::Beacon beacon();
    Amount base_fee();  ///< FEE-2: of the block after that state

    /// What a transaction of `account` may rest on.
    SigningBase base(const AccountId& account);
    /// Whether block `height` holds the transaction, by its signatures.
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
    std::optional<contracts::Params> params_;  ///< set at genesis, never changed
};

}  // namespace assay::client
