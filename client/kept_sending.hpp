// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <client/rpc_client.hpp>

namespace assay::client {

/// Signs `action` with the account's next nonce, calls `keep` with the transaction and submits it, while no other
/// thread of this process sends. A caller whose `keep` writes it to a disk can follow the same bytes after a crash, and
/// so pays once. What `keep` throws leaves it unsubmitted. Throws like RpcClient::sign() and submit().
SignedTx send_kept(
    RpcClient& rpc, const crypto::SecretKey& key, const contracts::Action& action, const SigningBase& base,
    Amount fee_max, const std::function<void(const SignedTx&)>& keep
);

}  // namespace assay::client
