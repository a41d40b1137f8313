// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <contracts/state/transaction.hpp>
#include <client/rpc_client.hpp>

namespace assay::cli {

/// The transactions that this home has signed and whose end its user was not told: <home>/unsettled/<hash>.tx, in hex. A node
/// may refuse one and still have it executed, so that the same action must not be signed under another nonce.
class Outbox {
  public:
    explicit Outbox(const std::filesystem::path& home) : directory_(home / "unsettled") {}

    /// The unsettled transaction with this sender and action.
    std::optional<client::SignedTx> find(const AccountId& sender, const contracts::Action& action) const;
    void keep(const client::SignedTx& tx) const;
    void settle(const client::SignedTx& tx) const;
    /// Forgets those of `sender` whose nonce is used, below `nonce`, and that are an hour old: by then the same action is meant
    /// anew.
    void forget_old(const AccountId& sender, std::uint64_t nonce) const;

  private:
    std::vector<client::SignedTx> list() const;
    std::filesystem::path file(const client::SignedTx& tx) const;

    std::filesystem::path directory_;
};

}  // namespace assay::cli
