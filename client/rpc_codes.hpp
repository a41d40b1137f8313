// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Error codes of the node's JSON-RPC (docs/rpc.md).
namespace assay::client {

// Defined by JSON-RPC 2.0.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
// Defined by Assay.
inline constexpr int kNotFound = -32001;
inline constexpr int kUnavailable = -32002;
inline constexpr int kTxRejected = -32003;
inline constexpr int kUnauthorized = -32004;
inline constexpr int kLimitExceeded = -32005;
inline constexpr int kRateLimited = -32006;

}  // namespace assay::client
