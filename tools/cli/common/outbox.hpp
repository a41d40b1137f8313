// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <contracts/transaction/transaction.hpp>
#include <client/rpc_client.hpp>

namespace assay::cli {

/// Transactions that this home has signed and whose result the user has not seen: <home>/unsettled/<hash>.tx, in hex. A
/// node may refuse a transaction and still have it executed, so the same action must not be signed with another nonce.
class Outbox {
  public:
    explicit Outbox(const std::filesystem::path& home) : directory_(home / "unsettled") {}

    /// Returns the unsettled transaction with this sender, owner and action, if there is one.
    std::optional<client::SignedTx> find(
        const AccountId& sender, const std::optional<AccountId>& owner, const contracts::Action& action
    ) const;
    void keep(const client::SignedTx& tx) const;
    void settle(const client::SignedTx& tx) const;
    /// Forgets the sender's transactions whose nonce is below `nonce` (so it is used) and that are more than an hour
    /// old: the same action is then assumed to be a new one.
    void forget_old(const AccountId& sender, std::uint64_t nonce) const;

  private:
    std::vector<client::SignedTx> list() const;
    std::filesystem::path file(const client::SignedTx& tx) const;

    std::filesystem::path directory_;
};

}  // namespace assay::cli
