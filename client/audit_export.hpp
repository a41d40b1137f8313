// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <core/base/integers.hpp>
#include <client/audit_file.hpp>
#include <client/proof.hpp>
#include <client/rpc_client.hpp>

namespace assay::client {

/// Fetches what the state of `height` (by default the latest that a block signs) says about `subject`, with everything
/// that check_audit_file() needs. Verifies the proofs and the signatures on the way. Throws RpcError, http::NetError,
/// Mismatch.
AuditFile export_audit(RpcClient& rpc, const AuditSubject& subject, std::optional<Height> height, const Trust& trust);

}  // namespace assay::client
